// The product that several tests of the driver try: with a float32 accumulator, of any two matrices.
#pragma once

#include "tilewright/tilewright.h"

namespace tilewright::test {

inline const auto matmul = kernel("matmul", {"x", "y"}, [](Tensor x, Tensor y) {
  auto [m, k] = x.sizes<2>();
  auto n = y.size(1);
  auto out = empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tile({m, n})) {
    auto acc = zeros({tile_m, tile_n}, float32);
    for (auto tile_k : tile(k)) acc = addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
    out[tile_m, tile_n] = acc;
  }
  return out;
});

} // namespace tilewright::test
