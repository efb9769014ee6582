// Reductions, matrix products and shapes.
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

// A kernel that computes f of a tile of rows of x.
template <class F> std::string of_rows(F f, tw::DType dtype = tw::float32) {
  auto kernel = tw::kernel("k", [f](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0))) out[0] = f(x[tile, tw::_]).sum();
  });
  return trace_of(kernel, tw::Array::empty({64, 32}, dtype), tw::Array::empty({1}, dtype));
}

using tw::Value;

TEST(Reductions, over_one_dimension_several_and_all) {
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.sum(1); }), {"tile.reduce add %1 dims [1]", "-> tensor<?xf32"}));
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.amax(-2); }), {"tile.reduce max %1 dims [0]"}));
  EXPECT_TRUE(
      holds(of_rows([](Value x) { return tw::amin(x, {1, 0}, true); }),
            {"tile.reduce min %1 dims [0, 1]", "-> f32", "tile.expand_dims %2 dim 0", "tile.expand_dims %3 dim 1"}));
  EXPECT_TRUE(holds(of_rows([](Value x) { return tw::sum(x, 1, true) + x; }),
                    {"tile.expand_dims %2 dim 1", "tensor<?x1xf32", "tile.broadcast"}));
}

TEST(Reductions, accumulate_wide_and_give_pytorchs_dtype) {
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.sum(1); }, tw::bfloat16),
                    {"arith.extf", "tile.reduce add", "xf32", "arith.truncf", "xbf16"}));
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.sum(1); }, tw::int32), {"arith.extsi", "tile.reduce add", "xi64"}));
  EXPECT_TRUE(
      holds(of_rows([](Value x) { return x.sum(1); }, tw::boolean), {"arith.extui", "tile.reduce add", "xi64"}));
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.amax(1); }, tw::bfloat16), {"tile.reduce max", "xbf16"}));
}

TEST(Reductions, a_mean_divides_by_the_lanes_that_exist) {
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.mean(0); }, tw::float16),
                    {"arith.extf", "tile.reduce add", "tile.lane_count %1 dims [0]", "arith.index_cast", "arith.sitofp",
                     "arith.divf", "xf32", "arith.truncf"}));
}

TEST(Reductions, softmax_rounds_once) {
  std::string text = of_rows([](Value x) { return tw::softmax(x, -1); }, tw::bfloat16);
  EXPECT_TRUE(holds(text, {"arith.extf", "tile.reduce max", "arith.subf", "math.exp", "tile.reduce add", "arith.divf",
                           "arith.truncf"}));
}

template <class F> std::string error_of_rows(F f, tw::DType dtype = tw::float32) {
  std::string message = error_of([&] { of_rows(f, dtype); }).message;
  size_t open = message.find("[tile of line"), close = message.find(", 32]");
  return open == std::string::npos ? message : message.substr(0, open) + message.substr(close + 5);
}

TEST(ReductionErrors, say_what_is_wrong) {
  EXPECT_EQ(error_of_rows([](Value x) { return x.sum(2); }),
            "there is no dimension 2 in a value of rank 2; they go from -2 to 1");
  EXPECT_EQ(error_of_rows([](Value x) { return x.sum({0, -2}); }), "tw::sum is given dimension 0 twice");
  EXPECT_EQ(error_of_rows([](Value x) { return x.sum().amax(); }),
            "tw::amax takes a value of rank 1 or more, found a scalar");
  EXPECT_EQ(error_of_rows([](Value x) { return x.mean(1); }, tw::int32),
            "tw::mean takes floating point, found int32; convert it with .to(tw::float32)");
  EXPECT_EQ(error_of_rows([](Value x) { return x.softmax(1); }, tw::int64),
            "tw::softmax takes floating point, found int64; convert it with .to(tw::float32)");
}

//
// Matrix products
//

// A kernel over a [m, k] and b [k, n] that computes f of tiles of theirs.
template <class F> std::string product_of(F f, tw::DType a = tw::float32, tw::DType b = tw::float32) {
  auto kernel = tw::kernel("k", [f](tw::Tensor x, tw::Tensor y, tw::Tensor bias) {
    auto out = tw::empty({x.size(0), y.size(1)});
    for (auto [tile_m, tile_n] : tw::tile({x.size(0), y.size(1)}))
      out[tile_m, tile_n] = f(x[tile_m, tw::_], y[tw::_, tile_n], bias[tile_n]);
    return out;
  });
  return trace_of(kernel, tw::Array::empty({64, 32}, a), tw::Array::empty({32, 16}, b), tw::Array::empty({16}, a));
}

TEST(Products, dot_is_wide_and_matmul_keeps_the_dtype) {
  auto dot = [](Value a, Value b, Value) { return tw::dot(a, b); };
  auto matmul = [](Value a, Value b, Value) { return tw::matmul(a, b); };
  std::string wide = "tile.dot %3, %4, %5 : tensor<?x?xbf16, #tile.dims<[b0, r0]>>, tensor<?x?xbf16, "
                     "#tile.dims<[r0, b1]>>, tensor<?x?xf32, #tile.dims<[b0, b1]>>";
  EXPECT_TRUE(holds(product_of(dot, tw::bfloat16, tw::bfloat16), {wide}));
  EXPECT_EQ(count(product_of(dot, tw::bfloat16, tw::bfloat16), "truncf"), 0);
  EXPECT_TRUE(holds(product_of(matmul, tw::bfloat16, tw::bfloat16), {wide, "arith.truncf"}));
  EXPECT_TRUE(holds(product_of(dot, tw::float64, tw::float64), {"tile.dot", "tensor<?x?xf64, #tile.dims<[b0, b1]>>"}));
}

TEST(Products, addmm_broadcasts_what_it_adds_to) {
  auto addmm = [](Value a, Value b, Value bias) { return tw::addmm(bias, a, b); };
  EXPECT_TRUE(holds(product_of(addmm), {"tile.expand_dims", "tile.broadcast", "tile.dot"}));
  EXPECT_TRUE(holds(product_of(addmm, tw::float16, tw::float16), {"arith.extf", "tile.dot", "arith.truncf"}));
  EXPECT_TRUE(
      holds(product_of([](Value a, Value b, Value) { return tw::addmm(1, a, b); }), {"tile.splat", "tile.dot"}));
  EXPECT_TRUE(holds(product_of([](Value a, Value b, Value bias) { return tw::dot(a, b, bias.to(tw::float32)); },
                               tw::float16, tw::float16),
                    {"tile.dot"}));
}

TEST(Products, batches_broadcast) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    auto out = tw::empty_like(x);
    auto [b, m, n] = x.sizes<3>();
    for (auto [tile_b, tile_m] : tw::tile({b, m})) {
      auto rows = x[tile_b, tile_m, tw::_];
      out[tile_b, tile_m, tw::_] =
          tw::matmul(rows, y[tw::_, tw::_]) + tw::bmm(rows, x[tile_b, tw::_, tw::_].transpose(1, 2));
    }
    return out;
  });
  EXPECT_TRUE(holds(trace_of(kernel, tw::Array::empty({4, 32, 32}), tw::Array::empty({32, 32})),
                    {"tile.expand_dims", "tile.broadcast", "tensor<?x?x?xf32, #tile.dims<[b0, r0, r0]>>", "tile.dot",
                     "tile.transpose", "[0, 2, 1]", "tile.dot"}));
}

template <class F> std::string product_error(F f, tw::DType a = tw::float32, tw::DType b = tw::float32) {
  std::string text = error_of([&] { product_of(f, a, b); }).message, plain;
  for (size_t i = 0; i < text.size(); ++i) { // without the tiles' lines
    if (text.compare(i, 9, " of line ") == 0) {
      i += 9;
      while (std::isdigit(text[i])) ++i;
    }
    plain += text[i];
  }
  return plain;
}

TEST(ProductErrors, say_what_is_wrong) {
  auto dot = [](Value a, Value b, Value) { return tw::dot(a, b); };
  EXPECT_EQ(
      product_error(dot, tw::int32, tw::float32),
      "tw::dot takes floating point or int8, found int32[tile 0, 32] and float32[32, tile 1]; convert integers with "
      ".to(tw::float32)");
  EXPECT_EQ(product_error(dot, tw::bfloat16, tw::float32),
            "tw::dot takes operands of one dtype, found bfloat16[tile 0, 32] and float32[32, tile 1]; convert one with "
            ".to(tw::float32)");
  EXPECT_EQ(product_error([](Value a, Value, Value bias) { return tw::dot(a, bias); }),
            "tw::dot takes values of rank 2 or more, found float32[tile 1]");
  EXPECT_EQ(product_error([](Value a, Value b, Value) { return tw::bmm(a, b); }),
            "tw::bmm takes values of rank 3, found float32[tile 0, 32]");
  EXPECT_EQ(product_error([](Value a, Value b, Value) { return tw::mm(b, a); }),
            "the inner dimensions of tw::mm do not agree: float32[32, tile 1] times float32[tile 0, 32]. Index both "
            "with the same tile along the dimension that is summed over");
  EXPECT_EQ(
      product_error([](Value a, Value b, Value) { return tw::addmm(a, a, b); }),
      "the shapes of tw::addmm do not agree: float32[tile 0, 32] and float32[tile 0, tile 1]. Only what is indexed "
      "by the same tile fits together; tw::none inserts a dimension that repeats");
  EXPECT_EQ(product_error([](Value a, Value b, Value bias) { return tw::addmm(bias.to(tw::float64), a, b); }),
            "tw::addmm adds float64[tile 1] to a product of float32; it takes that dtype");
}

//
// Shapes
//

TEST(Shapes, dimensions_move) {
  EXPECT_TRUE(holds(of_rows([](Value x) { return x.t(); }), {"tile.transpose %1 [1, 0]"}));
  EXPECT_TRUE(
      holds(of_rows([](Value x) { return tw::permute(x.unsqueeze(0), {2, 0, 1}); }), {"tile.transpose %2 [2, 0, 1]"}));
  EXPECT_EQ(count(of_rows([](Value x) { return x.transpose(1, -1); }), "tile.transpose"), 0);
  EXPECT_TRUE(holds(of_rows([](Value x) { return x[tw::none, tw::_, tw::none]; }),
                    {"tile.expand_dims %1 dim 0", "tile.expand_dims %2 dim 2"}));
  EXPECT_TRUE(holds(of_rows([](Value x) { return tw::unsqueeze(x, -1); }), {"tile.expand_dims %1 dim 2"}));
}

TEST(Shapes, new_values_have_the_lanes_of_what_they_are_made_like) {
  EXPECT_TRUE(
      holds(of_rows([](Value x) { return tw::zeros_like(x); }),
            {"tile.full %cst tiles(%arg2 : !tile.tile<b0>) at [0] : f32 -> tensor<?x?xf32, #tile.dims<[b0, r0]>>"}));
  EXPECT_TRUE(
      holds(of_rows([](Value x) { return tw::full_like(x, 2.5); }, tw::int32), {"constant 2 : i32", "tile.full"}));
}

TEST(ShapeErrors, say_what_is_wrong) {
  EXPECT_EQ(error_of_rows([](Value x) { return tw::permute(x, {0}); }),
            "tw::permute takes each of the 2 dimensions of float32 once, found 1");
  EXPECT_EQ(error_of_rows([](Value x) { return x.unsqueeze(0).t(); }).substr(0, 41),
            ".t() takes a value of rank 2 at most, fou");
  EXPECT_EQ(error_of_rows([](Value x) { return x[tw::_, tw::_, tw::_]; }), "3 subscripts tw::_ for float32");
  EXPECT_EQ(error_of_rows([](Value x) { return x[0]; }),
            "a value on the device takes only tw::_, tw::none and tw::ellipsis as subscripts; index the tensor it was "
            "read from");
}

} // namespace
