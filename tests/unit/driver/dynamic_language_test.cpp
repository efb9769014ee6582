// Run-time sizes together with the rest of the language: host integers from the config, captured arrays, sorting,
// uint8, arrays of more than 2^31 elements.
#include "oracle.h"

#include "driver/specialisation.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;

namespace {

tw::Settings sizes(bool are_static) {
  tw::Settings settings;
  settings.autotune_effort = tw::AutotuneEffort::none;
  settings.static_shapes = are_static;
  return settings;
}

tw::Array integers(tw::IndexList sizes, uint64_t seed, tw::DType dtype = tw::float32) {
  return tw::Array::randint(-8, 9, sizes, seed, tw::int32).to(dtype);
}

template <class... A> void expect_oracle(const auto& kernel, size_t configs, const A&... arguments) {
  expect_agrees_with_oracle(kernel.bind(arguments...).with(sizes(false)), configs, 64);
}

// Memory of which only the touched pages are there.
tw::Array sparse(tw::IndexList sizes, tw::DType dtype) {
  size_t bytes = size_in_bytes(dtype);
  for (int64_t size : sizes) bytes *= static_cast<size_t>(size);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  std::shared_ptr<void> owner(memory, [bytes](void* address) { munmap(address, bytes); });
  return tw::Array::from_pointer(memory, sizes, dtype, owner);
}

tw::Array numbers(std::initializer_list<int64_t> values) {
  tw::Array array = tw::Array::empty({static_cast<int64_t>(values.size())}, tw::int64);
  std::copy(values.begin(), values.end(), array.data<int64_t>());
  return array;
}

} // namespace

TEST(dynamic_language, allocations_in_blocks_of_the_config) {
  const auto sums = tw::kernel("sums_of_blocks", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto block = tw::register_block_size(m);
    auto partial = tw::empty({tw::cdiv(m, block), n}, tw::float32);
    for (auto [tile_m, tile_n] : tw::tile({m, n}, tw::block_size({block, tw::none})))
      partial[tile_m.id(), tile_n] = tw::sum(x[tile_m, tile_n], 0);
    return partial;
  });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{7, 5}, {64, 3}, {130, 9}})
    expect_oracle(sums, 4, integers({m, n}, 1));
}

TEST(dynamic_language, captured_arrays_keep_their_sizes) {
  tw::Array table = integers({9, 20}, 3);
  const auto lookup = tw::kernel("lookup", {"ids", "x"}, [table](tw::Tensor ids, tw::Tensor x) {
                        tw::Tensor rows = table;
                        auto out = tw::empty({ids.size(0), rows.size(1)}, tw::float32);
                        for (auto tile : tw::tile(ids.size(0)))
                          out[tile, tw::_] = rows[ids[tile], tw::_] * x[tile, tw::none];
                        return out;
                      }).with(sizes(false));
  for (int64_t count : {3, 40, 7}) {
    tw::Array ids = tw::Array::randint(0, 9, {count}, 1, tw::int64), x = integers({count}, 2), out = lookup(ids, x);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < 20; ++j)
        ASSERT_EQ(out.slice(0, i, i + 1).slice(1, j, j + 1).item<float>(),
                  table.data<float>()[ids.data<int64_t>()[i] * 20 + j] * x.data<float>()[i]);
  }
  EXPECT_EQ(lookup.specialisation_count(), 1u);
}

TEST(dynamic_language, sorted_dimensions_are_constants) {
  const auto sorted = tw::kernel("sorted_rows", {"x"}, [](tw::Tensor x) {
                        auto out = tw::empty_like(x);
                        for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::sort(x[tile, tw::_], 1).first;
                        return out;
                      }).with(sizes(false));
  auto expect_sorted = [&](int64_t m, int64_t n) {
    tw::Array x = integers({m, n}, 1), found = sorted(x);
    for (int64_t row = 0; row < m; ++row) {
      std::vector<float> expected(x.data<float>() + row * n, x.data<float>() + (row + 1) * n);
      std::sort(expected.begin(), expected.end());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.data<float>() + row * n));
    }
  };
  for (int64_t m : {3, 8}) expect_sorted(m, 21);
  EXPECT_EQ(sorted.specialisation_count(), 1u);
  expect_sorted(3, 22);
  EXPECT_EQ(sorted.specialisation_count(), 2u);
}

TEST(dynamic_language, sizes_equal_to_a_constant_are_constants) {
  const auto kernel = tw::kernel("sorted_into", {"x", "out"}, [](tw::Tensor x, tw::Tensor out) {
    for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::sort(x[tile, tw::_], 1).first;
  });
  const auto sorted_first = tw::kernel("sorted_first", {"out", "x"}, [](tw::Tensor out, tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::sort(x[tile, tw::_], 1).first;
  });
  for (int64_t n : {6, 9}) {
    expect_oracle(kernel, 2, integers({5, n}, 1), integers({5, n}, 2));
    expect_oracle(sorted_first, 2, integers({5, n}, 1), integers({5, n}, 2));
  }
}

TEST(dynamic_language, uint8_and_8_bit_floats) {
  const auto mixed = tw::kernel("mixed", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty({m, n}, tw::float32);
    for (auto [tile_m, tile_n] : tw::tile({m, n}))
      out[tile_m, tile_n] = x[tile_m, tile_n].to(tw::float32) + y[tile_m, tile_n].to(tw::float32);
    return out;
  });
  for (auto [m, n] : {std::pair<int64_t, int64_t>{3, 50}, {17, 9}, {0, 4}})
    expect_oracle(mixed, 3, tw::Array::randint(0, 256, {m, n}, 1, tw::uint8),
                  integers({n, m}, 2, tw::float8_e4m3fn).t());
}

TEST(dynamic_language, tiles_over_one_element_repeat_it_under_a_mask) {
  const auto masked = tw::kernel("masked", {"x", "y", "limit"}, [](tw::Tensor x, tw::Tensor y, tw::Scalar<int> limit) {
    auto out = tw::empty_like(y);
    for (auto tile : tw::tile(y.size(0)))
      out[tile] = tw::load(x, {tile}, {.extra_mask = tile.index() < limit}) + y[tile];
    return out;
  });
  for (int64_t n : {1, 5, 30}) {
    expect_oracle(masked, 3, integers({1}, 1), integers({n}, 2), 4);
    expect_oracle(masked, 3, integers({n}, 1), integers({n}, 2), 4);
  }
}

TEST(dynamic_language, more_than_2_31_elements) {
  const auto doubled =
      tw::kernel("doubled_places", {"x", "rows", "columns"}, [](tw::Tensor x, tw::Tensor rows, tw::Tensor columns) {
        for (auto i : tw::grid(rows.size(0))) x[rows[i], columns[i]] = x[rows[i], columns[i]] * 2 + 1;
      });
  const auto last_indices = tw::kernel("last_indices", {"x"}, [](tw::Tensor x) {
    auto n = x.size(0);
    auto out = tw::empty({8}, tw::int64);
    for (auto tile : tw::tile(n - 8, n)) out[tile - (n - 8)] = tile.index() + x[tile];
    return out;
  });
  constexpr int64_t kSide = 50000, kMany = 3'000'000'000;
  for (bool are_static : {true, false}) {
    auto kernel = doubled.with(sizes(are_static));
    tw::Array small = tw::Array::full({30, 40}, 3, tw::int8);
    kernel(small, numbers({0, 29}), numbers({0, 39}));
    tw::Array x = sparse({kSide, kSide}, tw::int8);
    kernel(x, numbers({0, 42949, 42950, kSide - 1}), numbers({3, 33648, 1, kSide - 1}));
    for (auto [row, column] : {std::pair<int64_t, int64_t>{0, 3}, {42949, 33648}, {42950, 1}, {kSide - 1, kSide - 1}})
      EXPECT_EQ(x.data<int8_t>()[row * kSide + column], 1);

    auto last = last_indices.with(sizes(are_static));
    for (int64_t n : {int64_t(20), kMany}) {
      tw::Array found = last(tw::Array::ones({1}, tw::int8).expand({n}));
      for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(found.data<int64_t>()[i], n - 8 + i + 1) << n;
    }
  }
}

TEST(dynamic_language, the_triton_backend_refuses_run_time_sizes_by_name) {
  const auto copy = tw::kernel("copy", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) out[tile] = x[tile];
    return out;
  });
  tw::BoundCall call = copy.bind(integers({5}, 1)).with(sizes(false));
  try {
    specialise(call.core().definition(), call.call(), tw::Backend::Triton);
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("the Triton backend has static shapes only"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("dynamic_language_test.cpp"), std::string::npos) << error.what();
  }
}
