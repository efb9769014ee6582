// uint8 and the 8-bit floats, bit views, sorting, and other late rules of the language, against the interpreter and
// against what torch 2.13 gives.
#include "oracle.h"

#include "driver/prepared_call.h"

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;

namespace {

const tw::Config kSmall{{"block_sizes", {4}}};

// out = f(x), and out = f(x, y), of vectors; the dtype is that of f's result.
template <class F> auto map1(F f, tw::DType to) {
  return tw::kernel("map1", {"x"}, [f, to](tw::Tensor x) {
    auto out = tw::empty({x.size(0)}, to);
    for (auto tile : tw::tile(x.size(0))) {
      auto v = f(x[tile]);
      EXPECT_EQ(v.dtype(), to);
      out[tile] = v;
    }
    return out;
  });
}
template <class F> auto map2(F f, tw::DType to) {
  return tw::kernel("map2", {"x", "y"}, [f, to](tw::Tensor x, tw::Tensor y) {
    auto out = tw::empty({x.size(0)}, to);
    for (auto tile : tw::tile(x.size(0))) {
      auto v = f(x[tile], y[tile]);
      EXPECT_EQ(v.dtype(), to);
      out[tile] = v;
    }
    return out;
  });
}

using Numbers = std::vector<double>;

const tw::Array kBytes = tw::Array::from_vector<uint8_t>({0, 1, 200, 255});

template <class F> void expect_of_bytes(F f, tw::DType to, const Numbers& expected) {
  auto kernel = map1(f, to);
  EXPECT_EQ(kernel.with(kSmall)(kBytes).template to_vector<double>(), expected);
  expect_agrees_with_oracle(kernel.bind(tw::Array::randint(0, 256, {70}, 1, tw::uint8)), 1, 1);
}
template <class F> void expect_of_bytes_and(const tw::Array& y, F f, tw::DType to, const Numbers& expected) {
  auto kernel = map2(f, to);
  EXPECT_EQ(kernel.with(kSmall)(kBytes, y).template to_vector<double>(), expected);
}

TEST(UInt8, is_computed_modulo_256_and_promoted_as_in_pytorch) {
  using V = tw::Value;
  expect_of_bytes([](V u) { return u + u; }, tw::uint8, {0, 2, 144, 254});
  expect_of_bytes([](V u) { return u * 3; }, tw::uint8, {0, 3, 88, 253});
  expect_of_bytes([](V u) { return u + (-1); }, tw::uint8, {255, 0, 199, 254});
  expect_of_bytes([](V u) { return u + 300; }, tw::uint8, {44, 45, 244, 43});
  expect_of_bytes([](V u) { return -u; }, tw::uint8, {0, 255, 56, 1});
  expect_of_bytes([](V u) { return ~u; }, tw::uint8, {255, 254, 55, 0});
  expect_of_bytes([](V u) { return u << 1; }, tw::uint8, {0, 2, 144, 254});
  expect_of_bytes([](V u) { return u << 8; }, tw::uint8, {0, 0, 0, 0});
  expect_of_bytes([](V u) { return u >> 1; }, tw::uint8, {0, 0, 100, 127});
  expect_of_bytes([](V u) { return u >> 9; }, tw::uint8, {0, 0, 0, 0});
  expect_of_bytes([](V u) { return tw::floor_divide(u, 3); }, tw::uint8, {0, 0, 66, 85});
  expect_of_bytes([](V u) { return u % 3; }, tw::uint8, {0, 1, 2, 0});
  expect_of_bytes([](V u) { return u / 4; }, tw::float32, {0, 0.25, 50, 63.75});
  expect_of_bytes([](V u) { return tw::pow(u, 2); }, tw::uint8, {0, 1, 64, 1});
  expect_of_bytes([](V u) { return tw::pow(u, u); }, tw::uint8, {1, 1, 0, 255});
  expect_of_bytes([](V u) { return tw::abs(u); }, tw::uint8, {0, 1, 200, 255});
  expect_of_bytes([](V u) { return tw::sign(u); }, tw::uint8, {0, 1, 1, 1});
  expect_of_bytes([](V u) { return tw::clamp(u, 3, 100); }, tw::uint8, {3, 3, 100, 100});
  expect_of_bytes([](V u) { return u == 255; }, tw::boolean, {0, 0, 0, 1});
  expect_of_bytes([](V u) { return u > -1; }, tw::boolean, {0, 0, 0, 0});
  expect_of_bytes([](V u) { return tw::where(u > 1, u, 7); }, tw::uint8, {7, 7, 200, 255});
  expect_of_bytes([](V u) { return u + 1.5; }, tw::float32, {1.5, 2.5, 201.5, 256.5});
  expect_of_bytes([](V u) { return u.to(tw::float16); }, tw::float16, {0, 1, 200, 255});
  expect_of_bytes([](V u) { return u.to(tw::int8); }, tw::int8, {0, 1, -56, -1});
  expect_of_bytes([](V u) { return u.to(tw::int8).to(tw::uint8); }, tw::uint8, {0, 1, 200, 255});
  expect_of_bytes([](V u) { return u.to(tw::int64) - 256; }, tw::int64, {-256, -255, -56, -1});
  expect_of_bytes([](V u) { return (u.to(tw::float32) * 2).to(tw::uint8); }, tw::uint8, {0, 2, 144, 254});
  expect_of_bytes([](V u) { return tw::full_like(u, 200) + u; }, tw::uint8, {200, 201, 144, 199});

  tw::Array i = tw::Array::from_vector<int8_t>({1, -1, 3, 4});
  expect_of_bytes_and(i, [](V u, V i) { return u + i; }, tw::int16, {1, 0, 203, 259});
  expect_of_bytes_and(i, [](V u, V i) { return u - i; }, tw::int16, {-1, 2, 197, 251});
  expect_of_bytes_and(i, [](V u, V i) { return tw::maximum(u, i); }, tw::int16, {1, 1, 200, 255});
  expect_of_bytes_and(i, [](V u, V i) { return u & i; }, tw::int16, {0, 1, 0, 4});
}

TEST(UInt8, is_reduced_scanned_carried_and_stored) {
  auto kernel = tw::kernel("bytes", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto sum = tw::empty({m}, tw::int64), largest = tw::empty({m}, tw::uint8), where = tw::empty({m}, tw::int64);
    auto running = tw::empty({m, n}, tw::int64), joined = tw::empty({2, m}, tw::uint8);
    auto folded = tw::empty({m}, tw::uint8), counts = tw::empty({3}, tw::uint8).fill(200);
    for (auto tile : tw::tile(m)) {
      auto v = x[tile, tw::_];
      sum[tile] = tw::sum(v, 1);
      largest[tile] = tw::amax(v, 1);
      where[tile] = tw::argmax(v, 1);
      running[tile, tw::_] = tw::cumsum(v, 1);
      auto acc = tw::full({tile}, 3, tw::uint8);
      for (auto i : tw::grid(n)) {
        acc = acc * 5 + x[tile, i];
        tw::if_(i == 2, [&] { acc = acc + 1; });
      }
      folded[tile] = acc;
      joined[tw::_, tile] = tw::stack({tw::amin(v, 1), acc}, 0);
    }
    for (auto i : tw::grid(3)) counts[i] += 100;
    return std::tuple(sum, largest, where, running, joined, folded, counts);
  });
  tw::Array x = tw::Array::randint(0, 256, {9, 13}, 1, tw::uint8);
  expect_agrees_with_oracle(kernel.bind(x), 4, 1);
  auto results = kernel.with(kSmall)(x);
  for (int64_t i = 0; i < 9; ++i) {
    int64_t sum = 0, most = 0;
    uint8_t acc = 3;
    for (int64_t j = 0; j < 13; ++j) {
      uint8_t v = x.at<uint8_t>({i, j});
      sum += v;
      most = std::max<int64_t>(most, v);
      acc = uint8_t(acc * 5 + v + (j == 2));
    }
    EXPECT_EQ(std::get<0>(results).at<int64_t>({i}), sum);
    EXPECT_EQ(std::get<1>(results).at<uint8_t>({i}), most);
    EXPECT_EQ(std::get<5>(results).at<uint8_t>({i}), acc);
    EXPECT_EQ(std::get<4>(results).at<uint8_t>({1, i}), acc);
  }
  EXPECT_EQ(std::get<6>(results).at<uint8_t>({0}), 44);
}

TEST(UInt8, and_int8_are_not_mixed_up_in_a_loop) {
  auto kernel = tw::kernel("mixed", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      auto v = tw::zeros({tile}, tw::int8);
      for ([[maybe_unused]] auto i : tw::grid(3)) v = x[tile];
      x[tile] = v;
    }
  });
  try {
    kernel.with(kSmall)(kBytes);
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("from int8[tile"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("convert it with .to(tw::int8)"), std::string::npos) << error.what();
  }
}

TEST(UInt8, packed_int4_is_unpacked) {
  // Two numbers a byte, the low one first: weights of a matrix product.
  auto unpack = tw::kernel("unpack", {"packed"}, [](tw::Tensor packed) {
    auto [k, n] = packed.sizes<2>();
    auto out = tw::empty({2 * k, n}, tw::int8);
    for (auto [tile_k, tile_n] : tw::tile({k, n})) {
      auto bytes = packed[tile_k, tile_n];
      auto low = ((bytes & 15).to(tw::int8) ^ 8) - 8, high = ((bytes >> 4).to(tw::int8) ^ 8) - 8;
      out[2 * tile_k.index(), tile_n] = low;
      out[2 * tile_k.index() + 1, tile_n] = high;
    }
    return out;
  });
  tw::Array packed = tw::Array::randint(0, 256, {5, 7}, 1, tw::uint8);
  expect_agrees_with_oracle(unpack.bind(packed), 4, 1);
  tw::Array out = unpack.with(tw::Config{{"block_sizes", {2, 4}}})(packed);
  for (int64_t i = 0; i < 5; ++i) {
    int byte = packed.at<uint8_t>({i, 3});
    EXPECT_EQ(out.at<int8_t>({2 * i, 3}), (byte & 15) < 8 ? byte & 15 : (byte & 15) - 16);
    EXPECT_EQ(out.at<int8_t>({2 * i + 1, 3}), byte >> 4 < 8 ? byte >> 4 : (byte >> 4) - 16);
  }
}

//
// 8-bit floats
//

tw::Array all_bytes_as(tw::DType dtype) {
  tw::Array bytes = tw::Array::arange(256, tw::int32).to(tw::uint8);
  return tw::Array::from_pointer(bytes.data(), {256}, dtype, std::make_shared<tw::Array>(bytes));
}

TEST(Float8, convert_as_the_numbers_do) {
  for (tw::DType dtype : {tw::float8_e4m3fn, tw::float8_e5m2}) {
    tw::Array all = all_bytes_as(dtype);
    for (tw::DType to : {tw::float32, tw::float64, tw::float16, tw::bfloat16, tw::boolean}) {
      auto widen = map1([to](tw::Value v) { return v.to(to); }, to);
      tw::Array found = widen.with(tw::Config{{"block_sizes", {64}}})(all);
      EXPECT_EQ(max_abs_difference(found, all.to(to)), 0) << name(dtype) << " to " << name(to);
      expect_agrees_with_oracle(widen.bind(all), 1, 1);
    }
    // Around each number and each middle of two.
    std::vector<float> near;
    for (int i = 0; i < 256; ++i) {
      float here = all[i].item<float>(), next = all[(i + 1) % 256].item<float>();
      for (float x : {here, here + (next - here) / 2})
        for (float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, INFINITY), -x}) near.push_back(y);
    }
    near.insert(near.end(), {1e9f, -1e9f, INFINITY, -INFINITY, 464.1f, 61440.f, 1e-30f, -0.0f});
    tw::Array x = tw::Array::from_vector(near);
    for (tw::DType from : {tw::float32, tw::float64, tw::float16}) {
      tw::Array given = x.to(from);
      auto narrow = map1([dtype](tw::Value v) { return v.to(dtype); }, dtype);
      tw::Array found = narrow.with(tw::Config{{"block_sizes", {64}}})(given);
      EXPECT_EQ(max_abs_difference(found, given.to(dtype)), 0) << name(from) << " to " << name(dtype);
      expect_agrees_with_oracle(narrow.bind(given), 1, 1);
    }
  }
}

TEST(Float8, is_computed_with_as_float32) {
  auto kernel = tw::kernel("scaled", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    auto [m, k] = x.sizes<2>();
    auto out = tw::empty({m, k}, x.dtype()), sums = tw::empty({m}), most = tw::empty({m}, x.dtype());
    for (auto tile : tw::tile(m)) {
      auto v = x[tile, tw::_];
      EXPECT_EQ((v * 2).dtype(), tw::float32);
      EXPECT_EQ((v + v).dtype(), tw::float32);
      EXPECT_EQ(tw::where(v > 0, v, v).dtype(), x.dtype());
      sums[tile] = tw::sum(v, 1);
      most[tile] = tw::amax(tw::where(v > 0, v, v), 1);
      out[tile, tw::_] = v * 0.5 + y[tile, tw::_];
      out[tile, tw::_] += 1;
    }
    return std::tuple(out, sums, most);
  });
  for (tw::DType dtype : {tw::float8_e4m3fn, tw::float8_e5m2})
    expect_agrees_with_oracle(
        kernel.bind(tw::Array::randn({9, 21}, 1).to(dtype), tw::Array::randn({9, 21}, 2).to(dtype)), 4, 21);
}

TEST(Float8, is_multiplied_into_float32) {
  auto kernel = tw::kernel("product", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    auto [m, k] = x.sizes<2>();
    auto out = tw::empty({m, y.size(1)});
    for (auto [tile_m, tile_n] : tw::tile({m, y.size(1)})) {
      auto acc = tw::zeros({tile_m, tile_n});
      for (auto tile_k : tw::tile(k)) {
        EXPECT_EQ(tw::dot(x[tile_m, tile_k], y[tile_k, tile_n]).dtype(), tw::float32);
        acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
      }
      out[tile_m, tile_n] = acc;
    }
    return out;
  });
  for (tw::DType dtype : {tw::float8_e4m3fn, tw::float8_e5m2})
    expect_agrees_with_oracle(
        kernel.bind(tw::Array::randn({9, 21}, 1).to(dtype), tw::Array::randn({21, 17}, 2).to(dtype)), 4, 21);
}

//
// Bits
//

TEST(BitViews, are_the_same_bits) {
  auto kernel = map1([](tw::Value v) { return (v.view(tw::int32) & 0x7fffffff).view(tw::float32); }, tw::float32);
  tw::Array x = tw::Array::randn({50}, 1);
  expect_agrees_with_oracle(kernel.bind(x), 3, 1);
  EXPECT_EQ(kernel.with(kSmall)(tw::Array::from_vector<float>({-1.5f, 2}))[0].item<float>(), 1.5f);
  auto bytes = map1([](tw::Value v) { return v.view(tw::uint8) + 1; }, tw::uint8);
  expect_agrees_with_oracle(bytes.bind(x.to(tw::float8_e5m2)), 2, 1);
  EXPECT_EQ(bytes.with(kSmall)(tw::Array::from_vector<int8_t>({-1, 5})).to_vector<double>(), Numbers({0, 6}));
  auto refused = map1([](tw::Value v) { return v.view(tw::int16); }, tw::int16);
  EXPECT_THROW(refused.with(kSmall)(x), tw::Error);
}

//
// Sorting
//

template <class T> bool comes_first(T a, T b) { return a < b || (a == a && b != b); }

const auto sorted_rows = tw::kernel("sorted_rows", {"x"}, [](tw::Tensor x, bool descending, int dim) {
  auto [m, n] = x.sizes<2>();
  auto values = tw::empty_like(x), order = tw::empty({m, n}, tw::int64);
  if (dim == 1) {
    for (auto tile : tw::tile(m)) {
      auto [v, i] = tw::sort(x[tile, tw::_], 1, descending);
      values[tile, tw::_] = v;
      order[tile, tw::_] = i;
    }
  } else {
    for (auto tile : tw::tile(n)) {
      auto [v, i] = x[tw::_, tile].sort(0, descending);
      values[tw::_, tile] = v;
      order[tw::_, tile] = i;
    }
  }
  return std::tuple(values, order);
});

TEST(Sort, orders_a_whole_dimension_and_keeps_equal_ones_in_place) {
  for (tw::DType dtype : {tw::float32, tw::float64, tw::bfloat16, tw::int8, tw::uint8, tw::int64, tw::boolean})
    for (bool descending : {false, true})
      for (int dim : {0, 1}) {
        tw::Array x = tw::Array::randint(0, 9, {19, 23}, 1).to(dtype);
        SCOPED_TRACE(tw::name(dtype));
        expect_agrees_with_oracle(sorted_rows.bind(x, descending, dim), 2, 1);
        auto [values, order] = sorted_rows.with(tw::Config{{"block_sizes", {4}}})(x, descending, dim);
        if (dim == 0) x = x.t(), values = values.t(), order = order.t();
        for (int64_t row = 0; row < x.size(0); ++row)
          for (int64_t i = 0; i < x.size(1); ++i) {
            int64_t from = order.at<int64_t>({row, i});
            EXPECT_EQ(values[row][i].item<double>(), x[row][from].item<double>());
            if (i == 0) continue;
            double before = values[row][i - 1].item<double>(), here = values[row][i].item<double>();
            EXPECT_TRUE(descending ? before >= here : before <= here);
            if (before == here) {
              EXPECT_LT(order.at<int64_t>({row, i - 1}), from);
            }
          }
      }
}

TEST(Sort, has_nan_as_the_largest) {
  const float nan = NAN;
  tw::Array x = tw::Array::from_vector<float>({1, nan, -0.0f, 0.0f, 2, nan, -INFINITY, INFINITY}, {1, 8});
  auto order = [&](bool descending) {
    return std::get<1>(sorted_rows.with(tw::Config{{"block_sizes", {4}}})(x, descending, 1)).to_vector<int64_t>();
  };
  EXPECT_EQ(order(false), std::vector<int64_t>({6, 2, 3, 0, 4, 7, 1, 5}));
  EXPECT_EQ(order(true), std::vector<int64_t>({1, 5, 7, 4, 0, 2, 3, 6}));
  expect_agrees_with_oracle(sorted_rows.bind(x, true, 1), 2, 1);
  expect_agrees_with_oracle(sorted_rows.bind(tw::Array::zeros({3, 1}), true, 1), 2, 1);
  expect_agrees_with_oracle(sorted_rows.bind(tw::Array::zeros({0, 5}), false, 1), 1, 1);
}

TEST(Sort, topk_and_argsort_take_the_first_of_it) {
  auto kernel = tw::kernel("topk", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto values = tw::empty({m, 3}, x.dtype()), order = tw::empty({m, 3}, tw::int64), least = tw::empty({m}, x.dtype());
    auto ranks = tw::empty({m, n}, tw::int64);
    for (auto tile : tw::tile(m)) {
      auto v = tw::exp(x[tile, tw::_]);
      auto [top, i] = v.topk(3);
      values[tile, tw::_] = top;
      order[tile, tw::_] = i;
      least[tile] = tw::sum(tw::topk(v, 2, 1, false).first, 1);
      ranks[tile, tw::_] = tw::argsort(tw::argsort(v));
    }
    return std::tuple(values, order, least, ranks);
  });
  expect_agrees_with_oracle(kernel.bind(tw::Array::randn({11, 40}, 1)), 4, 2);
  auto refused = tw::kernel("refused", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = tw::sort(x[tile]).first;
  });
  try {
    refused.with(kSmall)(tw::Array::zeros({7}));
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("tw::sort along dimension 0"), std::string::npos) << error.what();
  }
}

//
// Other rules
//

TEST(IntegerPowers, have_exponents_that_are_known_at_run_time) {
  auto power = [](tw::Value x, tw::Value y) { return tw::pow(x, y); };
  auto of = [&](std::vector<int64_t> x, std::vector<int64_t> y, tw::DType dtype) {
    return map2(power, dtype)
        .with(kSmall)(tw::Array::from_vector(x).to(dtype), tw::Array::from_vector(y).to(dtype))
        .to_vector<double>();
  };
  EXPECT_EQ(of({2, 3, -2, 1, -1, 0, 2, 7}, {3, -1, -1, -3, -3, -1, 0, 5}, tw::int32),
            Numbers({8, 0, 0, 1, -1, 0, 1, 16807}));
  EXPECT_EQ(of({3, -2, 10}, {39, 63, 18}, tw::int64), Numbers({4052555153018976267., -0x1p63, 1e18}));
  EXPECT_EQ(of({3, 2}, {5, 7}, tw::int8), Numbers({-13, -128}));
  auto two_to = map1([](tw::Value y) { return tw::pow(2, y); }, tw::int64);
  EXPECT_EQ(two_to.with(kSmall)(tw::Array::from_vector<int64_t>({-3, 3})).to_vector<double>(), Numbers({0, 8}));
  expect_agrees_with_oracle(
      map2(power, tw::int32)
          .bind(tw::Array::randint(-9, 10, {60}, 1, tw::int32), tw::Array::randint(-3, 12, {60}, 2, tw::int32)),
      3, 1);
}

TEST(ExtraMasks, go_with_atomics) {
  auto kernel = tw::kernel("masked_count", {"x"}, [](tw::Tensor x) {
    auto counts = tw::empty({5}, tw::int32).fill(0), last = tw::empty({5}, tw::int32).fill(-1);
    auto old = tw::empty({x.size(0)}, tw::int32);
    for (auto tile : tw::tile(x.size(0))) {
      auto i = x[tile];
      auto inside = (i >= 0) & (i < 5);
      tw::atomic_add(counts, {i}, 1, "relaxed", {.extra_mask = inside});
      old[tile] = tw::atomic_cas(last, {tw::where(inside, i, 9)}, 7, 8, "relaxed", {.extra_mask = inside});
    }
    return std::tuple(counts, old);
  });
  tw::Array x = tw::Array::randint(-3, 9, {37}, 1, tw::int32);
  expect_agrees_with_oracle(kernel.bind(x), 4, 1);
  auto refused = tw::kernel("refused", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) tw::atomic_add(x, {tile}, 1, "relaxed", {.eviction_policy = "first"});
  });
  EXPECT_THROW(refused.with(kSmall)(x), tw::Error);
}

TEST(ExtraMasks, go_with_tiles_over_a_dimension_of_size_1) {
  auto kernel = tw::kernel("masked_row", {"x", "ids"}, [](tw::Tensor x, tw::Tensor ids) {
    tw::Size m = ids.size(0), n = 13;
    auto out = tw::empty({m, n}, x.dtype());
    for (auto [tile_m, tile_n] : tw::tile({m, n})) {
      auto i = ids[tile_m];
      auto mask = ((i >= 0) & (i < x.size(0)))[tw::_, tw::none] & (tile_n.index() % 3 != 0);
      out[tile_m, tile_n] = tw::load(x, {i, tile_n}, {.extra_mask = mask}) + 1;
    }
    return out;
  });
  tw::Array ids = tw::Array::randint(-5, 12, {17}, 1, tw::int32);
  for (tw::DType dtype : {tw::float32, tw::uint8, tw::float8_e4m3fn})
    expect_agrees_with_oracle(kernel.bind(tw::Array::randint(1, 9, {7, 1}, 2).to(dtype), ids), 4, 1);
}

TEST(PartialTiles, functions_of_several_ops_have_no_neutral_element) {
  auto fold = [](auto combine) {
    return tw::kernel("fold", {"x"}, [combine](tw::Tensor x) {
      auto [m, n] = x.sizes<2>();
      auto block = tw::register_block_size(n);
      for (auto tile_m : tw::tile(m)) {
        auto acc = tw::full({tile_m, block}, 1, x.dtype());
        for (auto tile_n : tw::tile(n, tw::block_size(block))) acc = combine(acc, x[tile_m, tile_n]);
        x[tile_m, 0] = tw::sum(acc, 1);
      }
    });
  };
  auto expect_refused = [&](auto combine, const char* function) {
    try {
      fold(combine).with(tw::Config{{"block_sizes", {2, 2}}})(tw::Array::ones({3, 5}));
      FAIL() << "nothing was thrown for " << function;
    } catch (const tw::Error& error) {
      // By the name of the function, or of the first of its ops that has no neutral element.
      const std::string message = error.what();
      EXPECT_TRUE(message.find(std::string(function) + " takes a value that ends with a tile") != std::string::npos ||
                  message.find("is whole in one operand and ends early in another") != std::string::npos)
          << message;
      EXPECT_NE(message.find("where"), std::string::npos) << message;
      EXPECT_NE(message.find("storage_dtypes_test.cpp"), std::string::npos) << message;
    }
  };
  expect_refused([](auto a, auto b) { return tw::hypot(a, b); }, "tw::hypot");
  expect_refused([](auto a, auto b) { return tw::xlogy(a, b); }, "tw::xlogy");
  expect_refused([](auto a, auto b) { return tw::heaviside(b, a); }, "tw::heaviside");
  expect_refused([](auto a, auto b) { return tw::lerp(a, b, 0.5); }, "tw::lerp");
  expect_agrees_with_oracle(fold([](auto a, auto b) { return a * tw::hypot(b, b); }).bind(tw::Array::ones({3, 5})), 3,
                            5);
}

TEST(L2Groupings, each_outermost_loop_has_its_own) {
  auto kernel = tw::kernel("two_loops", {"x"}, [](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto out = tw::empty_like(x), rows = tw::empty({m}), turned = tw::empty({n, m});
    for (auto tile : tw::tile(m)) rows[tile] = tw::sum(x[tile, tw::_], 1);
    for (auto [a, b] : tw::tile({m, n})) out[a, b] = x[a, b] + 1;
    for (auto [a, b] : tw::tile({n, m})) turned[a, b] = x[b, a].t() * 2;
    return std::tuple(out, rows, turned);
  });
  tw::test::CallUnderTest test(kernel.bind(tw::Array::randn({37, 29}, 1)));
  EXPECT_EQ(test.specialisation().spec.find("l2_groupings")->entries.size(), 2u);
  tw::Config config = test.default_config();
  config.set("block_sizes", {4, 4, 4, 4, 4});
  if (config.has("flatten_loops")) config.set("flatten_loops", {false, false});
  std::string plain = test.stage(config, tw::Stage::Program);
  config.set("l2_groupings", {1, 2});
  std::string grouped = test.stage(config, tw::Stage::Program);
  EXPECT_EQ(plain.find("group"), std::string::npos);
  size_t first = grouped.find("tile.map_program"), second = grouped.find("tile.map_program", first + 1);
  EXPECT_EQ(grouped.substr(first, grouped.find('\n', first) - first).find("group"), std::string::npos);
  EXPECT_NE(grouped.substr(second, grouped.find('\n', second) - second).find("group = 2"), std::string::npos)
      << grouped;
  expect_agrees_with_oracle(kernel.bind(tw::Array::randn({37, 29}, 1)), 8, 29);
}

//
// On their way to Triton
//

std::string triton_text(const tw::BoundCall& call) {
  tw::PreparedCall prepared(call, tw::Backend::Triton);
  try {
    return prepared.stage_text("triton", prepared.complete({{"block_sizes", {16}}}));
  } catch (const tw::Error& error) {
    return error.what();
  }
}

TEST(Triton, computes_with_uint8_and_refuses_the_others_at_their_line) {
  auto plus_one = map1([](tw::Value v) { return v + 1; }, tw::uint8);
  std::string text = triton_text(plus_one.bind(tw::Array::randint(0, 256, {64}, 1, tw::uint8)));
  EXPECT_NE(text.find(".to(tl.int32)"), std::string::npos) << text;
  EXPECT_EQ(text.find("bitcast"), std::string::npos) << text;
  auto bits = map1([](tw::Value v) { return v.view(tw::int32); }, tw::int32);
  EXPECT_NE(triton_text(bits.bind(tw::Array::randn({64}, 1))).find(".to(tl.int32, bitcast=True)"), std::string::npos);

  auto refused = [](const tw::BoundCall& call, const char* what) {
    std::string text = triton_text(call);
    EXPECT_NE(text.find(what), std::string::npos) << text;
    EXPECT_NE(text.find("storage_dtypes_test.cpp:"), std::string::npos) << text;
  };
  auto to_float = map1([](tw::Value v) { return v.to(tw::float32); }, tw::float32);
  auto to_float8 = map1([](tw::Value v) { return v.to(tw::float8_e5m2); }, tw::float8_e5m2);
  tw::Array x = tw::Array::randn({64}, 1);
  refused(to_float.bind(x.to(tw::float8_e4m3fn)), "does not support elements of type float8_e4m3fn");
  refused(to_float8.bind(x), "does not support elements of type float8_e5m2");
  refused(sorted_rows.bind(tw::Array::randn({16, 16}, 1), false, 1),
          "does not support sorting: sort, argsort and topk");
}

//
// The interpreter's wide mode
//

TEST(WideMode, rounds_nothing_but_to_double) {
  auto kernel = tw::kernel("wide", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    auto product = tw::empty({x.size(0)}, tw::bfloat16), total = tw::empty({x.size(0)});
    for (auto tile : tw::tile(x.size(0))) {
      product[tile] = x[tile] * y[tile];
      total[tile] = product[tile] + y[tile];
    }
    return std::tuple(product, total);
  });
  tw::Array x = tw::Array::randn({20}, 1), y = tw::Array::randn({20}, 2);
  tw::BoundCall call = kernel.bind(x, y);
  tw::Specialisation specialisation = tw::specialise(call.core().definition(), call.call());
  tw::UnroundedElements unrounded;
  std::vector<tw::Array> rounded;
  tw::with_kernel(specialisation.tile_ir, [&](tw::KernelOp kernel) {
    rounded = tw::interpret_kernel(kernel, {8}, {x, y}, {}, nullptr, &unrounded);
  });
  ASSERT_EQ(unrounded.allocations.size(), 2u);
  for (int64_t i = 0; i < 20; ++i) {
    double a = x.at<float>({i}), b = y.at<float>({i});
    EXPECT_EQ(unrounded.allocations[0][i], a * b);
    EXPECT_EQ(unrounded.allocations[1][i], a * b + b);
    EXPECT_EQ(rounded[0].at<tw::BFloat16>({i}).bits, tw::BFloat16(a * b).bits);
  }
}

} // namespace
