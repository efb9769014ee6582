#include "ir/interpreter.h"

#include "ir/interpreter_compare.h"
#include "ir/ir_text.h"
#include "support/error_of.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

// A kernel over one array x and one result, both of rank 1, in tiles of b0. `body` makes %r of %a = x[%t].
std::string unary_kernel(const std::string& element, int64_t n, const std::string& body) {
  return with(R"(
tile.kernel @unary(%x: !tile.array<$element, [$n], strides [1]> {tile.name = "x"})
    -> !tile.array<$element, [$n], strides [1]> {
  %zero = arith.constant 0 : index
  %n = arith.constant $n : index
  %out = tile.empty : !tile.array<$element, [$n], strides [1]>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %a = tile.load %x[%t] : !tile.array<$element, [$n], strides [1]> -> tensor<?x$element, #tile.dims<[b0]>>
        tiles(!tile.tile<b0>)
    $body
    tile.store %r, %out[%t] : tensor<?x$element, #tile.dims<[b0]>>, !tile.array<$element, [$n], strides [1]>
        tiles(!tile.tile<b0>)
  }
  tile.return %out : !tile.array<$element, [$n], strides [1]>
}
)",
              {{"body", body}, {"element", element}, {"n", n}});
}

// A kernel that gives one number per tile of x, in the order of tiles; `body` makes the scalar %r of %a = x[%t].
std::string per_tile_kernel(const std::string& element, int64_t n, int64_t tiles, const std::string& body) {
  return with(R"(
tile.kernel @per_tile(%x: !tile.array<$element, [$n], strides [1]> {tile.name = "x"})
    -> !tile.array<$element, [$tiles], strides [1]> {
  %zero = arith.constant 0 : index
  %n = arith.constant $n : index
  %out = tile.empty : !tile.array<$element, [$tiles], strides [1]>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %a = tile.load %x[%t] : !tile.array<$element, [$n], strides [1]> -> tensor<?x$element, #tile.dims<[b0]>>
        tiles(!tile.tile<b0>)
    $body
    %i = tile.id %t : !tile.tile<b0>
    tile.store %r, %out[at %i] : $element, !tile.array<$element, [$tiles], strides [1]>
  }
  tile.return %out : !tile.array<$element, [$tiles], strides [1]>
}
)",
              {{"body", body}, {"element", element}, {"n", n}, {"tiles", tiles}});
}

Array run(const std::string& text, llvm::ArrayRef<int64_t> blocks, llvm::ArrayRef<InterpreterArgument> arguments) {
  return interpret_kernel(IrText(text).kernel(), blocks, arguments)[0];
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

TEST(InterpretKernel, every_block_size_gives_the_same) {
  Array x = Array::randn({70}, 1);
  std::string text = unary_kernel("f32", 70, "%r = arith.mulf %a, %a : tensor<?xf32, #tile.dims<[b0]>>");
  Array expected = Array::empty({70});
  for (int i = 0; i < 70; ++i) expected.at<float>({i}) = x.at<float>({i}) * x.at<float>({i});
  for (int64_t block : {1, 7, 16, 64, 70, 71, 1000}) EXPECT_TRUE(equal(run(text, {block}, {x}), expected)) << block;
}

TEST(InterpretKernel, nothing_is_computed_and_written_past_the_end) {
  // The array is longer than the loop; with a block of 4, the second tile has two lanes that are not there.
  std::string text = unary_kernel("f32", 6, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>");
  for (size_t at; (at = text.find("array<f32, [6]")) != std::string::npos;) text.replace(at, 14, "array<f32, [8]");
  Array x = Array::ones({8}), out = Array::full({8}, 5);
  interpret_kernel(IrText(text).kernel(), {4}, {x}, {out});
  EXPECT_EQ(out.to_vector<float>(), (Floats{-1, -1, -1, -1, -1, -1, 5, 5}));
}

TEST(InterpretKernel, a_store_writes_only_lanes_that_exist_in_its_value) {
  // %a ends with the tile, the block it is stored to does not.
  std::string text = unary_kernel("f32", 6, R"(%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>
    %begin = tile.begin %t : !tile.tile<b0>
    %c4 = arith.constant 4 : index
    %past = arith.addi %begin, %c4 : index
    tile.for (%u: b0) = (%begin) to (%past) {
      tile.store %r, %out[%u] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [6], strides [1]> tiles(!tile.tile<b0>)
    })");
  auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  };
  replace("b0", "4"); // a block given as a number, which two loops may have
  replace("<?x", "<4x");
  replace("array<f32, [6]", "array<f32, [8]");
  Array out = Array::full({8}, 5);
  interpret_kernel(IrText(text).kernel(), {}, {Array::ones({8})}, {out});
  EXPECT_EQ(out.to_vector<float>(), (Floats{-1, -1, -1, -1, -1, -1, 5, 5}));
}

TEST(InterpretKernel, a_reduction_sees_only_lanes_that_exist) {
  const std::string maximum = "%r = tile.reduce max %a dims [0] : tensor<?xf32, #tile.dims<[b0]>> -> f32";
  Array x = Array::from_vector(Floats{-3, -1, -2, -9, -7, -8, -6});
  EXPECT_EQ(run(per_tile_kernel("f32", 7, 2, maximum), {4}, {x}).to_vector<float>(), (Floats{-1, -6}));
  const std::string product = "%r = tile.reduce mul %a dims [0] : tensor<?xf32, #tile.dims<[b0]>> -> f32";
  EXPECT_EQ(run(per_tile_kernel("f32", 7, 2, product), {4}, {x}).to_vector<float>(), (Floats{54, -336}));
}

TEST(InterpretKernel, lane_count_is_of_lanes_that_exist) {
  const std::string mean = R"(
    %sum = tile.reduce add %a dims [0] : tensor<?xf32, #tile.dims<[b0]>> -> f32
    %count = tile.lane_count %a dims [0] : tensor<?xf32, #tile.dims<[b0]>>
    %count_i64 = arith.index_cast %count : index to i64
    %divisor = arith.sitofp %count_i64 : i64 to f32
    %r = arith.divf %sum, %divisor : f32)";
  Array x = Array::from_vector(Floats{1, 2, 3, 6, 10, 20, 30});
  EXPECT_EQ(run(per_tile_kernel("f32", 7, 2, mean), {4}, {x}).to_vector<float>(), (Floats{3, 20}));
}

TEST(InterpretKernel, a_splat_is_as_long_as_the_tile_around_it) {
  const std::string count = R"(
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.dims<[b0]>>
    %r = tile.reduce add %ones dims [0] : tensor<?xi32, #tile.dims<[b0]>> -> i32)";
  EXPECT_EQ(run(per_tile_kernel("i32", 7, 2, count), {4}, {Array::zeros({7}, int32)}).to_vector<int32_t>(),
            (Ints{4, 3}));
}

TEST(InterpretKernel, a_splat_that_no_tile_limits_has_no_length) {
  const std::string count = R"(
    %one = arith.constant 1 : i32
    %ones = tile.splat %one : i32 -> tensor<?xi32, #tile.dims<[b1]>>
    %r = tile.reduce add %ones dims [0] : tensor<?xi32, #tile.dims<[b1]>> -> i32)";
  EXPECT_EQ(error_of([&] { run(per_tile_kernel("i32", 7, 2, count), {4, 8}, {Array::zeros({7}, int32)}); }),
            "tile.reduce needs the number of lanes along b1, but no tile limits its operand there");
}

TEST(InterpretKernel, full_is_as_long_as_its_tiles) {
  const std::string ones = R"(
    %one = arith.constant 1 : i32
    %ones = tile.full %one tiles(%t : !tile.tile<b0>) at [0] : i32 -> tensor<?xi32, #tile.dims<[b0]>>
    %r = tile.reduce add %ones dims [0] : tensor<?xi32, #tile.dims<[b0]>> -> i32)";
  EXPECT_EQ(run(per_tile_kernel("i32", 7, 2, ones), {4}, {Array::zeros({7}, int32)}).to_vector<int32_t>(),
            (Ints{4, 3}));
  const std::string block = R"(
    %one = arith.constant 1 : i32
    %ones = tile.full %one at [] : i32 -> tensor<?xi32, #tile.dims<[b0]>>
    %r = tile.reduce add %ones dims [0] : tensor<?xi32, #tile.dims<[b0]>> -> i32)";
  EXPECT_EQ(run(per_tile_kernel("i32", 7, 2, block), {4}, {Array::zeros({7}, int32)}).to_vector<int32_t>(),
            (Ints{4, 4}));
}

TEST(InterpretKernel, padding_never_divides_by_zero) {
  const std::string text = unary_kernel("i32", 5, R"(
    %c = arith.constant 60 : i32
    %sixty = tile.splat %c : i32 -> tensor<?xi32, #tile.dims<[b0]>>
    %r = arith.floordivsi %sixty, %a : tensor<?xi32, #tile.dims<[b0]>>)");
  EXPECT_EQ(run(text, {4}, {Array::from_vector(Ints{1, 2, 3, -7, 5})}).to_vector<int32_t>(),
            (Ints{60, 30, 20, -9, 12}));
  EXPECT_EQ(error_of([&] { run(text, {4}, {Array::from_vector(Ints{1, 2, 3, 4, 0})}); }),
            "tile.store to allocation 0 writes lane [0], which holds no defined number");
}

TEST(InterpretKernel, whole_and_partial_operands_are_refused_as_everywhere) {
  const std::string text = unary_kernel("f32", 7, R"(
    %c = arith.constant 1.0 : f32
    %block = tile.full %c at [] : f32 -> tensor<?xf32, #tile.dims<[b0]>>
    %r = arith.divf %block, %a : tensor<?xf32, #tile.dims<[b0]>>)");
  EXPECT_EQ(
      error_of([&] { run(text, {4}, {Array::ones({7})}); }),
      "dimension 0 is whole in one operand and ends early in another; use where() to say what the missing lanes are");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(InterpretKernel, reductions_are_rounded_once) {
  const std::string sum = "%r = tile.reduce add %a dims [0] : tensor<?xbf16, #tile.dims<[b0]>> -> bf16";
  // One by one, a sum in bfloat16 would stop at 256.
  Array ones = Array::ones({1000}, bfloat16);
  EXPECT_EQ(run(per_tile_kernel("bf16", 1000, 1, sum), {1024}, {ones}).item<float>(), 1000);
  const std::string sum_f32 = "%r = tile.reduce add %a dims [0] : tensor<?xf32, #tile.dims<[b0]>> -> f32";
  Array x = Array::from_vector(Floats{1e8f, 1, -1e8f});
  EXPECT_EQ(run(per_tile_kernel("f32", 3, 1, sum_f32), {4}, {x}).item<float>(), 1);
}

TEST(InterpretKernel, maximum_hands_on_nan_wherever_it_stands) {
  for (const char* kind : {"max", "min"})
    for (int at = 0; at < 3; ++at) {
      Array x = Array::ones({3});
      x.at<float>({at}) = NAN;
      std::string body =
          with("%r = tile.reduce $kind %a dims [0] : tensor<?xf32, #tile.dims<[b0]>> -> f32", {{"kind", kind}});
      EXPECT_TRUE(std::isnan(run(per_tile_kernel("f32", 3, 1, body), {4}, {x}).item<float>())) << kind << at;
    }
}

TEST(InterpretKernel, reductions_of_integers_and_bool) {
  auto reduce = [](const std::string& kind, const std::string& element, const Array& x) {
    std::string body = with("%r = tile.reduce $kind %a dims [0] : tensor<?x$element, #tile.dims<[b0]>> -> $element",
                            {{"kind", kind}, {"element", element}});
    return run(per_tile_kernel(element, x.numel(), 1, body), {4}, {x}).item<int64_t>();
  };
  Array x = Array::from_vector(Ints{INT32_MAX, 1, -8});
  EXPECT_EQ(reduce("add", "i32", x), INT32_MAX - 7);
  EXPECT_EQ(reduce("max", "i32", x), INT32_MAX);
  EXPECT_EQ(reduce("min", "i32", x), -8);
  EXPECT_EQ(reduce("and", "i32", Array::from_vector(Ints{14, 7, -1})), 6);
  EXPECT_EQ(reduce("or", "i32", Array::from_vector(Ints{8, 1, 0})), 9);
  Array mixed = Array::from_vector(std::vector<bool>{true, false, true});
  EXPECT_EQ(reduce("or", "i1", mixed), 1);
  EXPECT_EQ(reduce("and", "i1", mixed), 0);
  EXPECT_EQ(reduce("max", "i1", mixed), 1); // false < true
  EXPECT_EQ(reduce("min", "i1", mixed), 0);
}

//===----------------------------------------------------------------------===//
// Loops, whole dimensions and accesses
//===----------------------------------------------------------------------===//

// Sum over the rows of x, whole, and the same by an inner loop over tiles, into the two rows of out.
const char* const kRowSums = R"(
tile.kernel @row_sums(%x: !tile.array<f32, [$m, $n], strides [$stride_m, $stride_n]> {tile.name = "x"})
    -> !tile.array<f32, [2, $m], strides [$m, 1]> attributes {whole = #tile.dims<[$n]>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tile.extent <$m>
  %n = tile.extent <$n>
  %out = tile.empty : !tile.array<f32, [2, $m], strides [$m, 1]>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %a = tile.load %x[%t, :] : !tile.array<f32, [$m, $n], strides [$stride_m, $stride_n]>
        -> tensor<?x?xf32, #tile.dims<[b0, r0]>> tiles(!tile.tile<b0>)
    %whole = tile.reduce add %a dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    %f0 = arith.constant 0.0 : f32
    %init = tile.full %f0 tiles(%t : !tile.tile<b0>) at [0] : f32 -> tensor<?xf32, #tile.dims<[b0]>>
    %sum = tile.for (%k: b1) = (%zero) to (%n) carry(%acc = %init) : tensor<?xf32, #tile.dims<[b0]>> {
      %b = tile.load %x[%t, %k] : !tile.array<f32, [$m, $n], strides [$stride_m, $stride_n]>
          -> tensor<?x?xf32, #tile.dims<[b0, b1]>> tiles(!tile.tile<b0>, !tile.tile<b1>)
      %part = tile.reduce add %b dims [1] : tensor<?x?xf32, #tile.dims<[b0, b1]>> -> tensor<?xf32, #tile.dims<[b0]>>
      %next = arith.addf %acc, %part : tensor<?xf32, #tile.dims<[b0]>>
      tile.yield %next : tensor<?xf32, #tile.dims<[b0]>>
    }
    tile.store %whole, %out[at %zero, %t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [2, $m], strides [$m, 1]>
        tiles(!tile.tile<b0>)
    tile.store %sum, %out[at %one, %t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [2, $m], strides [$m, 1]>
        tiles(!tile.tile<b0>)
  }
  tile.return %out : !tile.array<f32, [2, $m], strides [$m, 1]>
}
)";

Array row_sums(const Array& x, int64_t block_m, int64_t block_k) {
  return run(with(kRowSums, {{"stride_m", x.stride(0)}, {"stride_n", x.stride(1)}, {"m", x.size(0)}, {"n", x.size(1)}}),
             {block_m, block_k}, {x});
}

void expect_row_sums(const Array& x, int64_t block_m, int64_t block_k) {
  Array sums = row_sums(x, block_m, block_k);
  for (int64_t i = 0; i < x.size(0); ++i) {
    float expected = 0;
    for (int64_t j = 0; j < x.size(1); ++j) expected += x.at<float>({i, j});
    EXPECT_EQ(sums.at<float>({0, i}), expected);
    EXPECT_EQ(sums.at<float>({1, i}), expected);
  }
}

TEST(InterpretKernel, whole_dimensions_and_loops_agree_on_ragged_sizes) {
  Array x = Array::randint(-9, 9, {7, 13}, 1, float32);
  for (int64_t block_m : {1, 3, 8})
    for (int64_t block_k : {1, 4, 13, 32}) expect_row_sums(x, block_m, block_k);
  expect_row_sums(Array::randint(-9, 9, {1, 1}, 1, float32), 1, 1);
}

TEST(InterpretKernel, any_layout_is_a_legal_argument) {
  Array base = Array::randint(-9, 9, {26, 14}, 1, float32);
  expect_row_sums(base.t(), 4, 8);
  expect_row_sums(base.slice(0, 0, 26, 2).slice(1, 1, 14, 3), 4, 3);
  expect_row_sums(base.narrow(1, 3, 1).expand({26, 5}), 4, 2); // stride 0
  Array backwards = Array::from_pointer(base.data<float>() + base.numel() - 1, {26, 14}, {-14, -1}, float32);
  expect_row_sums(backwards, 4, 8);
}

TEST(InterpretKernel, zero_sizes) {
  EXPECT_EQ(row_sums(Array::empty({3, 0}), 2, 4).to_vector<float>(), (Floats{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row_sums(Array::empty({0, 5}), 2, 4).numel(), 0);
}

TEST(InterpretKernel, a_maximum_over_no_lanes_is_minus_infinity) {
  std::string text = with(kRowSums, {{"stride_m", 1}, {"stride_n", 1}, {"m", 3}, {"n", 0}});
  for (size_t at; (at = text.find("reduce add")) != std::string::npos;) text.replace(at, 10, "reduce max");
  Floats result =
      run(text, {2, 4}, {Array::from_pointer(Array::empty({1}).data(), {3, 0}, {1, 1}, float32)}).to_vector<float>();
  EXPECT_EQ(Floats(result.begin(), result.begin() + 3), (Floats{-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}));
}

// out[i, j] = i + j over ranges that begin elsewhere, by tile.index; also begin, end, id and count of each tile of
// rows.
const char* const kPositions = R"(
tile.kernel @positions() -> (!tile.array<i32, [10, 6], strides [6, 1]>, !tile.array<i64, [10, 4], strides [4, 1]>) {
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %sums = tile.empty : !tile.array<i32, [10, 6], strides [6, 1]>
  %numbers = tile.empty : !tile.array<i64, [10, 4], strides [4, 1]>
  tile.for (%ti: b0, %tj: b1) = (%c2, %c1) to (%c9, %c6) parallel {
    %i = tile.index %ti : !tile.tile<b0> -> tensor<?xi32, #tile.dims<[b0]>>
    %j = tile.index %tj : !tile.tile<b1> -> tensor<?xi32, #tile.dims<[b1]>>
    %i1 = tile.expand_dims %i dim 1 : tensor<?xi32, #tile.dims<[b0]>> -> tensor<?x1xi32, #tile.dims<[b0, 1]>>
    %j1 = tile.expand_dims %j dim 0 : tensor<?xi32, #tile.dims<[b1]>> -> tensor<1x?xi32, #tile.dims<[1, b1]>>
    %i2 = tile.broadcast %i1 : tensor<?x1xi32, #tile.dims<[b0, 1]>> -> tensor<?x?xi32, #tile.dims<[b0, b1]>>
    %j2 = tile.broadcast %j1 : tensor<1x?xi32, #tile.dims<[1, b1]>> -> tensor<?x?xi32, #tile.dims<[b0, b1]>>
    %sum = arith.addi %i2, %j2 : tensor<?x?xi32, #tile.dims<[b0, b1]>>
    tile.store %sum, %sums[%ti, %tj] : tensor<?x?xi32, #tile.dims<[b0, b1]>>, !tile.array<i32, [10, 6], strides [6, 1]>
        tiles(!tile.tile<b0>, !tile.tile<b1>)
    %begin = tile.begin %ti : !tile.tile<b0>
    %end = tile.end %ti : !tile.tile<b0>
    %id = tile.id %ti : !tile.tile<b0>
    %count = tile.count %ti : !tile.tile<b0>
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %begin_i64 = arith.index_cast %begin : index to i64
    %end_i64 = arith.index_cast %end : index to i64
    %id_i64 = arith.index_cast %id : index to i64
    %count_i64 = arith.index_cast %count : index to i64
    tile.store %begin_i64, %numbers[at %id, at %c0] : i64, !tile.array<i64, [10, 4], strides [4, 1]>
    tile.store %end_i64, %numbers[at %id, at %c1] : i64, !tile.array<i64, [10, 4], strides [4, 1]>
    tile.store %id_i64, %numbers[at %id, at %c2] : i64, !tile.array<i64, [10, 4], strides [4, 1]>
    tile.store %count_i64, %numbers[at %id, at %c3] : i64, !tile.array<i64, [10, 4], strides [4, 1]>
  }
  tile.return %sums, %numbers : !tile.array<i32, [10, 6], strides [6, 1]>, !tile.array<i64, [10, 4], strides [4, 1]>
}
)";

TEST(InterpretKernel, tiles_know_where_they_are) {
  IrText ir(kPositions);
  Array sums = Array::zeros({10, 6}, int32), numbers = Array::zeros({10, 4}, int64);
  interpret_kernel(ir.kernel(), {4, 3}, {}, {sums, numbers});
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 6; ++j)
      EXPECT_EQ(sums.at<int32_t>({i, j}), 2 <= i && i < 9 && 1 <= j ? i + j : 0) << i << ", " << j;
  std::vector<int64_t> rows = numbers.narrow(0, 0, 2).to_vector<int64_t>();
  EXPECT_EQ(rows, (std::vector<int64_t>{2, 6, 0, 2, 6, 9, 1, 2}));
}

TEST(InterpretKernel, allocations_that_are_made_show_what_was_not_written) {
  std::vector<Array> made = interpret_kernel(IrText(kPositions).kernel(), {4, 3}, {});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].at<int32_t>({0, 0}), INT32_MIN);
  EXPECT_EQ(made[0].at<int32_t>({2, 1}), 3);
  EXPECT_EQ(made[1].at<int64_t>({9, 3}), INT64_MIN);
}

// Row by row, by a grid inside each tile of rows, from its begin to its end: out[i, :] = x[i, :] * scale + y[0].
const char* const kGrid = R"(
tile.kernel @grid(%x: !tile.array<f32, [5, 3], strides [3, 1]>, %y: !tile.array<f32, [1], strides [1]>, %scale: f32)
    -> !tile.array<f32, [5, 3], strides [3, 1]> attributes {whole = #tile.dims<[3]>} {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  %out = tile.empty : !tile.array<f32, [5, 3], strides [3, 1]>
  tile.for (%t: b0) = (%zero) to (%five) parallel {
    %begin = tile.begin %t : !tile.tile<b0>
    %end = tile.end %t : !tile.tile<b0>
    %b = tile.load %y[%t] : !tile.array<f32, [1], strides [1]> -> tensor<1xf32, #tile.dims<[1]>> tiles(!tile.tile<b0>)
    %b1 = tile.broadcast %b : tensor<1xf32, #tile.dims<[1]>> -> tensor<?xf32, #tile.dims<[r0]>>
    %s = tile.splat %scale : f32 -> tensor<?xf32, #tile.dims<[r0]>>
    tile.for (%i: grid) = (%begin) to (%end) {
      %row = tile.load %x[at %i, :] : !tile.array<f32, [5, 3], strides [3, 1]> -> tensor<?xf32, #tile.dims<[r0]>>
      %scaled = arith.mulf %row, %s : tensor<?xf32, #tile.dims<[r0]>>
      %sum = arith.addf %scaled, %b1 : tensor<?xf32, #tile.dims<[r0]>>
      tile.store %sum, %out[at %i, :] : tensor<?xf32, #tile.dims<[r0]>>, !tile.array<f32, [5, 3], strides [3, 1]>
    }
  }
  tile.return %out : !tile.array<f32, [5, 3], strides [3, 1]>
}
)";

TEST(InterpretKernel, grids_scalars_and_a_tile_over_size_one) {
  Array x = Array::randint(-9, 9, {5, 3}, 1, float32), y = Array::full({1}, 100);
  Array out = run(kGrid, {2}, {x, y, 2.0});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(out.at<float>({i, j}), x.at<float>({i, j}) * 2 + 100);
}

TEST(InterpretKernel, a_loop_over_nothing_gives_what_it_started_from) {
  const std::string text = per_tile_kernel("f32", 3, 1, R"(
    %seven = arith.constant 7.0 : f32
    %r = tile.for (%k: b1) = (%n) to (%zero) carry(%acc = %seven) : f32 {
      %next = arith.addf %acc, %acc : f32
      tile.yield %next : f32
    })");
  EXPECT_EQ(run(text, {4, 4}, {Array::ones({3})}).item<float>(), 7);
}

TEST(InterpretKernel, inner_dimensions_are_nested_first_to_last) {
  // Appends each pair's number: 2 * i + j, as a decimal digit.
  const std::string text = per_tile_kernel("i32", 3, 1, R"(
    %two = arith.constant 2 : index
    %ten = arith.constant 10 : i32
    %c0 = arith.constant 0 : i32
    %r = tile.for (%i: grid, %j: grid) = (%zero, %zero) to (%two, %two) carry(%acc = %c0) : i32 {
      %row = arith.muli %i, %two : index
      %at = arith.addi %row, %j : index
      %digit = arith.index_cast %at : index to i32
      %shifted = arith.muli %acc, %ten : i32
      %next = arith.addi %shifted, %digit : i32
      tile.yield %next : i32
    })");
  EXPECT_EQ(run(text, {4}, {Array::zeros({3}, int32)}).item<int32_t>(), 123);
}

//===----------------------------------------------------------------------===//
// The host part and what is refused
//===----------------------------------------------------------------------===//

TEST(InterpretKernel, a_check_fails_before_anything_is_written) {
  std::string text = unary_kernel("f32", 4, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>");
  // Behind the loop, on purpose.
  text.insert(text.find("  tile.return"), "  %same = arith.cmpi eq, %n, %zero : index\n"
                                          "  tile.check %same, \"sizes differ: {} and {}\"(%n, %zero)\n");
  Array out = Array::full({4}, 5);
  auto run_it = [&] { interpret_kernel(IrText(text).kernel(), {4}, {Array::ones({4})}, {out}); };
  EXPECT_EQ(error_of(run_it), "sizes differ: 4 and 0");
  EXPECT_EQ(error_line_of(run_it), 15u);
  EXPECT_EQ(out.to_vector<float>(), (Floats{5, 5, 5, 5}));
}

TEST(InterpretKernel, reading_outside_an_array_names_the_element_and_the_line) {
  std::string text = unary_kernel("f32", 6, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>");
  text.replace(text.find("constant 6"), 10, "constant 7");
  auto run_it = [&] { run(text, {4}, {Array::ones({6})}); };
  EXPECT_EQ(error_of(run_it), "tile.load reaches element [6] of 'x', whose sizes are [6]");
  EXPECT_EQ(error_line_of(run_it), 8u);
}

TEST(InterpretKernel, arguments_must_be_what_the_kernel_is_pinned_to) {
  std::string text = unary_kernel("f32", 6, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>");
  auto message = [&](llvm::ArrayRef<InterpreterArgument> arguments) {
    return error_of([&] { run(text, {4}, arguments); });
  };
  EXPECT_EQ(message({}), "'unary' takes 1 arguments, found 0");
  EXPECT_EQ(message({2.0}), "'x' must be an array of float32, found no array");
  EXPECT_EQ(message({Array::ones({6}, float64)}), "'x' must be an array of float32, found float64");
  EXPECT_EQ(message({Array::ones({5})}), "'x' is pinned to the sizes [6], found [5]");
  EXPECT_EQ(message({Array::ones({12}).slice(0, 0, 12, 2)}), "'x' is pinned to the strides [1], found [2]");
  for (size_t at = 0; (at = text.find("strides [1]>", at)) != std::string::npos; at += 20)
    text.replace(at, 12, "strides [1], align 64>");
  EXPECT_EQ(message({Array::ones({7}).narrow(0, 1, 6)}), "'x' is pinned to an alignment of 64 bytes");
  EXPECT_EQ(error_of([&] { run(kGrid, {2}, {Array::ones({5, 3}), Array::ones({1}), Array::ones({1})}); }),
            "argument 2 must be a number of type f32");
}

TEST(InterpretKernel, allocations_must_be_as_many_as_the_kernel_makes) {
  IrText ir(unary_kernel("f32", 6, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>"));
  Array x = Array::ones({6});
  EXPECT_EQ(error_of([&] { interpret_kernel(ir.kernel(), {4}, {x}, {x, x}); }),
            "the kernel makes 1 allocations, found 2");
  EXPECT_EQ(error_of([&] { interpret_kernel(ir.kernel(), {4}, {x}, {Array::ones({7})}); }),
            "allocation 0 is pinned to the sizes [6], found [7]");
}

TEST(InterpretKernel, block_sizes_are_all_there_and_positive) {
  std::string text = unary_kernel("f32", 6, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>");
  Array x = Array::ones({6});
  EXPECT_EQ(error_of([&] { run(text, {}, {x}); }), "tile.for needs the size of block b0; 0 block sizes were given");
  EXPECT_EQ(error_of([&] { run(text, {0}, {x}); }), "block size b0 is 0; it must be positive");
}

TEST(InterpretKernel, a_kernel_that_is_not_pinned_is_refused) {
  std::string text = unary_kernel("f32", 6, "%r = arith.negf %a : tensor<?xf32, #tile.dims<[b0]>>");
  for (size_t at; (at = text.find("[6], strides [1]")) != std::string::npos;) text.replace(at, 16, "[s0]");
  EXPECT_EQ(error_of([&] { run(text, {4}, {Array::ones({6})}); }),
            "'x' has no pinned type, but !tile.array<f32, [s0]>");
}

} // namespace
} // namespace tilewright
