// The passes of this folder under names for tilewright-opt, each with its options as text. The compiler itself calls
// the functions (schedule.h).
#pragma once

namespace tilewright {

void register_schedule_passes();

} // namespace tilewright
