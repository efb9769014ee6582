// New values beyond zeros, ones and full (ops.h), in a tile loop: ranges and random numbers. Errors name the caller's
// line.
#pragma once

#include "tilewright/ops.h"
#include "tilewright/value.h"

#include <array>

namespace tilewright {

// 0 to end - 1, or begin to end - 1, of rank 1. begin and end are numbers, sizes or block sizes; begin may also be a
// scalar on the device where the length is given, as in arange(n) + tile.begin().
Value arange(const Operand& end, DType dtype = int64, SourceLocation location = std::source_location::current());
Value arange(const Operand& begin, const Operand& end, DType dtype = int64,
             SourceLocation location = std::source_location::current());

// Like zeros_like and full_like. A new "empty" value is one of zeros.
Value ones_like(const Operand& x, SourceLocation location = std::source_location::current());
Value ones_like(const Operand& x, DType dtype, SourceLocation location = std::source_location::current());
// Of x's dtype and another shape.
Value new_zeros(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
Value new_ones(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
Value new_empty(const Operand& x, const Shape& shape, SourceLocation location = std::source_location::current());
Value new_full(const Operand& x, const Shape& shape, const Operand& value,
               SourceLocation location = std::source_location::current());

// Random numbers by Philox 4x32-10. The counter is the element's index in the whole of what the shape's tiles walk
// over, in row-major order, so that the numbers do not depend on block sizes: tw::rand({tile_m, tile_n}, seed) in a
// loop over {m, n} makes the same m x n numbers for every config and on every backend. The seed is a whole number or a
// scalar. Each call in a kernel has its own stream; the first one's numbers are those of Array::rand, randn and randint
// with the same seed. A call in a loop whose tiles are not in its shape gives the same numbers each time round: make
// them part of the seed.
//
// Uniform in [0, 1), and of the standard normal distribution, in a floating-point dtype.
Value rand(const Shape& shape, const Operand& seed, DType dtype = float32,
           SourceLocation location = std::source_location::current());
Value randn(const Shape& shape, const Operand& seed, DType dtype = float32,
            SourceLocation location = std::source_location::current());
// Whole numbers in [low, high), which are known while recording.
Value randint(const Size& low, const Size& high, const Shape& shape, const Operand& seed, DType dtype = int64,
              SourceLocation location = std::source_location::current());
// Four uniform float32 values for the price of one.
std::array<Value, 4> rand4x(const Shape& shape, const Operand& seed,
                            SourceLocation location = std::source_location::current());

} // namespace tilewright
