// Shapes, ranges and random numbers, by the interpreter.
#include "interpreted.h"
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

using tw::Value;

tw::Array numbered(const tw::IndexList& sizes) {
  tw::Array array = tw::Array::empty(sizes);
  for (int64_t i = 0; i < array.numel(); ++i) static_cast<float*>(array.data())[i] = float(i);
  return array;
}

// f of each row of a matrix [3, columns], which is a row of `width`.
template <class F> std::vector<double> of_rows(int64_t columns, int64_t width, F f) {
  auto kernel = tw::kernel("rows", [f, width](tw::Tensor x) {
    auto out = tw::empty({x.size(0), width});
    for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = f(x[tile, tw::_], tile);
    return out;
  });
  return interpret(kernel.bind(numbered({3, columns})), 2)[0].template to_vector<double>();
}

TEST(Shapes, reshape_whole_dimensions) {
  EXPECT_EQ(of_rows(6, 2, [](Value v, tw::Tile t) { return v.reshape({t, 2, 3}).sum(2); }),
            (std::vector<double>{3, 12, 21, 30, 39, 48}));
  EXPECT_EQ(of_rows(6, 3, [](Value v, tw::Tile t) { return v.view({t, -1, 3}).sum(1); }),
            (std::vector<double>{3, 5, 7, 15, 17, 19, 27, 29, 31}));
  EXPECT_EQ(of_rows(4, 4, [](Value v, tw::Tile t) { return v.reshape({t, 2, 2}).transpose(1, 2).flatten(1); }),
            (std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11}));
  EXPECT_EQ(
      of_rows(2, 2, [](Value v, tw::Tile t) { return v[tw::none, tw::_, tw::none].squeeze().unsqueeze(0).squeeze(0); }),
      (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(Shapes, reshape_refuses_to_touch_a_tile) {
  auto trace = [](auto f) {
    auto kernel = tw::kernel("k", [f](tw::Tensor x) {
      for (auto tile : tw::tile(x.size(0))) x[tile, tw::_] = f(x[tile, tw::_], tile).sum();
    });
    return error_of([&] { trace_of(kernel, numbered({8, 6})); }).message;
  };
  EXPECT_TRUE(trace([](Value v, tw::Tile t) { return v.reshape({2, -1}); })
                  .ends_with("the elements of a tile's dimension stay together; what merges or splits must be whole "
                             "dimensions"));
  EXPECT_TRUE(trace([](Value v, tw::Tile t) {
                return v.reshape({t, 5});
              }).ends_with("they have different numbers of elements"));
  EXPECT_TRUE(trace([](Value v, tw::Tile t) {
                return v.reshape({t, 4, -1});
              }).ends_with("the elements do not divide by the sizes given"));
  EXPECT_TRUE(
      trace([](Value v, tw::Tile t) { return v.flip(0); }).starts_with("tw::flip along dimension 0 of float32[tile"));
  EXPECT_TRUE(
      trace([](Value v, tw::Tile t) { return tw::cat({v, v}, 0); }).starts_with("tw::cat along dimension 0 of"));
}

TEST(Shapes, expand_repeats) {
  EXPECT_EQ(of_rows(1, 2, [](Value v, tw::Tile t) { return v.expand({-1, 2}); }),
            (std::vector<double>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(of_rows(2, 2, [](Value v, tw::Tile t) { return v.sum(0).broadcast_to({t, 2}); }).size(), 6u);
  EXPECT_EQ(of_rows(1, 3, [](Value v, tw::Tile t) { return v.expand_as(tw::zeros({t, 3})); }),
            (std::vector<double>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  // Along a tile only the elements that are there.
  EXPECT_EQ(
      of_rows(1, 1, [](Value v, tw::Tile t) { return tw::ones({1}).expand({t}).sum()[tw::none, tw::none] + v * 0; }),
      (std::vector<double>{2, 2, 1}));
}

TEST(Shapes, join_and_take_apart) {
  EXPECT_EQ(of_rows(2, 4, [](Value v, tw::Tile t) { return tw::stack({v, v * 10}, 1).flatten(1); }),
            (std::vector<double>{0, 1, 0, 10, 2, 3, 20, 30, 4, 5, 40, 50}));
  EXPECT_EQ(of_rows(2, 4, [](Value v, tw::Tile t) { return tw::join(v, v * 10).flatten(1); }),
            (std::vector<double>{0, 0, 1, 10, 2, 20, 3, 30, 4, 40, 5, 50}));
  EXPECT_EQ(
      of_rows(2, 4, [](Value v, tw::Tile t) { return tw::cat({v, -v[tw::_, tw::none].sum(2), tw::ones({t, 1})}, 1); }),
      (std::vector<double>{0, 1, -1, 1, 2, 3, -5, 1, 4, 5, -9, 1}));
  EXPECT_EQ(of_rows(5, 2,
                    [](Value v, tw::Tile t) {
                      auto parts = tw::split(v, 2, 1);
                      EXPECT_EQ(parts.size(), 3u);
                      return parts[1] + parts[2] * 100;
                    }),
            (std::vector<double>{402, 403, 907, 908, 1412, 1413}));
  EXPECT_EQ(of_rows(4, 2,
                    [](Value v, tw::Tile t) {
                      auto [even, odd] = tw::split(v.reshape({t, 2, 2}));
                      return odd * 10 - even;
                    }),
            (std::vector<double>{10, 28, 46, 64, 82, 100}));
  EXPECT_EQ(of_rows(3, 1, [](Value v, tw::Tile t) { return tw::chunk(v, 3, 1)[2]; }), (std::vector<double>{2, 5, 8}));
}

TEST(Shapes, flip_and_gather) {
  EXPECT_EQ(of_rows(3, 3, [](Value v, tw::Tile t) { return v.flip(1); }),
            (std::vector<double>{2, 1, 0, 5, 4, 3, 8, 7, 6}));
  EXPECT_EQ(of_rows(3, 2,
                    [](Value v, tw::Tile t) {
                      Value index = (tw::arange(2) + t.index()[tw::_, tw::none]) % 3;
                      return v.gather(1, index);
                    }),
            (std::vector<double>{0, 1, 4, 5, 8, 6}));
  EXPECT_EQ(of_rows(2, 2, [](Value v, tw::Tile t) { return v.T().t(); }), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(Creation, arange_and_new_values) {
  EXPECT_EQ(of_rows(3, 3, [](Value v, tw::Tile t) { return v * 0 + tw::arange(2, 5); }),
            (std::vector<double>{2, 3, 4, 2, 3, 4, 2, 3, 4}));
  EXPECT_EQ(of_rows(1, 1, [](Value v, tw::Tile t) { return v + tw::arange(t.block_size())[tw::_, tw::none] * 10; }),
            (std::vector<double>{0, 11, 2}));
  EXPECT_EQ(of_rows(1, 2, [](Value v, tw::Tile t) { return v.new_ones({t, 2}) + v.new_full({2}, 3); }),
            std::vector<double>(6, 4));
}

//
// Random numbers
//

tw::Array random_matrix(int64_t block, auto make) {
  auto kernel = tw::kernel("k", [make](tw::Tensor out) {
    for (auto tiles : tw::tile({out.size(0), out.size(1)})) out[tiles] = make(tiles);
    return out;
  });
  return interpret(kernel.bind(tw::Array::empty({3, 5}, make.dtype)), block)[0];
}

struct Uniform {
  tw::DType dtype;
  Value operator()(const tw::Tiles<2>& tiles) const { return tw::rand(tiles, 0x123456789abcdef0, dtype); }
};
struct Normal {
  tw::DType dtype;
  Value operator()(const tw::Tiles<2>& tiles) const { return tw::randn(tiles, 7, dtype); }
};
struct Integers {
  tw::DType dtype;
  int64_t low, high;
  Value operator()(const tw::Tiles<2>& tiles) const { return tw::randint(low, high, tiles, -5, dtype); }
};

TEST(Random, numbers_are_those_of_arrays_for_every_block_size) {
  for (int64_t block : {1, 2, 8}) {
    for (tw::DType dtype : {tw::float32, tw::float64, tw::float16, tw::bfloat16}) {
      EXPECT_EQ(random_matrix(block, Uniform{dtype}).to_vector<double>(),
                tw::Array::rand({3, 5}, 0x123456789abcdef0, dtype).to_vector<double>());
      EXPECT_EQ(random_matrix(block, Normal{dtype}).to_vector<double>(),
                tw::Array::randn({3, 5}, 7, dtype).to_vector<double>());
    }
    EXPECT_EQ(random_matrix(block, Integers{tw::int32, -3, 10}).to_vector<double>(),
              tw::Array::randint(-3, 10, {3, 5}, uint64_t(-5), tw::int32).to_vector<double>());
    int64_t huge = int64_t(1) << 52;
    EXPECT_EQ(random_matrix(block, Integers{tw::int64, -huge, huge}).to_vector<int64_t>(),
              tw::Array::randint(-huge, huge, {3, 5}, uint64_t(-5), tw::int64).to_vector<int64_t>());
  }
}

TEST(Random, calls_have_streams_of_their_own_and_inner_tiles_count_in_the_whole) {
  auto kernel = tw::kernel("k", [](tw::Tensor seed) {
    auto out = tw::empty({3, 6, 4});
    for (auto tile : tw::tile(6)) {
      Value first = tw::rand({tile}, seed[0]), second = tw::rand({tile}, seed[0]);
      out[0, tile, 0] = first;
      out[1, tile, 0] = second;
      for (auto inner : tw::tile(tile.begin(), tile.end())) {
        auto four = tw::rand4x({inner, 4}, seed[0]);
        out[2, inner, tw::_] = four[0] + four[3] * 0;
      }
    }
    return out;
  });
  tw::Array seed = tw::Array::from_vector(std::vector<int64_t>{42});
  std::vector<double> once = interpret(kernel.bind(seed), 4)[0].to_vector<double>();
  std::vector<double> again = interpret(kernel.bind(seed), 1)[0].to_vector<double>();
  tw::Array expected = tw::Array::rand({6}, 42);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(once[4 * i], expected.to_vector<double>()[i]);
    EXPECT_EQ(once[4 * i], again[4 * i]);
    EXPECT_EQ(once[24 + 4 * i], again[24 + 4 * i]);
    EXPECT_NE(once[4 * i], once[24 + 4 * i]);
    for (int j = 0; j < 4; ++j) EXPECT_EQ(once[48 + 4 * i + j], again[48 + 4 * i + j]);
  }
}

TEST(Random, refuses_what_would_depend_on_the_config) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0)))
      for (auto inner : tw::tile(0, tile.begin() + 1)) x[tile, inner] = tw::rand({tile, inner}, 1);
  });
  EXPECT_TRUE(error_of([&] {
                trace_of(kernel, numbered({4, 4}));
              }).message.starts_with("tw::rand over a tile of a loop whose bounds depend on a block size"));
}

} // namespace
