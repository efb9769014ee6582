// A kernel of tile IR and programs of program IR that run it, interpreted on the same data.
#include "ir/interpreter.h"

#include "ir/interpreter_compare.h"
#include "ir/ir_text.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

int64_t tiles(int64_t size, int64_t block) { return (size + block - 1) / block; }

//===----------------------------------------------------------------------===//
// Matrix product, with blocks over all three dimensions
//===----------------------------------------------------------------------===//

const char* const kMatmulKernel = R"(
tile.kernel @matmul(%x: !tile.array<$in, [$m, $k], strides [$xs0, $xs1]>, %y: !tile.array<$in, [$k, $n], strides [$ys0, $ys1]>)
    -> !tile.array<f32, [$m, $n], strides [$n, 1]> {
  %zero = arith.constant 0 : index
  %m = tile.extent <$m>
  %n = tile.extent <$n>
  %k = tile.extent <$k>
  %out = tile.empty : !tile.array<f32, [$m, $n], strides [$n, 1]>
  tile.for (%tm: b0, %tn: b1) = (%zero, %zero) to (%m, %n) parallel {
    %f0 = arith.constant 0.0 : f32
    %init = tile.full %f0 tiles(%tm, %tn : !tile.tile<b0>, !tile.tile<b1>) at [0, 1] : f32
        -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    %sum = tile.for (%tk: b2) = (%zero) to (%k) carry(%acc = %init) : tensor<?x?xf32, #tile.dims<[b0, b1]>> {
      %a = tile.load %x[%tm, %tk] : !tile.array<$in, [$m, $k], strides [$xs0, $xs1]>
          -> tensor<?x?x$in, #tile.dims<[b0, b2]>> tiles(!tile.tile<b0>, !tile.tile<b2>)
      %b = tile.load %y[%tk, %tn] : !tile.array<$in, [$k, $n], strides [$ys0, $ys1]>
          -> tensor<?x?x$in, #tile.dims<[b2, b1]>> tiles(!tile.tile<b2>, !tile.tile<b1>)
      %next = tile.dot %a, %b, %acc : tensor<?x?x$in, #tile.dims<[b0, b2]>>, tensor<?x?x$in, #tile.dims<[b2, b1]>>,
          tensor<?x?xf32, #tile.dims<[b0, b1]>>
      tile.yield %next : tensor<?x?xf32, #tile.dims<[b0, b1]>>
    }
    tile.store %sum, %out[%tm, %tn] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [$m, $n], strides [$n, 1]>
        tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return %out : !tile.array<f32, [$m, $n], strides [$n, 1]>
}
)";

// One tile of the result at %i, %j; the product's lanes past the edges are not there.
const char* const kMatmulTile = R"(
  %i0 = arith.muli %i, %bm : index
  %j0 = arith.muli %j, %bn : index
  %i_left = arith.subi %m, %i0 : index
  %j_left = arith.subi %n, %j0 : index
  %i_valid = arith.minsi %bm, %i_left : index
  %j_valid = arith.minsi %bn, %j_left : index
  %f0 = arith.constant 0.0 : f32
  %init = tile.splat %f0 : f32 -> tensor<$bmx$bnxf32>
  %sum = scf.for %k0 = %zero to %k step %bk iter_args(%acc = %init) -> tensor<$bmx$bnxf32> {
    %k_left = arith.subi %k, %k0 : index
    %k_valid = arith.minsi %bk, %k_left : index
    %a = tile.load %x[%i0 : $bm, %k0 : $bk] valid [%i_valid, %k_valid]
        : !tile.array<$in, [$m, $k], strides [$xs0, $xs1]> -> tensor<$bmx$bkx$in>
    %b = tile.load %y[%k0 : $bk, %j0 : $bn] valid [%k_valid, %j_valid]
        : !tile.array<$in, [$k, $n], strides [$ys0, $ys1]> -> tensor<$bkx$bnx$in>
    %next = tile.dot %a, %b, %acc valid %k_valid : tensor<$bmx$bkx$in>, tensor<$bkx$bnx$in>, tensor<$bmx$bnxf32>
    scf.yield %next : tensor<$bmx$bnxf32>
  }
  tile.store %sum, %out[%i0 : $bm, %j0 : $bn] valid [%i_valid, %j_valid]
      : tensor<$bmx$bnxf32>, !tile.array<f32, [$m, $n], strides [$n, 1]>
)";

const char* const kMatmulProgram = R"(
tile.program @matmul(%x: !tile.array<$in, [$m, $k], strides [$xs0, $xs1]>, %y: !tile.array<$in, [$k, $n], strides [$ys0, $ys1]>,
                     %out: !tile.array<f32, [$m, $n], strides [$n, 1]>) attributes {$programs} {
  %zero = arith.constant 0 : index
  %m = arith.constant $m : index
  %n = arith.constant $n : index
  %k = arith.constant $k : index
  %bm = arith.constant $bm : index
  %bn = arith.constant $bn : index
  %bk = arith.constant $bk : index
  %id = tile.program_id
  $body
  tile.return
}
)";

const char* const kOneTile = "%i, %j = tile.map_program %id into [$rows, $columns] {group = $group} : index, index\n";
const char* const kPersistent = R"(
  %workers = tile.worker_count
  %count = arith.constant $count : index
  scf.for %tile = %id to %count step %workers {
  %i, %j = tile.map_program %tile into [$rows, $columns] {group = $group} : index, index
  $tile
  })";

struct Blocks {
  int64_t m, n, k;
};

// Interprets the kernel with all these blocks, and its programs; all results must be the same.
void expect_levels_agree(const Array& x, const Array& y, const std::vector<Blocks>& all_blocks) {
  int64_t m = x.size(0), k = x.size(1), n = y.size(1);
  std::string in = x.dtype() == bfloat16 ? "bf16" : "f32";
  Array expected = Array::zeros({m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l) expected.at<float>({i, j}) += x[i][l].item<float>() * y[l][j].item<float>();
  auto arrays = [&](std::string text) {
    return with(text, {{"xs0", x.stride(0)},
                       {"xs1", x.stride(1)},
                       {"ys0", y.stride(0)},
                       {"ys1", y.stride(1)},
                       {"in", in},
                       {"m", m},
                       {"n", n},
                       {"k", k}});
  };
  for (Blocks blocks : all_blocks) {
    std::string label = with("blocks $m, $n, $k", {{"m", blocks.m}, {"n", blocks.n}, {"k", blocks.k}});
    IrText kernel(arrays(kMatmulKernel));
    Array by_kernel = interpret_kernel(kernel.kernel(), {blocks.m, blocks.n, blocks.k}, {x, y})[0];
    EXPECT_TRUE(equal(by_kernel, expected)) << label << by_kernel << expected;
    int64_t rows = tiles(m, blocks.m), columns = tiles(n, blocks.n);
    for (bool persistent : {false, true})
      for (int64_t group : {1, 2, 3}) {
        std::string body =
            persistent ? with(kPersistent, {{"tile", kMatmulTile}}) : std::string(kOneTile) + kMatmulTile;
        std::string programs = persistent ? "persistent = true" : "programs = $rows_total : i64";
        std::string text = with(kMatmulProgram, {{"programs", programs}, {"body", body}});
        text = with(text, {{"rows_total", rows * columns},
                           {"count", rows * columns},
                           {"rows", rows},
                           {"columns", columns},
                           {"group", group},
                           {"bm", blocks.m},
                           {"bn", blocks.n},
                           {"bk", blocks.k}});
        Array by_program = Array::full({m, n}, 1e30);
        interpret_program(IrText(arrays(text)).program(), {x, y, by_program}, /*worker_count=*/3);
        EXPECT_TRUE(equal(by_program, expected)) << label << " group " << group << (persistent ? " persistent" : "");
      }
  }
}

const std::vector<Blocks> kBlocks{{1, 1, 1}, {4, 8, 2}, {3, 5, 7}, {16, 16, 16}};

TEST(Levels, agree_on_a_ragged_matrix_product) {
  expect_levels_agree(Array::randint(-4, 5, {7, 9}, 1, float32), Array::randint(-4, 5, {9, 11}, 2, float32), kBlocks);
  expect_levels_agree(Array::randint(-4, 5, {1, 1}, 1, float32), Array::randint(-4, 5, {1, 1}, 2, float32), kBlocks);
}

TEST(Levels, agree_on_any_layout) {
  Array x = Array::randint(-4, 5, {9, 7}, 1, float32).t(),
        y = Array::randint(-4, 5, {9, 1}, 2, float32).expand({9, 11});
  expect_levels_agree(x, y, kBlocks);
  expect_levels_agree(Array::randint(-4, 5, {14, 27}, 1, float32).slice(0, 0, 14, 2).slice(1, 1, 27, 3),
                      Array::randint(-4, 5, {11, 9}, 2, float32).t(), {{4, 8, 2}});
}

TEST(Levels, agree_on_bfloat16_operands) {
  expect_levels_agree(Array::randint(-4, 5, {7, 9}, 1, bfloat16), Array::randint(-4, 5, {9, 11}, 2, bfloat16),
                      {{4, 8, 2}});
}

TEST(Levels, agree_where_there_is_nothing_to_do) {
  expect_levels_agree(Array::empty({3, 0}), Array::empty({0, 4}), {{2, 2, 2}}); // sums over nothing
  expect_levels_agree(Array::empty({0, 3}), Array::ones({3, 4}), {{2, 2, 2}});
}

//===----------------------------------------------------------------------===//
// Softmax of rows, whole and rolled
//===----------------------------------------------------------------------===//

const char* const kSoftmaxKernel = R"(
tile.kernel @softmax(%x: !tile.array<$t, [$m, $n], strides [$n, 1]>) -> !tile.array<$t, [$m, $n], strides [$n, 1]>
    attributes {whole = #tile.dims<[$n]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <$m>
  %out = tile.empty : !tile.array<$t, [$m, $n], strides [$n, 1]>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %a = tile.load %x[%t, :] : !tile.array<$t, [$m, $n], strides [$n, 1]> -> tensor<?x?x$t, #tile.dims<[b0, r0]>>
        tiles(!tile.tile<b0>)
    %max = tile.reduce max %a dims [1] : tensor<?x?x$t, #tile.dims<[b0, r0]>> -> tensor<?x$t, #tile.dims<[b0]>>
    %max1 = tile.expand_dims %max dim 1 : tensor<?x$t, #tile.dims<[b0]>> -> tensor<?x1x$t, #tile.dims<[b0, 1]>>
    %max2 = tile.broadcast %max1 : tensor<?x1x$t, #tile.dims<[b0, 1]>> -> tensor<?x?x$t, #tile.dims<[b0, r0]>>
    %shifted = arith.subf %a, %max2 : tensor<?x?x$t, #tile.dims<[b0, r0]>>
    %e = math.exp %shifted : tensor<?x?x$t, #tile.dims<[b0, r0]>>
    %sum = tile.reduce add %e dims [1] : tensor<?x?x$t, #tile.dims<[b0, r0]>> -> tensor<?x$t, #tile.dims<[b0]>>
    %sum1 = tile.expand_dims %sum dim 1 : tensor<?x$t, #tile.dims<[b0]>> -> tensor<?x1x$t, #tile.dims<[b0, 1]>>
    %sum2 = tile.broadcast %sum1 : tensor<?x1x$t, #tile.dims<[b0, 1]>> -> tensor<?x?x$t, #tile.dims<[b0, r0]>>
    %r = arith.divf %e, %sum2 : tensor<?x?x$t, #tile.dims<[b0, r0]>>
    tile.store %r, %out[%t, :] : tensor<?x?x$t, #tile.dims<[b0, r0]>>, !tile.array<$t, [$m, $n], strides [$n, 1]>
        tiles(!tile.tile<b0>)
  }
  tile.return %out : !tile.array<$t, [$m, $n], strides [$n, 1]>
}
)";

const char* const kSoftmaxProgram = R"(
tile.program @softmax(%x: !tile.array<$t, [$m, $n], strides [$n, 1]>, %out: !tile.array<$t, [$m, $n], strides [$n, 1]>)
    attributes {programs = $programs : i64} {
  %m = arith.constant $m : index
  %block = arith.constant $b : index
  %i = tile.program_id
  %i0 = arith.muli %i, %block : index
  %left = arith.subi %m, %i0 : index
  %rows = arith.minsi %block, %left : index
  %a = tile.load %x[%i0 : $b, :] valid [%rows, _] : !tile.array<$t, [$m, $n], strides [$n, 1]> -> tensor<$bx$nx$t>
  %max = tile.reduce max %a dims [1] : tensor<$bx$nx$t> -> tensor<$bx$t> valid [%rows, _]
  %max1 = tile.expand_dims %max dim 1 : tensor<$bx$t> -> tensor<$bx1x$t>
  %max2 = tile.broadcast %max1 : tensor<$bx1x$t> -> tensor<$bx$nx$t>
  %shifted = arith.subf %a, %max2 : tensor<$bx$nx$t>
  %e = math.exp %shifted : tensor<$bx$nx$t>
  %sum = tile.reduce add %e dims [1] : tensor<$bx$nx$t> -> tensor<$bx$t>
  %sum1 = tile.expand_dims %sum dim 1 : tensor<$bx$t> -> tensor<$bx1x$t>
  %sum2 = tile.broadcast %sum1 : tensor<$bx1x$t> -> tensor<$bx$nx$t>
  %r = arith.divf %e, %sum2 : tensor<$bx$nx$t>
  tile.store %r, %out[%i0 : $b, :] valid [%rows, _] : tensor<$bx$nx$t>, !tile.array<$t, [$m, $n], strides [$n, 1]>
  tile.return
}
)";

void expect_softmax_agrees(const std::string& type, DType dtype) {
  Array x = Array::randn({5, 13}, 1, dtype);
  IrText kernel(with(kSoftmaxKernel, {{"t", type}, {"m", 5}, {"n", 13}}));
  Array by_kernel = interpret_kernel(kernel.kernel(), {2}, {x})[0];
  for (int64_t block : {1, 2, 4, 8}) {
    EXPECT_TRUE(equal(interpret_kernel(kernel.kernel(), {block}, {x})[0], by_kernel));
    Array by_program = Array::zeros({5, 13}, dtype);
    interpret_program(
        IrText(with(kSoftmaxProgram, {{"programs", tiles(5, block)}, {"b", block}, {"t", type}, {"m", 5}, {"n", 13}}))
            .program(),
        {x, by_program});
    EXPECT_TRUE(equal(by_program, by_kernel)) << block;
  }
  Array exact = Array::empty({5, 13}, float64);
  for (int64_t i = 0; i < 5; ++i) {
    std::vector<double> row = x[i].to_vector<double>();
    double largest = *std::max_element(row.begin(), row.end()), sum = 0;
    for (double& number : row) sum += number = std::exp(number - largest);
    for (int64_t j = 0; j < 13; ++j) exact.at<double>({i, j}) = row[j] / sum;
  }
  EXPECT_EQ(describe_difference(by_kernel, exact.to(dtype)), "");
}

TEST(Levels, agree_on_softmax) {
  expect_softmax_agrees("f32", float32);
  expect_softmax_agrees("f64", float64);
  expect_softmax_agrees("bf16", bfloat16);
  expect_softmax_agrees("f16", float16);
}

} // namespace
} // namespace tilewright
