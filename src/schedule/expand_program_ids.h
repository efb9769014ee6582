// Expands tile.map_program to arithmetic, for backends that have no own way for it.
//
// Over counts [.., m, n] and a group g: a group is g rows of the second-last dimension, fewer at the end; inside a
// group the row runs fastest, then the column. Each id in [0, product of the counts) has its own coordinates.
#pragma once

#include "ir/tile_dialect.h"

namespace tilewright {

/// The coordinates of one map_program, made where `builder` stands; numbers where its id is one.
llvm::SmallVector<mlir::Value> expand_program_id(mlir::OpBuilder& builder, MapProgramOp map);

/// Also of programs along several axes, which become flat: axis 0 runs fastest.
void expand_program_ids(ProgramOp program);

} // namespace tilewright
