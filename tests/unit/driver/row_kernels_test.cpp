// Kernels that go over their rows several times: reductions in the loops that keep their operand, and stores that come
// one program late. The latter takes outputs larger than the last cache; so a CPU with a cache of one byte is compiled
// for.
#include "oracle.h"

namespace tw = tilewright;
using tw::test::CallUnderTest;
using tw::test::expect_agrees_with_oracle;

namespace {

const auto softmax = tw::kernel("softmax", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
  return out;
});

const auto softmax_of_columns = tw::kernel("softmax_of_columns", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(1))) out[tw::_, tile] = tw::softmax(x[tw::_, tile], 0);
  return out;
});

// The powers are kept in x's type; their sum is float32's.
const auto narrow_powers = tw::kernel("narrow_powers", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto powers = tw::exp(x[tile, tw::_]);
    auto total = tw::sum(powers.to(tw::float32), 1, true);
    out[tile, tw::_] = powers / total.to(x.dtype());
  }
  return out;
});

const auto share_of_all = tw::kernel("share_of_all", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto powers = tw::exp(x[tile, tw::_, tw::_]);
    auto total = tw::sum(tw::sum(powers, 2), 1);
    out[tile, tw::_, tw::_] = powers / total[tw::_, tw::none, tw::none];
  }
  return out;
});

const auto log_softmax = tw::kernel("log_softmax", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  auto totals = tw::empty({m}, tw::float32);
  for (auto tile : tw::tile(m)) {
    auto values = x[tile, tw::_].to(tw::float32);
    auto powers = tw::exp(values);
    auto total = tw::sum(powers, 1);
    totals[tile] = total;
    out[tile, tw::_] = tw::sqrt(powers) - tw::log(total)[tw::_, tw::none] * powers;
  }
  return std::pair(out, totals);
});

const auto normalise = tw::kernel("normalise", {"x", "weight"}, [](tw::Tensor x, tw::Tensor weight) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto values = x[tile, tw::_].to(tw::float32);
    auto centred = values - tw::mean(values, 1, true);
    auto variance = tw::mean(centred * centred, 1, true);
    out[tile, tw::_] = centred * tw::rsqrt(variance + 1e-5) * weight[tw::_];
  }
  return out;
});

const auto in_place = tw::kernel("in_place", {"x"}, [](tw::Tensor x) {
  for (auto tile : tw::tile(x.size(0))) x[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
});

const auto two_tiles = tw::kernel("two_tiles", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto [tile_m, tile_n] : tw::tile({m, n})) {
    auto powers = tw::exp(x[tile_m, tile_n]);
    out[tile_m, tile_n] = powers / tw::sum(powers, 1, true);
  }
  return out;
});

tw::cpu::CpuTarget cpu_that_streams() {
  tw::cpu::CpuTarget target = tw::cpu::host_target();
  target.l3_bytes = 1;
  return target;
}

// Every config gives the same through streaming stores as through ordinary ones, and what the oracle gives.
void expect_agrees_streaming(const tw::BoundCall& call, size_t count, int64_t terms) {
  expect_agrees_with_oracle(call, count, terms);
  CallUnderTest test(call);
  std::vector<tw::Config> configs = test.configs(count);
  configs.push_back(test.default_config());
  for (const tw::Config& config : configs) {
    SCOPED_TRACE(config.to_json());
    std::vector<tw::Array> expected = test.run(config), found = test.run_on(cpu_that_streams(), config);
    ASSERT_EQ(expected.size(), found.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(tw::equal(found[i], expected[i]));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RowKernels, softmax_of_any_width_agrees) {
  for (int64_t width : {1, 7, 16, 64, 100, 512, 1000, 1040})
    expect_agrees_streaming(softmax.bind(tw::Array::randn({13, width}, 1)), 4, width);
}

// Else the tests here would compare like with like.
TEST(RowKernels, stores_of_large_outputs_come_late) {
  for (int64_t width : {512, 1000}) {
    CallUnderTest test(softmax.bind(tw::Array::randn({64, width}, 1)));
    auto loops_for = [&](const tw::cpu::CpuTarget& target) {
      std::string text;
      tw::with_kernel(test.specialisation().tile_ir, [&](tw::KernelOp kernel) {
        text = tw::stage_text(kernel, test.default_config(), target, tw::Stage::Loops);
      });
      return text;
    };
    EXPECT_NE(loops_for(cpu_that_streams()).find("scf.if"), std::string::npos) << width;
    EXPECT_EQ(loops_for(tw::cpu::host_target()).find("scf.if"), std::string::npos) << width;
  }
}

TEST(RowKernels, softmax_of_columns_agrees) {
  for (int64_t height : {5, 200})
    expect_agrees_streaming(softmax_of_columns.bind(tw::Array::randn({height, 67}, 2)), 6, height);
}

TEST(RowKernels, transposed_rows_agree) {
  expect_agrees_streaming(softmax.bind(tw::Array::randn({130, 21}, 3).t()), 6, 130);
}

TEST(RowKernels, sixteen_bit_values_are_reduced_as_they_are_kept) {
  for (tw::DType dtype : {tw::float16, tw::bfloat16}) {
    expect_agrees_streaming(narrow_powers.bind(tw::Array::randn({9, 333}, 4, dtype)), 4, 333);
    expect_agrees_streaming(softmax.bind(tw::Array::randn({9, 256}, 5, dtype)), 4, 256);
  }
}

TEST(RowKernels, several_reduced_dimensions_agree) {
  expect_agrees_streaming(share_of_all.bind(tw::Array::randn({6, 5, 37}, 6)), 6, 185);
}

TEST(RowKernels, two_outputs_agree) { expect_agrees_streaming(log_softmax.bind(tw::Array::randn({11, 96}, 7)), 6, 96); }

TEST(RowKernels, norms_agree) {
  expect_agrees_streaming(normalise.bind(tw::Array::randn({17, 144}, 8), tw::Array::randn({144}, 9)), 6, 144);
}

TEST(RowKernels, arguments_stored_in_place_agree) {
  expect_agrees_streaming(in_place.bind(tw::Array::randn({12, 128}, 10)), 4, 128);
}

TEST(RowKernels, ragged_tiles_agree) {
  expect_agrees_streaming(two_tiles.bind(tw::Array::randn({19, 203}, 11)), 12, 203);
}

} // namespace
