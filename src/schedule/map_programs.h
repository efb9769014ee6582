// Maps tiles to programs: the options `pid_type`, `num_sm_multiplier` and `l2_groupings`. Program IR to program IR,
// from the flat, ungrouped mapping that lower_tiles makes.
//
// - flat: one program for each tile. Nothing changes.
// - xyz: the same programs, numbered along up to three axes, so that a program need not divide its number to find its
//   tile. Axis 0 is the last dimension, axis 1 the one before it, axis 2 all others together; `grid` says how many
//   programs there are along each. What has one dimension stays flat.
// - persistent_blocked: one program for each worker. Each walks a contiguous range of tile numbers; the ranges of any
//   two workers differ in length by at most one. `programs` goes, and program_id becomes the variable of a loop
//   around the whole body.
// - persistent_interleaved: the same, but program p of w walks tiles p, p + w, p + 2w, ... The loop counts tiles in
// steps
//   of w where the mapping is `strided`, else turns.
// - Persistent programs may be several for each worker, for balance: the attribute `tile.programs_per_worker`.
// - A group is written on the program's tile.map_program; see there. Where it has fewer than two dimensions there is
//   nothing to group.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>

namespace tilewright {

enum class PidType { Flat, Xyz, PersistentBlocked, PersistentInterleaved };

/// Says of each outermost loop of several dimensions, in order, how many rows of its tiles go together: the attribute
/// `tile.group`, which lower_tiles carries to its tile.map_program. Fewer groups than loops: the others have none.
mlir::LogicalResult set_groups(KernelOp kernel, llvm::ArrayRef<int64_t> groups);
inline constexpr const char* kGroup = "tile.group";

/// By its name in a config; nothing where there is no such type.
std::optional<PidType> pid_type_from_name(llvm::StringRef name);

struct ProgramMapping {
  PidType type = PidType::Flat;
  int64_t group = 1;               // rows of tiles that go together, of all loops; 1: as they say themselves
  int64_t programs_per_worker = 1; // of persistent ones
  bool strided = false;            // interleaved ones walk tiles in steps of the number of programs
};

mlir::LogicalResult map_programs(ProgramOp program, const ProgramMapping& mapping);

} // namespace tilewright
