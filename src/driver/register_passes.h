// Every pass of the compiler under its name, for tilewright-opt.
#pragma once

namespace tilewright {

void register_passes();

} // namespace tilewright
