// Products of two 32-bit numbers that are formed in 64 bits, only to be taken apart: what a Philox round is made of.
//
//   %a = extui %x : i32 to i64, %p = muli %a, %c : i64      the lower half: x * c
//   %h = shrui %p, 32, %hi = trunci %h to i32          ->   the upper half: tl.umulhi(x, c)
//   %lo = trunci %p to i32
#pragma once

#include "ir/tile_dialect.h"

#include <optional>

namespace tilewright::triton {

struct HalfOfProduct {
  mlir::Value a, b; // 32-bit numbers, or a constant below 2^32
  bool is_upper;
};

/// What a trunci takes of such a product; nothing where it is something else.
std::optional<HalfOfProduct> half_of_wide_product(mlir::Operation* trunci);

/// Whether the op is only a step on the way to the halves: the extension of a factor, the product, or the shift.
bool is_part_of_wide_product(mlir::Operation* op);

} // namespace tilewright::triton
