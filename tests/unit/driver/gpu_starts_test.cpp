// What a search on a GPU begins with and keeps to, derived from what kernels do.
#include "matmul_kernel.h"

#include "config/config_point.h"
#include "config/normalise.h"
#include "driver/specialisation.h"
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

namespace tw = tilewright;
using tw::Config;
using tw::ConfigSpec;
using tw::test::matmul;

namespace {

const auto two_products = tw::kernel("two_products", {"q", "k", "v"}, [](tw::Tensor q, tw::Tensor k, tw::Tensor v) {
  auto [heads, queries, dim] = q.sizes<3>();
  auto out = tw::empty({heads, queries, dim}, q.dtype());
  for (auto [tile_h, tile_q] : tw::tile({heads, queries}, tw::block_size({1, tw::none}))) {
    auto acc = tw::zeros({tile_h, tile_q, dim});
    for (auto tile_k : tw::tile(k.size(1))) {
      auto scores = tw::dot(q[tile_h, tile_q, tw::_], k[tile_h, tile_k, tw::_].transpose(1, 2));
      acc = tw::baddbmm(acc, scores.to(v.dtype()), v[tile_h, tile_k, tw::_]);
    }
    out[tile_h, tile_q, tw::_] = acc;
  }
  return out;
});

const auto rows = tw::kernel("rows", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
  return out;
});

const auto pointwise = tw::kernel("pointwise", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile] = tw::exp(x[tile]);
  return out;
});

/// Only its layout is looked at.
tw::Array array(std::initializer_list<int64_t> sizes, tw::DType dtype = tw::bfloat16) {
  return tw::Array::empty(sizes, dtype);
}

ConfigSpec spec_of(const auto& kernel, const auto&... arrays) {
  tw::BoundCall call = kernel.bind(arrays...);
  return tw::specialise(call.core().definition(), call.call(), tw::Backend::Triton).spec;
}

ConfigSpec product_spec(int64_t size, tw::DType dtype = tw::bfloat16) {
  return spec_of(matmul, array({size, size}, dtype), array({size, size}, dtype));
}

using Ints = std::vector<int64_t>;

bool has_start(const ConfigSpec& spec, const Config& options) {
  return std::ranges::any_of(spec.starts, [&](const Config& start) {
    return std::ranges::all_of(options.options(),
                               [&](const auto& option) { return *start.find(option.name) == option.value; });
  });
}

} // namespace

TEST(GpuStarts, are_complete_legal_configs_and_the_first_is_the_default) {
  for (const ConfigSpec& spec :
       {product_spec(2048), product_spec(64), product_spec(2048, tw::float32),
        spec_of(two_products, array({8, 1024, 64}), array({8, 1024, 64}), array({8, 1024, 64})),
        spec_of(rows, array({4096, 8192})), spec_of(rows, array({3, 5})), spec_of(rows, array({256, 131072})),
        spec_of(pointwise, array({1 << 20})), spec_of(pointwise, array({7}))}) {
    ASSERT_FALSE(spec.starts.empty());
    EXPECT_EQ(spec.starts.front(), tw::default_config(spec));
    for (const Config& start : spec.starts) EXPECT_EQ(tw::normalise(spec, start).config, start);
  }
}

TEST(GpuStarts, of_products_are_as_large_as_leaves_every_multiprocessor_work) {
  EXPECT_EQ(tw::default_config(product_spec(4096)).get_ints("block_sizes"), (Ints{128, 256, 64}));
  EXPECT_EQ(tw::default_config(product_spec(4096)).get_int("num_warps"), 8);
  EXPECT_EQ(tw::default_config(product_spec(1024)).get_ints("block_sizes"), (Ints{64, 128, 64}));
  const Config best{
      {"block_sizes", {128, 256, 64}},        {"num_warps", 8},          {"num_stages", 3}, {"l2_groupings", {8}},
      {"pid_type", "persistent_interleaved"}, {"range_flattens", {true}}};
  EXPECT_TRUE(has_start(product_spec(4096), best));
  EXPECT_FALSE(has_start(product_spec(1024), best)) << "no program would have a second tile";
}

TEST(GpuStarts, of_products_without_tensor_cores_are_small) {
  EXPECT_EQ(tw::default_config(product_spec(4096, tw::float32)).get_ints("block_sizes"), (Ints{64, 64, 32}));
}

TEST(GpuStarts, of_two_products_in_a_loop_are_attentions) {
  const ConfigSpec spec =
      spec_of(two_products, array({128, 4096, 128}), array({128, 4096, 128}), array({128, 4096, 128}));
  EXPECT_EQ(tw::default_config(spec).get_ints("block_sizes"), (Ints{128, 128}));
  EXPECT_TRUE(has_start(spec, Config{{"block_sizes", {128, 64}}, {"num_warps", 4}, {"num_stages", 2}}));
}

TEST(GpuStarts, of_rows_give_a_thread_some_thirty_elements) {
  EXPECT_EQ(tw::default_config(spec_of(rows, array({4096, 8192}))).get_int("num_warps"), 8);
  EXPECT_EQ(tw::default_config(spec_of(rows, array({16384, 1024}))).get_int("num_warps"), 1);
  const ConfigSpec longest = spec_of(rows, array({256, 131072}));
  EXPECT_TRUE(has_start(longest, Config{{"reduction_loops", {16384}}}));
}

TEST(GpuLimits, keep_a_search_to_what_fits) {
  for (const ConfigSpec& spec : {product_spec(4096), product_spec(4096, tw::float32)}) {
    ASSERT_FALSE(spec.resource_limits.empty());
    const int64_t bytes = spec.resource_limits.back().terms.front().constant_factor;
    tw::Random random(3);
    for (int i = 0; i < 500; ++i) {
      const Config config = tw::decode(spec, tw::random_point(spec, random));
      const Ints blocks = config.get_ints("block_sizes");
      const int64_t own = config.get_ints("range_num_stages")[0];
      const int64_t stages = own > 0 ? own : config.get_int("num_stages");
      EXPECT_LE(stages * (blocks[0] + blocks[1]) * blocks[2] * bytes, 227 << 10) << config.to_json();
      EXPECT_LE(blocks[0] * blocks[1] / (32 * config.get_int("num_warps")), 128) << config.to_json();
    }
  }
}

TEST(GpuLimits, are_no_rule_for_a_users_config) {
  const ConfigSpec spec = product_spec(4096);
  const Config large{{"block_sizes", {256, 256, 128}}, {"num_stages", 4}, {"num_warps", 4}};
  EXPECT_EQ(tw::normalise(spec, large).config.get_ints("block_sizes"), (Ints{256, 256, 128}));
}
