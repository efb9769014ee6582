// The recorded IR depends on what a kernel computes, not on how the C++ compiler orders it.
#include "tracing.h"

#include "frontend/traced_kernel.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

const tw::Array kMatrix = tw::Array::empty({64, 32});

TEST(Identity, operands_are_numbered_from_left_to_right) {
  auto as_one_expression = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = tw::exp(x[tile, 1] + 2.5) * tw::log(y[tile, 3] - tile.index());
  });
  auto from_the_right = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) {
      auto index = tile.index();
      auto right = tw::log(y[tile, 3] - index);
      auto left = tw::exp(x[tile, 1] + 2.5);
      x[tile, 0] = left * right;
    }
  });
  std::string text = trace_of(as_one_expression, kMatrix, kMatrix);
  EXPECT_EQ(text, trace_of(from_the_right, kMatrix, kMatrix));
  EXPECT_TRUE(holds(text, {"tile.load %arg0", "math.exp", "tile.load %arg1", "tile.index", "math.log", "arith.mulf"}));
}

TEST(Identity, whole_dimensions_are_numbered_by_first_use) {
  auto left_first = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) {
      auto a = x[tile, tw::_].sum(1);
      auto b = y[tile, tw::_].sum(1);
      x[tile, 0] = a + b;
    }
  });
  auto right_first = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) {
      auto b = y[tile, tw::_].sum(1);
      auto a = x[tile, tw::_].sum(1);
      x[tile, 0] = a + b;
    }
  });
  tw::Array y = tw::Array::empty({64, 16});
  std::string text = trace_of(left_first, kMatrix, y);
  EXPECT_EQ(text, trace_of(right_first, kMatrix, y));
  EXPECT_TRUE(holds(text, {"whole = #tile.dims<[s1, s3]>"}));
}

TEST(Identity, what_is_carried_is_ordered_by_assignment) {
  auto kernel = [](bool swapped) {
    return tw::kernel("k", [swapped](tw::Tensor x) {
      for (auto tile : tw::tile(x.size(0))) {
        tw::Value a = tw::zeros({tile}), b = tw::ones({tile});
        for (auto i : tw::grid(4)) {
          auto sum = swapped ? b + a : a + b; // reads in either order
          a = sum;
          b = x[tile, i];
        }
        x[tile, 0] = a;
        x[tile, 1] = b;
      }
    });
  };
  EXPECT_TRUE(holds(trace_of(kernel(false), kMatrix), {"carry(%arg3 = %1, %arg4 = %2)", "arith.addf %arg3, %arg4"}));
  EXPECT_TRUE(holds(trace_of(kernel(true), kMatrix), {"carry(%arg3 = %1, %arg4 = %2)", "arith.addf %arg4, %arg3"}));
}

TEST(Identity, is_that_of_a_family_of_sizes) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile, tw::_] = x[tile, tw::_] * x.size(1);
  });
  EXPECT_EQ(trace_of(kernel, kMatrix), trace_of(kernel, tw::Array::empty({127, 333})));
  EXPECT_NE(trace_of(kernel, kMatrix), trace_of(kernel, tw::Array::empty({127, 1})));
}

//
// Keys of specialisations
//

std::string key_of(const tw::BoundCall& call) {
  llvm::SmallVector<char> key;
  tw::append_specialization_key(call.call().arguments, /*static_shapes=*/true, key);
  return std::string(key.begin(), key.end());
}

TEST(Keys, tell_arrays_apart_by_dtype_sizes_strides_and_alignment) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = 1;
  });
  std::string key = key_of(kernel.bind(kMatrix));
  EXPECT_EQ(key, key_of(kernel.bind(tw::Array::empty({64, 32}))));
  EXPECT_NE(key, key_of(kernel.bind(tw::Array::empty({32, 64}))));
  EXPECT_NE(key, key_of(kernel.bind(tw::Array::empty({32, 64}).t())));
  EXPECT_NE(key, key_of(kernel.bind(tw::Array::empty({64, 32}, tw::float64))));
  tw::Array wide = tw::Array::empty({64, 33});
  EXPECT_NE(key_of(kernel.bind(wide.narrow(1, 0, 32))), key_of(kernel.bind(wide.narrow(1, 1, 32))));
}

TEST(Keys, tell_numbers_apart_by_type_and_constants_by_value) {
  auto runtime = tw::kernel("k", [](tw::Tensor x, tw::Scalar<float> s) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = s;
  });
  EXPECT_EQ(key_of(runtime.bind(kMatrix, 1)), key_of(runtime.bind(kMatrix, 2.5)));
  auto constant = tw::kernel("k", [](tw::Tensor x, float s) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = s;
  });
  EXPECT_NE(key_of(constant.bind(kMatrix, 1)), key_of(constant.bind(kMatrix, 2.5)));
}

TEST(Keys, tell_callables_apart_by_type_and_what_they_capture) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, auto f) {
    for (auto tile : tw::tile(x.size(0))) x[tile, 0] = f(x[tile, 0]);
  });
  auto scaled = [](float by) { return [by](tw::Value v) { return v * by; }; };
  auto shifted = [](float by) { return [by](tw::Value v) { return v + by; }; };
  EXPECT_EQ(key_of(kernel.bind(kMatrix, scaled(2))), key_of(kernel.bind(kMatrix, scaled(2))));
  EXPECT_NE(key_of(kernel.bind(kMatrix, scaled(2))), key_of(kernel.bind(kMatrix, scaled(3))));
  EXPECT_NE(key_of(kernel.bind(kMatrix, scaled(2))), key_of(kernel.bind(kMatrix, shifted(2))));
  auto plain = [](tw::Value v) { return v; };
  EXPECT_EQ(key_of(kernel.bind(kMatrix, plain)), key_of(kernel.bind(kMatrix, plain)))
      << "a lambda without captures has no bytes";
}

} // namespace
