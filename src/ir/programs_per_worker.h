// How many programs a persistent launch has for each worker: the attribute `tile.programs_per_worker` of a program, 1
// where there is none. tile.worker_count is the number of all programs of the launch.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>

namespace tilewright {

inline constexpr llvm::StringLiteral kProgramsPerWorker = "tile.programs_per_worker";

inline int64_t programs_per_worker(ProgramOp program) {
  auto count = program->getAttrOfType<mlir::IntegerAttr>(kProgramsPerWorker);
  return count ? count.getInt() : 1;
}

inline void set_programs_per_worker(ProgramOp program, int64_t count) {
  if (count == 1) return void(program->removeAttr(kProgramsPerWorker));
  program->setAttr(kProgramsPerWorker, mlir::Builder(program.getContext()).getI64IntegerAttr(count));
}

} // namespace tilewright
