// Loops whose bounds are data: outermost ones, whose programs find out how many tiles there are, and jagged tiles.
#include "oracle.h"

#include <string>

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;

namespace {

tw::Array integers(tw::IndexList sizes, uint64_t seed, tw::DType dtype = tw::float32) {
  return tw::Array::randint(-8, 9, sizes, seed, tw::int32).to(dtype);
}

tw::Array numbers(std::initializer_list<int64_t> values, tw::DType dtype = tw::int64) {
  tw::Array array = tw::Array::empty({static_cast<int64_t>(values.size())}, tw::int64);
  std::copy(values.begin(), values.end(), array.data<int64_t>());
  return array.to(dtype);
}

const auto doubled_range = tw::kernel("doubled_range", {"x", "bounds"}, [](tw::Tensor x, tw::Tensor bounds) {
  auto out = tw::empty_like(x).fill(0);
  for (auto tile : tw::tile(bounds[0], bounds[1])) out[tile] = x[tile] * 2;
  return out;
});

const auto rectangle = tw::kernel("rectangle", {"x", "sizes"}, [](tw::Tensor x, tw::Tensor sizes) {
  auto out = tw::empty_like(x).fill(-1);
  for (auto [rows, columns] : tw::tile({tw::Operand(sizes[0]), tw::Operand(x.size(1))}))
    out[rows, columns] = x[rows, columns] + 1;
  return out;
});

//
// Jagged tiles: `starts` are where rows begin in `x`, which has them one after the other.
//

const auto jagged_sums = tw::kernel("jagged_sums", {"x", "starts"}, [](tw::Tensor x, tw::Tensor starts) {
  auto rows = starts.size(0) - 1;
  auto out = tw::empty({rows}, tw::float32);
  for (auto tile_b : tw::tile(rows)) {
    auto begin = starts[tile_b];
    auto lengths = starts[tile_b + 1] - begin;
    auto total = tw::zeros({tile_b});
    for (auto tile : tw::jagged_tile(lengths)) {
      auto values = x[begin[tw::_, tw::none] + tile.index()[tw::none, tw::_]];
      total += tw::sum(values + 1, 1); // 1 only where there is an element
    }
    out[tile_b] = total;
  }
  return out;
});

const auto jagged_extrema = tw::kernel("jagged_extrema", {"x", "lengths"}, [](tw::Tensor x, tw::Tensor lengths) {
  auto rows = lengths.size(0);
  auto low = tw::empty({rows}, tw::float32), high = tw::empty({rows}, tw::float32);
  for (auto tile_b : tw::tile(rows)) {
    auto count = lengths[tile_b];
    auto least = tw::full({tile_b}, 100.0), most = tw::full({tile_b}, -100.0);
    for (auto tile : tw::jagged_tile(count)) {
      auto values = x[tile_b, tile];
      least = tw::minimum(least, tw::amin(values + 50, 1) - 50);
      most = tw::maximum(most, tw::amax(values.t() - 50, 0) + 50);
    }
    low[tile_b] = least;
    high[tile_b] = most;
  }
  return std::tuple(low, high);
});

const auto jagged_copy = tw::kernel("jagged_copy", {"x", "lengths"}, [](tw::Tensor x, tw::Tensor lengths) {
  auto out = tw::empty_like(x).fill(-1);
  for (auto tile_b : tw::tile(x.size(0)))
    for (auto tile : tw::jagged_tile(lengths[tile_b])) out[tile_b, tile] = x[tile_b, tile] * 2;
  return out;
});

const auto jagged_products =
    tw::kernel("jagged_products", {"x", "lengths", "y"}, [](tw::Tensor x, tw::Tensor lengths, tw::Tensor y) {
      auto [rows, k] = x.sizes<2>();
      auto out = tw::empty({rows, y.size(1)}, tw::float32);
      for (auto [tile_b, tile_n] : tw::tile({rows, y.size(1)})) {
        auto acc = tw::zeros({tile_b, tile_n});
        for (auto tile : tw::jagged_tile(lengths[tile_b])) acc = tw::addmm(acc, x[tile_b, tile] + 3, y[tile, tile_n]);
        out[tile_b, tile_n] = acc;
      }
      return out;
    });

const auto jagged_scan = tw::kernel("jagged_scan", {"x", "lengths"}, [](tw::Tensor x, tw::Tensor lengths) {
  auto out = tw::empty_like(x).fill(0);
  for (auto tile_b : tw::tile(x.size(0))) {
    auto before = tw::zeros({tile_b});
    for (auto tile : tw::jagged_tile(lengths[tile_b])) {
      auto values = x[tile_b, tile];
      out[tile_b, tile] = tw::cumsum(values, 1) + before[tw::_, tw::none];
      before += tw::sum(values, 1);
    }
  }
  return out;
});

const auto jagged_combine = tw::kernel("jagged_combine", {"x", "lengths"}, [](tw::Tensor x, tw::Tensor lengths) {
  auto out = tw::empty({x.size(0)}, tw::float32);
  for (auto tile_b : tw::tile(x.size(0))) {
    auto total = tw::zeros({tile_b});
    for (auto tile : tw::jagged_tile(lengths[tile_b]))
      total += tw::reduce([](tw::Value a, tw::Value b) { return a + b; }, x[tile_b, tile] + 1, 1);
    out[tile_b] = total;
  }
  return out;
});

// All in one tile, so that each row's mean is that of its tile.
const auto jagged_means = tw::kernel("jagged_means", {"x", "lengths"}, [](tw::Tensor x, tw::Tensor lengths) {
  auto out = tw::empty({x.size(0)}, tw::float32).fill(0);
  for (auto row : tw::grid(x.size(0)))
    for (auto tile : tw::jagged_tile(lengths[row])) out[row] += tw::sum(x[row, tile]) / lengths[row];
  return out;
});

float expected_row(const tw::Array& x, int64_t row, int64_t length, auto add) {
  float total = 0;
  for (int64_t i = 0; i < length; ++i) total = add(total, x.at<float>({row, i}));
  return total;
}

} // namespace

TEST(bounds_from_data, of_an_outermost_loop) {
  tw::Array x = integers({101}, 1);
  for (auto [begin, end] : {std::pair<int64_t, int64_t>{0, 101}, {3, 77}, {50, 50}, {60, 20}, {100, 101}}) {
    expect_agrees_with_oracle(doubled_range.bind(x, numbers({begin, end})), 6, 1);
    tw::Array found = doubled_range(x, numbers({begin, end}, tw::int32));
    for (int64_t i = 0; i < 101; ++i)
      ASSERT_EQ(found.at<float>({i}), i >= begin && i < end ? 2 * x.at<float>({i}) : 0) << begin << " to " << end;
  }
}

TEST(bounds_from_data, of_one_dimension_beside_a_size) {
  tw::Array x = integers({40, 33}, 1);
  for (int64_t rows : {0, 1, 40, 17}) {
    expect_agrees_with_oracle(rectangle.bind(x, numbers({rows})), 6, 1);
    tw::Array found = rectangle(x, numbers({rows}));
    for (int64_t i = 0; i < 40; ++i) ASSERT_EQ(found.at<float>({i, 32}), i < rows ? x.at<float>({i, 32}) + 1 : -1);
  }
}

TEST(bounds_from_data, have_persistent_programs) {
  tw::test::CallUnderTest test(doubled_range.bind(integers({50}, 1), numbers({0, 50})));
  EXPECT_EQ(test.default_config().get_string("pid_type"), "persistent_blocked");
  tw::Config flat = test.default_config();
  flat.set("pid_type", "flat");
  try {
    doubled_range.with(flat)(integers({50}, 1), numbers({0, 50}));
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("persistent_blocked"), std::string::npos) << error.what();
  }
}

TEST(bounds_from_data, are_not_what_the_kernel_writes) {
  auto kernel = tw::kernel("writes_bounds", {"bounds"}, [](tw::Tensor bounds) {
    for (auto tile : tw::tile(0, bounds[0])) bounds[tile] = 1;
  });
  try {
    kernel(numbers({3, 4}));
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("is read from bounds, which is written on line"), std::string::npos)
        << error.what();
  }
}

TEST(jagged_tile, rows_end_at_their_own_lengths) {
  tw::Array starts = numbers({0, 4, 4, 11, 12, 40}), x = integers({40}, 1);
  expect_agrees_with_oracle(jagged_sums.bind(x, starts), 8, 40);
  tw::Array found = jagged_sums(x, starts);
  const int64_t* at = starts.data<int64_t>();
  for (int64_t row = 0; row < 5; ++row) {
    float total = 0;
    for (int64_t i = at[row]; i < at[row + 1]; ++i) total += x.at<float>({i}) + 1;
    EXPECT_EQ(found.at<float>({row}), total);
  }
}

TEST(jagged_tile, reductions_see_neutral_elements) {
  tw::Array x = integers({6, 37}, 1), lengths = numbers({0, 37, 5, 1, 36, 12});
  for (tw::DType dtype : {tw::int64, tw::int32}) {
    expect_agrees_with_oracle(jagged_extrema.bind(x, lengths.to(dtype)), 8, 1);
    expect_agrees_with_oracle(jagged_combine.bind(x, lengths.to(dtype)), 8, 40);
  }
  auto [low, high] = jagged_extrema(x, lengths);
  tw::Array sums = jagged_combine(x, lengths);
  for (int64_t row = 0; row < 6; ++row) {
    int64_t length = lengths.at<int64_t>({row});
    float least = 100, most = -100;
    for (int64_t i = 0; i < length; ++i) {
      least = std::min(least, x.at<float>({row, i}));
      most = std::max(most, x.at<float>({row, i}));
    }
    EXPECT_EQ(low.at<float>({row}), least);
    EXPECT_EQ(high.at<float>({row}), most);
    EXPECT_EQ(sums.at<float>({row}), expected_row(x, row, length, [](float a, float b) { return a + b + 1; }));
  }
}

TEST(jagged_tile, stores_products_and_scans) {
  tw::Array x = integers({6, 37}, 1), lengths = numbers({0, 37, 5, 1, 36, 12}), y = integers({37, 10}, 2);
  expect_agrees_with_oracle(jagged_copy.bind(x, lengths), 6, 1);
  expect_agrees_with_oracle(jagged_products.bind(x, lengths, y), 6, 40);
  expect_agrees_with_oracle(jagged_scan.bind(x, lengths), 6, 40);
  tw::Array copied = jagged_copy(x, lengths), product = jagged_products(x, lengths, y), sums = jagged_scan(x, lengths);
  for (int64_t row = 0; row < 6; ++row) {
    int64_t length = lengths.at<int64_t>({row});
    float total = 0, running = 0;
    for (int64_t i = 0; i < 37; ++i) {
      EXPECT_EQ(copied.at<float>({row, i}), i < length ? 2 * x.at<float>({row, i}) : -1);
      if (i < length) total += (x.at<float>({row, i}) + 3) * y.at<float>({i, 7});
      if (i < length) running += x.at<float>({row, i});
      EXPECT_EQ(sums.at<float>({row, i}), i < length ? running : 0);
    }
    EXPECT_EQ(product.at<float>({row, 7}), total);
  }
}

TEST(jagged_tile, of_a_single_row) {
  tw::Array x = integers({4, 37}, 1), lengths = numbers({4, 0, 37, 8});
  expect_agrees_with_oracle(jagged_means.bind(x, lengths), 4, 40);
}

TEST(jagged_tile, what_makes_no_sense_is_refused) {
  auto says = [](const auto& kernel, const char* what) {
    try {
      kernel(integers({4, 9}, 1), numbers({4, 0, 9, 8}));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const tw::Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  says(tw::kernel("real_lengths",
                  [](tw::Tensor x, tw::Tensor) {
                    for (auto row : tw::tile(x.size(0)))
                      for (auto tile : tw::jagged_tile(x[row, 0])) x[row, tile] = 1;
                  }),
       "takes the lengths of rows, integers");
  says(tw::kernel("printed",
                  [](tw::Tensor x, tw::Tensor lengths) {
                    for (auto row : tw::tile(x.size(0)))
                      for (auto tile : tw::jagged_tile(lengths[row])) {
                        tw::print("x", x[row, tile]);
                        x[row, tile] = 1;
                      }
                  }),
       "tw::print of a value of a jagged tile");
  says(tw::kernel("scanned_across",
                  [](tw::Tensor x, tw::Tensor lengths) {
                    for (auto row : tw::tile(x.size(0)))
                      for (auto tile : tw::jagged_tile(lengths[row])) x[row, tile] = tw::cumsum(x[row, tile], 0);
                  }),
       "goes along its rows");
}
