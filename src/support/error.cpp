#include "support/error.h"

namespace tilewright {

static std::string located(const SourceLocation& location, const std::string& message) {
  return location.known() ? fmt::format("{}:{}: {}", location.file, location.line, message) : message;
}

Error::Error(const SourceLocation& location, const std::string& message)
    : std::runtime_error(located(location, message)), location_(location) {}

Error::~Error() = default;

void throw_error(const SourceLocation& location, const std::string& message) { throw Error(location, message); }

} // namespace tilewright
