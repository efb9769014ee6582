// What the host part of a kernel asks of the config: registered block sizes as integers, and tunables. And arrays that
// the lambda captures.
#include "oracle.h"

namespace tw = tilewright;
using tw::test::CallUnderTest;
using tw::test::expect_agrees_with_oracle;

namespace {

tw::Array numbers(tw::IndexList sizes, tw::DType dtype = tw::float32, uint64_t seed = 1) {
  return tw::Array::randint(-8, 9, sizes, seed).to(dtype);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const tw::Error& error) {
    return error.what();
  }
  return "no error";
}

// Sums of columns in two stages: as many rows of partial sums as there are blocks of rows, then their sum.
const auto column_sums = tw::kernel("column_sums", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto block = tw::register_block_size(m);
  auto partial = tw::empty({tw::cdiv(m, block), n});
  auto out = tw::empty({n});
  for (auto [tile_m, tile_n] : tw::tile({m, n}, tw::block_size({block, tw::none})))
    partial[tile_m.id(), tile_n] = tw::sum(x[tile_m, tile_n], 0);
  tw::barrier();
  for (auto tile_n : tw::tile(n)) out[tile_n] = tw::sum(partial[tw::_, tile_n], 0);
  return out;
});

// A product of matrices whose inner dimension is cut into `split` parts.
const auto split_k = tw::kernel("split_k", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, k] = x.sizes<2>();
  auto [k2, n] = y.sizes<2>();
  auto split = tw::register_tunable("split", {1, 2, 3, 8});
  auto part = tw::cdiv(k, split);
  auto partial = tw::empty({split, m, n});
  auto out = tw::empty({m, n});
  for (auto [s, tile_m, tile_n] : tw::tile({split, m, n}, tw::block_size({1, tw::none, tw::none}))) {
    auto acc = tw::zeros({tile_m, tile_n});
    for (auto tile_k : tw::tile(s.begin() * part, tw::min((s.begin() + 1) * part, k)))
      acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
    partial[s.begin(), tile_m, tile_n] = acc;
  }
  tw::barrier();
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = tw::sum(partial[tw::_, tile_m, tile_n], 0);
  return out;
});

// What is not taken has other loops, options and tunables.
const auto branches = tw::kernel("branches", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m});
  auto way = tw::register_tunable("way", {0, 1, 2});
  switch (way.value()) {
  case 0:
    for (auto tile : tw::tile(m)) out[tile] = tw::sum(x[tile, tw::_], 1);
    break;
  case 1:
    for (auto tile : tw::tile(m)) {
      auto acc = tw::zeros({tile});
      for (auto tile_n : tw::tile(n)) acc += tw::sum(x[tile, tile_n], 1);
      out[tile] = acc;
    }
    break;
  default: {
    auto step = tw::register_tunable("step", {1, 4});
    for (auto tile : tw::tile(m, tw::block_size(step))) out[tile] = tw::sum(x[tile, tw::_], 1);
  }
  }
  return out;
});

// The host integer feeds everything that host integers are for.
const auto host_arithmetic = tw::kernel("host_arithmetic", {"x"}, [](tw::Tensor x) {
  tw::Size n = x.size(0);
  auto block = tw::register_block_size(4, 32);
  tw::Size twice = 2 * block, rest = (block + 1) % 3, least = tw::min(block, 16), power = tw::next_power_of_2(block);
  auto info = tw::empty({5}, tw::int64);
  auto out = tw::empty({tw::cdiv(n, twice) * twice}, x.dtype()).fill(0);
  for (auto tile : tw::tile(n, tw::block_size(twice))) out[tile] = x[tile] * (block > 8 ? 2 : 3) + block;
  for (auto i : tw::grid(1)) {
    info[i] = twice;
    info[i + 1] = rest;
    info[i + 2] = least;
    info[i + 3] = power;
    info[i + 4] = tw::max(0, block - 5) / 2;
  }
  return std::tuple(out, info);
});

TEST(HostNumbers, a_block_size_sizes_an_allocation) {
  for (int64_t m : {1, 7, 100}) {
    tw::Array x = numbers({m, 5});
    expect_agrees_with_oracle(column_sums.bind(x), 6, m);
    for (int64_t block : {1, 3, 64, 128}) {
      tw::Array sums = column_sums.with(tw::Config{{"block_sizes", {block, 4, 2}}})(x);
      for (int64_t j = 0; j < 5; ++j) {
        float expected = 0;
        for (int64_t i = 0; i < m; ++i) expected += x.at<float>({i, j});
        EXPECT_EQ(sums.at<float>({j}), expected) << block;
      }
    }
  }
}

TEST(HostNumbers, a_tunable_splits_a_sum) {
  tw::Array x = numbers({9, 21}), y = numbers({21, 6}, tw::float32, 2);
  expect_agrees_with_oracle(split_k.bind(x, y), 8, 21);
  tw::Array whole = split_k.with(tw::Config{{"block_sizes", {4, 4, 4, 4, 4}}})(x, y);
  for (int64_t split : {2, 3, 8})
    EXPECT_TRUE(equal(split_k.with(tw::Config{{"block_sizes", {4, 4, 8, 2, 4}}, {"split", split}})(x, y), whole));
}

TEST(HostNumbers, a_branch_on_a_tunable_is_settled_for_each_config) {
  tw::Array x = numbers({13, 10});
  expect_agrees_with_oracle(branches.bind(x), 12, 10);
  tw::Array first = branches.with(tw::Config{{"block_sizes", {4}}})(x);
  EXPECT_TRUE(equal(branches.with(tw::Config{{"block_sizes", {4, 3}}, {"way", 1}})(x), first));
  EXPECT_TRUE(equal(branches.with(tw::Config{{"way", 2}, {"step", 4}})(x), first));
  // Each way has options of its own.
  EXPECT_NE(message_of([&] { branches.with(tw::Config{{"block_sizes", {4, 3}}})(x); }).find("found 2 values"),
            std::string::npos);
  EXPECT_NE(message_of([&] { branches.with(tw::Config{{"block_sizes", {4}}, {"step", 4}})(x); }).find("'step'"),
            std::string::npos);
}

TEST(HostNumbers, take_part_in_all_arithmetic) {
  tw::Array x = numbers({50});
  expect_agrees_with_oracle(host_arithmetic.bind(x), 5, 1);
  auto [out, info] = host_arithmetic.with(tw::Config{{"block_sizes", {16}}})(x);
  EXPECT_EQ(out.size(0), 64);
  EXPECT_EQ(info.to_vector<int64_t>(), std::vector<int64_t>({32, 2, 16, 16, 5}));
  EXPECT_EQ(out.at<float>({49}), 2 * x.at<float>({49}) + 16);
  EXPECT_EQ(out.at<float>({50}), 0);
  // Below the least size, and above what a search tries.
  auto [small, raised] = host_arithmetic.with(tw::Config{{"block_sizes", {1}}})(x);
  EXPECT_EQ(raised.at<int64_t>({0}), 8);
  auto [large, past] = host_arithmetic.with(tw::Config{{"block_sizes", {100}}})(x);
  EXPECT_EQ(past.at<int64_t>({0}), 200);
  EXPECT_EQ(large.size(0), 200);
}

TEST(HostNumbers, stand_in_the_search_space) {
  CallUnderTest test(host_arithmetic.bind(numbers({50})));
  const tw::ConfigOptionSpec* blocks = test.specialisation().spec.find("block_sizes");
  const auto& entry = std::get<tw::SizeEntry>(blocks->entries[0]);
  EXPECT_EQ(entry.min, 4);
  EXPECT_EQ(entry.max, 32);
  CallUnderTest split(split_k.bind(numbers({9, 21}), numbers({21, 6})));
  const tw::ConfigOptionSpec* tunable = split.specialisation().spec.find("split");
  ASSERT_NE(tunable, nullptr);
  EXPECT_EQ(tw::legal_values(tunable->entries[0]), "one of 1, 2, 3, 8");
}

TEST(HostNumbers, are_tuned) {
  tw::Settings settings;
  settings.autotune_effort = tw::AutotuneEffort::quick;
  settings.autotune_budget_seconds = 0.2;
  tw::Array x = numbers({40, 30}), y = numbers({30, 20});
  EXPECT_TRUE(equal(split_k.with(settings)(x, y), split_k.with(tw::Config{{"block_sizes", {4, 4, 4, 4, 4}}})(x, y)));
  tw::Array wide = numbers({300, 6});
  EXPECT_TRUE(equal(column_sums.with(settings)(wide), column_sums.with(tw::Config{{"block_sizes", {8, 2, 2}}})(wide)));
}

TEST(HostNumbers, leave_a_kernel_of_one_family_over_all_sizes) {
  auto family = [](tw::BoundCall call) { return CallUnderTest(std::move(call)).specialisation().key.family_hash; };
  std::string sums = family(column_sums.bind(numbers({100, 5})));
  EXPECT_EQ(family(column_sums.bind(numbers({300, 8}))), sums);
  EXPECT_EQ(family(column_sums.bind(numbers({5000, 8}))), sums);
  EXPECT_NE(family(host_arithmetic.bind(numbers({50}))), sums);
  std::string split = family(split_k.bind(numbers({9, 21}), numbers({21, 6})));
  EXPECT_EQ(family(split_k.bind(numbers({30, 64}), numbers({64, 7}))), split);
}

TEST(HostNumbers, misuse_is_refused) {
  auto over = [](auto f) {
    return tw::kernel("k", {"x"}, [f](tw::Tensor x) {
      f(x);
      for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
    });
  };
  tw::Array x = numbers({8});
  auto says = [&](auto f, const char* what, const tw::Config& config = {}) {
    std::string message = message_of([&] { over(f).with(config)(x); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
    EXPECT_NE(message.find("host_numbers_test.cpp"), std::string::npos) << message;
  };
  says([](tw::Tensor) { tw::register_tunable("a", {}); }, "has no choices");
  says([](tw::Tensor) { tw::register_tunable("a", {1, 2, 1}); }, "has the choice 1 twice");
  says([](tw::Tensor) { tw::register_tunable("", {1}); }, "needs a name");
  says([](tw::Tensor) { tw::register_tunable("block_sizes", {1}); }, "configs have an option of this name already");
  says(
      [](tw::Tensor) {
        tw::register_tunable("a", {1, 2});
        tw::register_tunable("a", {1, 2});
      },
      "is called twice");
  says([](tw::Tensor) { tw::register_tunable("a", {1, 2}); }, "config option 'a': found 3, expected one of 1, 2",
       {{"block_sizes", {4}}, {"a", 3}});
  says([](tw::Tensor) { tw::register_block_size(3, 8); }, "must be a power of two, found 3");
  says([](tw::Tensor) { tw::register_block_size(8, 4); }, "the largest size is below the least");
}

//
// Captured arrays
//

TEST(CapturedArrays, are_arguments_that_no_call_passes) {
  tw::Array table = numbers({33, 7}, tw::bfloat16, 5), scale = numbers({7}).t();
  auto lookup = tw::kernel("lookup", {"ids"}, [table, scale](tw::Tensor ids) {
    tw::Tensor rows = table, by = scale, again = table;
    auto out = tw::empty({ids.size(0), rows.size(1)});
    for (auto tile : tw::tile(ids.size(0)))
      out[tile, tw::_] = rows[ids[tile], tw::_] * by[tw::_] + tw::load(again, {ids[tile], tw::_});
    return out;
  });
  for (int64_t n : {1, 19}) {
    tw::Array ids = tw::Array::randint(0, 33, {n}, 3);
    expect_agrees_with_oracle(lookup.bind(ids), 4, 1);
    tw::Array found = lookup.with(tw::Config{{"block_sizes", {4}}})(ids);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < 7; ++j) {
        float entry = table.at<tw::BFloat16>({ids.at<int64_t>({i}), j});
        EXPECT_EQ(found.at<float>({i, j}), entry * scale.at<float>({j}) + entry);
      }
  }
}

TEST(CapturedArrays, may_be_written_to_and_may_not_overlap_then) {
  tw::Array counts = tw::Array::zeros({4}, tw::int32);
  auto count = tw::kernel("count", {"x"}, [counts](tw::Tensor x) {
    tw::Tensor into = counts;
    for (auto tile : tw::tile(x.size(0))) tw::atomic_add(into, {x[tile]}, 1);
  });
  count.with(tw::Config{{"block_sizes", {4}}})(tw::Array::from_vector<int32_t>({0, 1, 1, 3, 3, 3, 0}));
  EXPECT_EQ(counts.to_vector<int32_t>(), std::vector<int32_t>({2, 2, 0, 3}));
  EXPECT_NE(message_of([&] { count.with(tw::Config{{"block_sizes", {4}}})(counts); }).find("overlaps"),
            std::string::npos);
}

} // namespace
