// Maps tiles to programs: the options `pid_type` and `l2_groupings`. Program IR to program IR, from the flat, ungrouped
// mapping that lower_tiles makes.
//
// - flat: one program for each tile. Nothing changes.
// - persistent_blocked: one program for each worker. Each walks a contiguous range of tile numbers; the ranges of any
//   two workers differ in length by at most one. `programs` goes, and program_id becomes the variable of a loop
//   around the whole body.
// - A group is written on the program's tile.map_program; see there. Where it has fewer than two dimensions there is
//   nothing to group.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>

namespace tilewright {

enum class PidType { Flat, PersistentBlocked };

/// By its name in a config; nothing where there is no such type.
std::optional<PidType> pid_type_from_name(llvm::StringRef name);

mlir::LogicalResult map_programs(ProgramOp program, PidType type, int64_t group);

} // namespace tilewright
