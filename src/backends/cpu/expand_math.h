// expand-math: elementary and composite functions as arithmetic, on the loops stage.
//
// Replaces math.exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sin and cos, and tile.composite of sigmoid, silu,
// gelu, gelu_tanh and softplus, on f32 and f64, scalars and 1-D vectors, by straight code of arith, math.fma and
// bitcasts. NaN, infinities, signed zeros, subnormal arguments and results are as the C library has them. The largest
// errors in units in the last place, over every fifth bit pattern of float32 and over 10^8 random arguments of float64
// of all magnitudes, against the C library in the next wider precision:
//
//             exp   exp2  expm1  log   log2  log10  log1p  tanh  erf   sin   cos
//   float32   0.89  0.80  0.85   0.89  0.97  0.93   0.86   0.95  1.08  0.87  0.85
//   float64   0.88  0.80  0.87   0.77  0.81  0.81   0.63   0.95  1.08  0.85  0.86
//
// (expm1, log1p and tanh: over every fiftieth bit pattern, and 2 10^7 arguments.) Those of the composite functions are
// in tests/unit/cpu/expand_math_test.cpp.
//
// That is with fused multiply-adds; code for CPUs without them (before AVX2) was not measured. sin and cos of lanes
// beyond 2^17 (float32) or 2^27 (float64) go through the runtime table, in a branch that is taken only if there are
// any.
//
// Other ops are left alone: the emitter has instructions for them, or calls the runtime table.
#pragma once

#include "backends/cpu/target.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace tilewright::cpu {

// For code for `target`: some of its instructions make shorter formulas.
std::unique_ptr<mlir::Pass> create_expand_math_pass(const CpuTarget& target);

// For tilewright-opt and pass pipelines in text.
void register_expand_math_pass();

} // namespace tilewright::cpu
