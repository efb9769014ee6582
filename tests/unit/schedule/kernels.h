// Kernels in tile IR for the tests of this folder, in a shorthand:
//   A<s0 s1>   !tile.array<f32, [s0, s1]>
//   J<s1>      !tile.array<i32, [s1]>
//   T<b0 1>    tensor<?x1xf32, #tile.dims<[b0, 1]>>, and likewise I for i32, B for i1
//   t<b0>      !tile.tile<b0>
// On integers, all but softmax compute without rounding, so that results are the same in every order.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A kernel with layouts to pin it to.
struct TestKernel {
  const char* name;
  const char* text;
  std::vector<std::vector<std::vector<int64_t>>> shapes; // for each case the sizes of each array
  bool rounds = false;                                   // its results are compared with a tolerance
};

/// Every kernel here; its name in the text is @kernel.
const std::vector<TestKernel>& test_kernels();
const TestKernel& test_kernel(std::string_view name);

/// The shorthand written out.
std::string write_out(std::string_view text);
