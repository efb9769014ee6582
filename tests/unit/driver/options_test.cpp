// Each option of the config: two values give different code, and on integer-valued data the same bits.
#include "matmul_kernel.h"
#include "oracle.h"

namespace tw = tilewright;
using tw::Config;
using tw::test::CallUnderTest;
using tw::test::matmul;

namespace {

const auto centre = tw::kernel("centre", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto values = x[tile, tw::_];
    out[tile, tw::_] = values * tw::sum(values, 1, true) - tw::amax(values, 1, true);
  }
  return out;
});

// Twice x plus the other way round y: neighbours of the one are far apart in the other.
const auto add_transposed = tw::kernel("add_transposed", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] * 2 + y[tile_n, tile_m].t();
  return out;
});

const auto scale = tw::kernel("scale", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = x[tile_m, tile_n] * 3;
  return out;
});

// Sums over a short dimension, in an inner loop.
const auto sum_planes = tw::kernel("sum_planes", {"x"}, [](tw::Tensor x) {
  auto [planes, n] = x.sizes<2>();
  auto out = tw::empty({n}, x.dtype());
  for (auto tile : tw::tile(n)) {
    auto sum = tw::zeros({tile}, x.dtype());
    for (auto plane : tw::tile(planes)) sum = sum + tw::sum(x[plane, tile], 0);
    out[tile] = sum;
  }
  return out;
});

CallUnderTest matmul_call() {
  return CallUnderTest(matmul.bind(tw::Array::randint(-4, 5, {70, 45}, 1, tw::float32),
                                   tw::Array::randint(-4, 5, {45, 90}, 2, tw::float32)));
}
CallUnderTest centre_call() { return CallUnderTest(centre.bind(tw::Array::randint(-4, 5, {30, 100}, 1, tw::float32))); }

tw::BoundCall scale_bound() { return scale.bind(tw::Array::randint(-4, 5, {211, 3}, 1, tw::float32)); }
tw::BoundCall add_transposed_bound() {
  return add_transposed.bind(tw::Array::randint(-4, 5, {70, 50}, 1, tw::float32),
                             tw::Array::randint(-4, 5, {50, 70}, 2, tw::float32));
}
tw::BoundCall sum_planes_bound() { return sum_planes.bind(tw::Array::randint(-4, 5, {11, 100}, 1, tw::float32)); }

// Against the default config with some `changes`.
void expect_other_code_and_same_bits(const CallUnderTest& test, const char* option, tw::ConfigValue value,
                                     const Config& changes = {}) {
  Config one = test.default_config();
  for (const tw::ConfigOption& change : changes.options()) one.set(change.name, change.value);
  Config other = one;
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
  for (const char* type : {"persistent_blocked", "persistent_interleaved"}) {
    expect_other_code_and_same_bits(matmul_call(), "pid_type", type);
    expect_other_code_and_same_bits(centre_call(), "pid_type", type, {{"block_sizes", {1}}});
  }
  expect_other_code_and_same_bits(matmul_call(), "pid_type", "persistent_blocked",
                                  {{"block_sizes", {8, 16, 16}}, {"pid_type", "persistent_interleaved"}});
}

tw::LaunchPlan plan_of(const CallUnderTest& test, const Config& config) {
  return tw::compile_config(test.specialisation().tile_ir, config).plan;
}

TEST(options, num_sm_multiplier) {
  CallUnderTest test = matmul_call();
  for (const char* type : {"persistent_blocked", "persistent_interleaved"}) {
    Config one = test.default_config();
    one.set("block_sizes", {8, 16, 16}).set("pid_type", type);
    Config several = one;
    several.set("num_sm_multiplier", 4);
    EXPECT_NE(test.stage(one, tw::Stage::Program), test.stage(several, tw::Stage::Program));
    EXPECT_EQ(plan_of(test, one).programs_per_worker, 1);
    EXPECT_EQ(plan_of(test, several).programs_per_worker, 4);
    EXPECT_TRUE(equal(test.run(one)[0], test.run(several)[0]));
    EXPECT_TRUE(equal(test.interpret(several)[0], test.run(several)[0]));
  }
}

// Decides upon the launch, not the code.
TEST(options, num_threads) {
  const int before = tw::num_threads();
  tw::set_num_threads(4);
  {
    CallUnderTest test = matmul_call();
    Config all = test.default_config(), one = all;
    EXPECT_EQ(test.specialisation().spec.find("num_threads")->entries.size(), 1u);
    ASSERT_TRUE(all.find("num_threads")->is_null());
    one.set("num_threads", 1);
    EXPECT_EQ(plan_of(test, all).max_workers, tw::kMaxThreads);
    EXPECT_EQ(plan_of(test, one).max_workers, 1);
    EXPECT_TRUE(equal(test.run(one)[0], test.run(all)[0]));
    one.set("pid_type", "persistent_interleaved"); // a program per thread: one
    EXPECT_TRUE(equal(test.run(one)[0], test.run(all)[0]));
  }
  tw::set_num_threads(before);
}

TEST(options, flatten_loops) {
  CallUnderTest test(scale_bound());
  expect_other_code_and_same_bits(test, "flatten_loops", {true}, {{"block_sizes", {16, 3}}});
  expect_other_code_and_same_bits(test, "flatten_loops", {true}, {{"block_sizes", {7, 2}}});
  // Rows of three become whole vectors.
  Config config = test.default_config();
  config.set("block_sizes", {64, 3}).set("flatten_loops", {true});
  EXPECT_NE(test.stage(config, tw::Stage::Program).find("tensor<192xf32>"), std::string::npos);
}

TEST(options, indexing) {
  CallUnderTest test(add_transposed_bound());
  const Config blocks{{"block_sizes", {32, 32}}};
  // Vectors along y's neighbours where x leaves the choice to it.
  expect_other_code_and_same_bits(test, "indexing", {"pointer", "block_ptr", "block_ptr"}, blocks);
  expect_other_code_and_same_bits(test, "indexing", {"pointer", "block_ptr", "pointer"}, blocks);
  expect_other_code_and_same_bits(test, "indexing", {"block_ptr", "tensor_descriptor", "block_ptr"}, blocks);
  expect_other_code_and_same_bits(test, "indexing", {"block_ptr", "block_ptr", "tensor_descriptor"}, blocks);
  CallUnderTest rows = centre_call(); // a row that is read three times, from a copy
  expect_other_code_and_same_bits(rows, "indexing", {"tensor_descriptor", "block_ptr"});
  CallUnderTest product = matmul_call();
  expect_other_code_and_same_bits(product, "indexing", {"tensor_descriptor", "block_ptr", "block_ptr"});
}

TEST(options, load_eviction_policies) {
  CallUnderTest test(scale_bound());
  const Config blocks{{"block_sizes", {64, 3}}, {"flatten_loops", {true}}};
  for (const char* policy : {"first", "last"})
    expect_other_code_and_same_bits(test, "load_eviction_policies", tw::ConfigValue::List{policy}, blocks);
  expect_other_code_and_same_bits(
      test, "load_eviction_policies", tw::ConfigValue::List{"first"},
      {{"block_sizes", {64, 3}}, {"flatten_loops", {true}}, {"load_eviction_policies", tw::ConfigValue::List{"last"}}});
}

TEST(options, store_eviction_policies) {
  CallUnderTest test(scale_bound());
  // Past the caches; small results go into them anyway.
  const Config blocks{{"block_sizes", {64, 3}}, {"flatten_loops", {true}}};
  expect_other_code_and_same_bits(test, "store_eviction_policies", tw::ConfigValue::List{"first"}, blocks);
  Config config = test.default_config();
  config.set("store_eviction_policies", tw::ConfigValue::List{"last"});
  EXPECT_EQ(test.stage(config, tw::Stage::Loops), test.stage(test.default_config(), tw::Stage::Loops));
}

TEST(options, static_ranges) {
  CallUnderTest test(sum_planes_bound());
  expect_other_code_and_same_bits(test, "static_ranges", {true}, {{"block_sizes", {32, 4}}});
  expect_other_code_and_same_bits(test, "static_ranges", {true}, {{"block_sizes", {64, 2}}});
}

TEST(options, vector_width) {
  CallUnderTest test = centre_call();
  std::vector<int> widths = tw::cpu::host_target().vector_widths();
  EXPECT_EQ(test.default_config().has("vector_width"), widths.size() > 1);
  if (widths.size() > 1) expect_other_code_and_same_bits(test, "vector_width", widths.front());
  EXPECT_FALSE(matmul_call().default_config().has("vector_width"));
}

TEST(options, register_tile) {
  CallUnderTest test = matmul_call();
  for (tw::cpu::RegisterTile tile : tw::cpu::host_target().dot_tiles())
    if (tw::ConfigValue value{tile.rows, tile.vectors}; value != *test.default_config().find("register_tile"))
      expect_other_code_and_same_bits(test, "register_tile", value);
}

// The oracle knows nothing of how memory is reached.
TEST(options, all_agree_with_the_interpreter) {
  tw::test::expect_agrees_with_oracle(scale_bound(), 25, 1);
  tw::test::expect_agrees_with_oracle(add_transposed_bound(), 25, 2);
  tw::test::expect_agrees_with_oracle(sum_planes_bound(), 25, 11);
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
  std::set<std::string> tested{
      "block_sizes",   "loop_orders",       "flatten_loops",          "reduction_loops",
      "pid_type",      "num_sm_multiplier", "l2_groupings",           "range_unroll_factors",
      "static_ranges", "indexing",          "load_eviction_policies", "store_eviction_policies",
      "num_threads",   "vector_width",      "register_tile"};
  for (const CallUnderTest& test : {matmul_call(), centre_call(), CallUnderTest(scale_bound()),
                                    CallUnderTest(add_transposed_bound()), CallUnderTest(sum_planes_bound())})
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
