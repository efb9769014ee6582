// The CPU backend's passes under their names, for tilewright-opt.
#pragma once

namespace tilewright::cpu {

void register_passes();

} // namespace tilewright::cpu
