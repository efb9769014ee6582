// Each option of the config: two values give different code, and on integer-valued data the same bits.
#include "oracle.h"

namespace tw = tilewright;
using tw::Config;
using tw::test::CallUnderTest;

namespace {

const auto matmul = tw::kernel("matmul", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, k] = x.sizes<2>();
  auto n = y.size(1);
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) {
    auto acc = tw::zeros({tile_m, tile_n}, tw::float32);
    for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
    out[tile_m, tile_n] = acc;
  }
  return out;
});

const auto centre = tw::kernel("centre", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto values = x[tile, tw::_];
    out[tile, tw::_] = values * tw::sum(values, 1, true) - tw::amax(values, 1, true);
  }
  return out;
});

CallUnderTest matmul_call() {
  return CallUnderTest(matmul.bind(tw::Array::randint(-4, 5, {70, 45}, 1, tw::float32),
                                   tw::Array::randint(-4, 5, {45, 90}, 2, tw::float32)));
}
CallUnderTest centre_call() { return CallUnderTest(centre.bind(tw::Array::randint(-4, 5, {30, 100}, 1, tw::float32))); }

void expect_other_code_and_same_bits(const CallUnderTest& test, const char* option, tw::ConfigValue value) {
  Config one = test.default_config(), other = one;
  ASSERT_TRUE(one.has(option)) << one.to_json();
  other.set(option, value);
  ASSERT_FALSE(one == other) << one.to_json();
  EXPECT_NE(test.stage(one, tw::Stage::Loops), test.stage(other, tw::Stage::Loops)) << other.to_json();
  std::vector<tw::Array> expected = test.run(one), found = test.run(other);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(equal(found[i], expected[i])) << other.to_json();
}

} // namespace

TEST(options, block_sizes) {
  expect_other_code_and_same_bits(matmul_call(), "block_sizes", {16, 32, 8});
  expect_other_code_and_same_bits(matmul_call(), "block_sizes", {5, 7, 3});
  expect_other_code_and_same_bits(centre_call(), "block_sizes", {7});
}

TEST(options, loop_orders) { expect_other_code_and_same_bits(matmul_call(), "loop_orders", {{1, 0}}); }

TEST(options, reduction_loops) { expect_other_code_and_same_bits(centre_call(), "reduction_loops", {32}); }

TEST(options, pid_type) {
  expect_other_code_and_same_bits(matmul_call(), "pid_type", "persistent_blocked");
  expect_other_code_and_same_bits(centre_call(), "pid_type", "persistent_blocked");
}

TEST(options, l2_groupings) {
  CallUnderTest test = matmul_call();
  Config small = test.default_config();
  small.set("block_sizes", {8, 16, 16});
  Config grouped = small;
  grouped.set("l2_groupings", {4});
  EXPECT_NE(test.stage(small, tw::Stage::Loops), test.stage(grouped, tw::Stage::Loops));
  EXPECT_TRUE(equal(test.run(small)[0], test.run(grouped)[0]));
}

TEST(options, range_unroll_factors) {
  CallUnderTest test = matmul_call();
  Config small = test.default_config();
  small.set("block_sizes", {8, 16, 8});
  Config unrolled = small;
  unrolled.set("range_unroll_factors", {2});
  EXPECT_NE(test.stage(small, tw::Stage::Loops), test.stage(unrolled, tw::Stage::Loops));
  EXPECT_TRUE(equal(test.run(small)[0], test.run(unrolled)[0]));
}

TEST(options, every_one_that_is_offered_is_tested_here) {
  std::set<std::string> tested{"block_sizes", "loop_orders",  "reduction_loops",
                               "pid_type",    "l2_groupings", "range_unroll_factors"};
  for (const CallUnderTest& test : {matmul_call(), centre_call()})
    for (const tw::ConfigOptionSpec& option : test.specialisation().spec.options)
      EXPECT_TRUE(tested.contains(option.name)) << option.name;
}

// However large the blocks, code is made for vectors and register tiles: their number is what the kernel says.
TEST(code_size, does_not_grow_with_block_sizes) {
  CallUnderTest test = matmul_call();
  auto instructions = [&](tw::ConfigValue blocks) {
    Config config = test.default_config();
    config.set("block_sizes", std::move(blocks));
    return tw::compile_config(test.specialisation().tile_ir, config).instruction_count;
  };
  size_t most = 0;
  for (int64_t block : {1, 2, 3, 8, 16, 31, 32, 64, 90}) most = std::max(most, instructions({block, block, block}));
  EXPECT_LT(most, 1500u);

  tw::Array x = tw::Array::randn({64, 8192}, 1);
  CallUnderTest rows(centre.bind(x));
  for (int64_t block : {1, 2, 7, 16, 64}) {
    Config config = rows.default_config();
    config.set("block_sizes", {block});
    EXPECT_LT(tw::compile_config(rows.specialisation().tile_ir, config).instruction_count, 800u) << block;
  }
}
