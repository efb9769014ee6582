// Where the commands write: results to `out`, what is said about them to `err`.
#pragma once

#include <ostream>

namespace tilewright {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
};

} // namespace tilewright
