// Each form of the language in a kernel of its own, on sizes that divide nothing, with random configs, against the
// interpreter of both levels.
#include "oracle.h"

namespace tw = tilewright;
using tw::test::expect_agrees_with_oracle;

namespace {

tw::Array numbers(tw::IndexList sizes, tw::DType dtype = tw::float32, uint64_t seed = 1) {
  return tw::Array::randint(-8, 9, sizes, seed).to(dtype);
}

tw::Array indices(tw::IndexList sizes, int64_t below, uint64_t seed = 3, tw::DType dtype = tw::int64) {
  return tw::Array::randint(0, below, sizes, seed).to(dtype);
}

//
// Gathers and scatters
//

const auto embedding = tw::kernel("embedding", {"ids", "table"}, [](tw::Tensor ids, tw::Tensor table) {
  auto [n] = ids.sizes<1>();
  auto [rows, d] = table.sizes<2>();
  auto out = tw::empty({n, d}, table.dtype());
  for (auto [tile_n, tile_d] : tw::tile({n, d})) out[tile_n, tile_d] = table[ids[tile_n], tile_d];
  return out;
});

const auto outer_gather = tw::kernel("outer_gather", {"x", "i", "j"}, [](tw::Tensor x, tw::Tensor i, tw::Tensor j) {
  auto out = tw::empty({i.size(0), j.size(0)}, x.dtype());
  for (auto [a, b] : tw::tile({i.size(0), j.size(0)})) out[a, b] = x[i[a], j[b]];
  return out;
});

const auto joint_gather = tw::kernel("joint_gather", {"x", "i", "j"}, [](tw::Tensor x, tw::Tensor i, tw::Tensor j) {
  auto [m, n] = i.sizes<2>();
  auto out = tw::empty({m, n}, x.dtype());
  for (auto [a, b] : tw::tile({m, n})) out[a, b] = x[i[a, b], j[a, b]];
  return out;
});

const auto scatter_rows = tw::kernel("scatter_rows", {"x", "where"}, [](tw::Tensor x, tw::Tensor where) {
  auto [n, d] = x.sizes<2>();
  auto out = tw::empty({n, d}, x.dtype());
  for (auto [tile_n, tile_d] : tw::tile({n, d})) out[where[tile_n], tile_d] = x[tile_n, tile_d] + 1;
  return out;
});

TEST(Gather, rows_of_a_table) {
  for (tw::DType dtype : {tw::float32, tw::bfloat16, tw::int32})
    for (int64_t n : {1, 7, 70})
      expect_agrees_with_oracle(embedding.bind(indices({n}, 33), numbers({33, 19}, dtype)), 3, 1);
  expect_agrees_with_oracle(embedding.bind(indices({31}, 33, 2, tw::int32), numbers({19, 33}).transpose(0, 1)), 3, 1);
}

TEST(Gather, one_dimensional_indices_address_their_outer_product) {
  expect_agrees_with_oracle(outer_gather.bind(numbers({13, 17}), indices({9}, 13), indices({21}, 17)), 4, 1);
}

TEST(Gather, indices_of_rank_two_go_together) {
  expect_agrees_with_oracle(joint_gather.bind(numbers({13, 17}), indices({9, 5}, 13), indices({9, 5}, 17)), 4, 1);
}

TEST(Scatter, rows_in_another_order) {
  tw::Array order = tw::Array::empty({23}, tw::int64);
  for (int64_t i = 0; i < 23; ++i) order.at<int64_t>({i}) = (i * 7) % 23;
  for (tw::DType dtype : {tw::float32, tw::float16, tw::boolean})
    expect_agrees_with_oracle(scatter_rows.bind(numbers({23, 11}, dtype), order), 3, 1);
}

//
// Ranges, shifts, masks
//

const auto differences = tw::kernel("differences", {"x"}, [](tw::Tensor x) {
  tw::Size n = x.size(0) - 1;
  auto out = tw::empty({n}, x.dtype());
  for (auto tile : tw::tile(n)) out[tile] = x[tile + 1] - x[tile];
  return out;
});

const auto halves = tw::kernel("halves", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  tw::Size half = n / 2;
  auto out = tw::empty({m, half}, x.dtype());
  for (auto tile : tw::tile(m)) out[tile, tw::_] = x[tile, tw::slice(0, half)] * 2 + x[tile, tw::slice(half, n)];
  return out;
});

const auto every_other = tw::kernel("every_other", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m}, x.dtype());
  for (auto tile : tw::tile(m)) out[tile] = tw::sum(x[tile, tw::slice(1, n, 2)], 1);
  return out;
});

const auto masked = tw::kernel("masked", {"x", "limit"}, [](tw::Tensor x, tw::Scalar<int64_t> limit) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto v = tw::load(x, {tile}, {.extra_mask = tile.index() < limit});
    out[tile] = v;
    tw::store(out, {tile}, v + 1, {.extra_mask = tile.index() % 2 == 0});
  }
  return out;
});

TEST(Ranges, shifted_tiles) {
  for (int64_t n : {2, 8, 131}) expect_agrees_with_oracle(differences.bind(numbers({n})), 4, 1);
}
TEST(Ranges, halves_of_a_dimension) { expect_agrees_with_oracle(halves.bind(numbers({19, 26})), 4, 1); }
TEST(Ranges, steps) { expect_agrees_with_oracle(every_other.bind(numbers({19, 27})), 4, 16); }
TEST(Masks, of_loads_and_stores) { expect_agrees_with_oracle(masked.bind(numbers({67}), int64_t(40)), 5, 1); }

//
// Tiles over a dimension of size 1: its one element stands for each index
//

const auto column_totals = tw::kernel("column_totals", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, n] = y.sizes<2>();
  auto out = tw::empty({n}, tw::float32);
  for (auto j : tw::tile(n)) {
    auto total = tw::zeros({j});
    for (auto i : tw::tile(m)) total += tw::sum(x[i, j], 0) + tw::amax(y[i, j] * 0, 0);
    out[j] = total;
  }
  return out;
});

const auto product_of_repeated = tw::kernel("product_of_repeated", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [k, n] = y.sizes<2>();
  auto out = tw::empty({x.size(1), n}, tw::float32);
  for (auto [a, b] : tw::tile({x.size(1), n})) {
    auto acc = tw::zeros({a, b});
    for (auto i : tw::tile(k)) acc = tw::addmm(acc, x[i, a].t(), y[i, b]);
    out[a, b] = acc;
  }
  return out;
});

// One source for any number of rows, whose parts are data.
const auto ragged_copy = tw::kernel("ragged_copy", {"x", "offsets"}, [](tw::Tensor x, tw::Tensor offsets) {
  auto [rows, d] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto [group, j] : tw::tile({offsets.size(0) - 1, d}, tw::block_size({1, tw::none}))) {
    auto g = group.begin();
    for (auto i : tw::tile(offsets[g], offsets[g + 1])) out[i, j] = x[i, j] * 2 + tw::sum(x[i, j], 0)[tw::none, tw::_];
  }
  return out;
});

TEST(SizeOne, counts_once_for_each_index_whatever_the_blocks_are) {
  for (int64_t m : {1, 2, 10}) {
    tw::Array x = numbers({1, 4}), y = numbers({m, 4}, tw::float32, 2);
    expect_agrees_with_oracle(column_totals.bind(x, y), 6, m);
    expect_agrees_with_oracle(product_of_repeated.bind(x, y), 6, m);
    tw::test::CallUnderTest test(column_totals.bind(x, y));
    for (const tw::Config& config : test.configs(6))
      for (int64_t j = 0; j < 4; ++j) EXPECT_EQ(test.run(config)[0].at<float>({j}), float(m) * x.at<float>({0, j}));
  }
}

TEST(SizeOne, parts_that_are_data_may_be_of_one_row) {
  for (int64_t rows : {1, 5}) {
    tw::Array offsets = tw::Array::from_vector(std::vector<int64_t>{0, 0, rows});
    expect_agrees_with_oracle(ragged_copy.bind(numbers({rows, 7}), offsets), 4, rows);
  }
}

//
// Atomic accesses
//

template <class Function> auto histogram(const char* name, Function function) {
  return tw::kernel(name, {"x", "bins", "counts"}, [function](tw::Tensor x, tw::Tensor bins, tw::Tensor counts) {
    for (auto tile : tw::tile(x.size(0))) function(counts, bins[tile], x[tile]);
  });
}
const auto add_up = histogram("add_up", [](auto& to, auto bin, auto x) { tw::atomic_add(to, {bin}, x); });
const auto largest = histogram("largest", [](auto& to, auto bin, auto x) { tw::atomic_max(to, {bin}, x); });
const auto smallest = histogram("smallest", [](auto& to, auto bin, auto x) { tw::atomic_min(to, {bin}, x); });

const auto count_up = tw::kernel("count_up", {"x", "total"}, [](tw::Tensor x, tw::Tensor total) {
  for (auto [tile_m, tile_n] : tw::tile({x.size(0), x.size(1)})) tw::atomic_add(total, {0}, tw::sum(x[tile_m, tile_n]));
});

const auto take_turns = tw::kernel("take_turns", {"flags"}, [](tw::Tensor flags) {
  auto out = tw::empty_like(flags);
  for (auto tile : tw::tile(flags.size(0))) {
    out[tile] = tw::atomic_cas(flags, {tile}, 0, 7);
    tw::atomic_xor(flags, {tile}, 1);
  }
  return out;
});

TEST(Atomics, by_bins) {
  for (tw::DType dtype : {tw::int32, tw::int64, tw::float32, tw::float64, tw::float16}) {
    auto bins = indices({90}, 5);
    expect_agrees_with_oracle(add_up.bind(numbers({90}, dtype), bins, tw::Array::zeros({5}, dtype)), 3, 1);
    expect_agrees_with_oracle(largest.bind(numbers({90}, dtype), bins, tw::Array::zeros({5}, dtype)), 3, 1);
    expect_agrees_with_oracle(smallest.bind(numbers({90}, dtype), bins, tw::Array::zeros({5}, dtype)), 3, 1);
  }
}
TEST(Atomics, of_a_total) {
  expect_agrees_with_oracle(count_up.bind(numbers({17, 33}, tw::int64), tw::Array::zeros({1}, tw::int64)), 4, 1);
}
TEST(Atomics, give_what_was_there) { expect_agrees_with_oracle(take_turns.bind(indices({37}, 2, 5, tw::int32)), 4, 1); }

//
// Branches and loops on conditions
//

const auto branches = tw::kernel("branches", {"x", "kind"}, [](tw::Tensor x, tw::Tensor kind) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto [row, tile] : tw::tile({m, n}, tw::block_size({1, tw::none}))) {
    auto v = x[row, tile];
    auto which = kind[row.begin()];
    tw::if_(
        which == 0, [&] { v = v * 2; },
        [&] {
          tw::if_(which == 1, [&] { v = tw::exp(v * 0.125); });
          v = v + 1;
        });
    out[row, tile] = v;
  }
  return out;
});

const auto collatz = tw::kernel("collatz", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(0)}, tw::int64);
  for (auto i : tw::grid(x.size(0))) {
    auto number = x[i].to(tw::int64);
    auto steps = tw::full({}, 0, tw::int64);
    tw::while_([&] { return number > 1; },
               [&] {
                 number = tw::where(number % 2 == 0, tw::floor_divide(number, 2), number * 3 + 1);
                 steps += 1;
               });
    out[i] = steps;
  }
  return out;
});

const auto doubling = tw::kernel("doubling", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(m)) {
    auto v = x[tile, tw::_] + 0;
    auto rounds = tw::full({}, 0, tw::int32);
    tw::while_([&] { return (tw::amax(tw::abs(v)) < 100) & (rounds < 5); },
               [&] {
                 v = v * 2;
                 rounds += 1;
               });
    out[tile, tw::_] = v;
  }
  return out;
});

TEST(Control, branches_on_what_was_loaded) {
  expect_agrees_with_oracle(branches.bind(numbers({9, 37}), indices({9}, 3, 4, tw::int32)), 5, 8);
}
TEST(Control, while_on_scalars) { expect_agrees_with_oracle(collatz.bind(indices({20}, 30, 8, tw::int32)), 2, 1); }
TEST(Control, while_carries_tensors) {
  tw::test::CallUnderTest test(doubling.bind(numbers({13, 21})));
  // The number of rounds depends on what is in a tile, so only configs of equal blocks are comparable.
  for (const tw::Config& config : test.configs(4)) {
    tw::test::expect_agrees(test.interpret(config), test.interpret_kernel(config), 1);
    tw::test::expect_agrees(test.run(config), test.interpret(config), 1);
  }
}

//
// Bounds from data
//

const auto ragged_sum = tw::kernel("ragged_sum", {"x", "offsets"}, [](tw::Tensor x, tw::Tensor offsets) {
  tw::Size rows = offsets.size(0) - 1;
  auto out = tw::empty({rows}, tw::float32);
  for (auto row : tw::grid(rows)) {
    auto total = tw::full({}, 0.0, tw::float32);
    for (auto tile : tw::tile(offsets[row], offsets[row + 1])) total += tw::sum(x[tile]);
    out[row] = total;
  }
  return out;
});

TEST(Bounds, from_data) {
  tw::Array offsets = tw::Array::empty({8}, tw::int64);
  int64_t ends[] = {0, 3, 3, 20, 21, 58, 60, 64};
  for (int64_t i = 0; i < 8; ++i) offsets.at<int64_t>({i}) = ends[i];
  expect_agrees_with_oracle(ragged_sum.bind(numbers({64}), offsets), 6, 64);
}

//
// Reductions and scans
//

#define UNARY_ROWS(name, dtype, expression)                                                                            \
  const auto name = tw::kernel(#name, {"x"}, [](tw::Tensor x) {                                                        \
    auto out = tw::empty({x.size(0)}, dtype);                                                                          \
    for (auto tile : tw::tile(x.size(0))) {                                                                            \
      auto v = x[tile, tw::_];                                                                                         \
      out[tile] = expression;                                                                                          \
    }                                                                                                                  \
    return out;                                                                                                        \
  });
UNARY_ROWS(row_argmax, tw::int64, tw::argmax(v, 1))
UNARY_ROWS(row_argmin, tw::int64, tw::argmin(v, 1))
UNARY_ROWS(row_prod, tw::float32, tw::prod(v * 0.25, 1))
UNARY_ROWS(row_any, tw::boolean, tw::any(v > 7, 1))
UNARY_ROWS(row_all, tw::boolean, tw::all(v > -8, 1))
UNARY_ROWS(row_var, tw::float32, tw::var(v, 1))
UNARY_ROWS(row_logsumexp, tw::float32, tw::logsumexp(v, 1))
UNARY_ROWS(row_norm, tw::float32, tw::norm(v, 2, 1))
UNARY_ROWS(row_count, tw::int64, tw::count_nonzero(v, 1))
UNARY_ROWS(row_own, tw::float32, tw::reduce([](tw::Value a, tw::Value b) { return tw::maximum(a, b); }, v, 1, -100))
#undef UNARY_ROWS

const auto column_argmax = tw::kernel("column_argmax", {"x"}, [](tw::Tensor x) {
  auto out = tw::empty({x.size(1)}, tw::int64);
  for (auto tile : tw::tile(x.size(1))) out[tile] = tw::argmax(x[tw::_, tile], 0);
  return out;
});

TEST(Reductions, along_rows) {
  for (int64_t n : {1, 5, 70}) {
    tw::Array x = numbers({19, n});
    expect_agrees_with_oracle(row_argmax.bind(x), 3, 1);
    expect_agrees_with_oracle(row_argmin.bind(x), 3, 1);
    expect_agrees_with_oracle(row_prod.bind(x), 3, n);
    expect_agrees_with_oracle(row_any.bind(x), 3, 1);
    expect_agrees_with_oracle(row_all.bind(x), 3, 1);
    if (n > 1) expect_agrees_with_oracle(row_var.bind(x), 3, n);
    expect_agrees_with_oracle(row_logsumexp.bind(x), 3, n);
    expect_agrees_with_oracle(row_norm.bind(x), 3, n);
    expect_agrees_with_oracle(row_count.bind(x), 3, 1);
    expect_agrees_with_oracle(row_own.bind(x), 3, 1);
  }
}
TEST(Reductions, argmax_down_columns) { expect_agrees_with_oracle(column_argmax.bind(numbers({27, 45})), 4, 1); }

template <bool kReverse> auto scan_rows(const char* name) {
  return tw::kernel(name, {"x"}, [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto [tile_m, tile_n] : tw::tile({x.size(0), x.size(1)})) {
      auto sum = [](tw::Value a, tw::Value b) { return a + b; };
      out[tile_m, tile_n] = tw::associative_scan(sum, x[tile_m, tile_n], 1, kReverse);
    }
    return out;
  });
}
const auto scan_forward = scan_rows<false>("scan_forward");
const auto scan_backward = scan_rows<true>("scan_backward");

const auto running = tw::kernel("running", {"x"}, [](tw::Tensor x) {
  auto sums = tw::empty_like(x, tw::int64);
  auto values = tw::empty_like(x);
  auto where = tw::empty_like(x, tw::int64);
  for (auto tile : tw::tile(x.size(1))) {
    auto v = x[tw::_, tile];
    sums[tw::_, tile] = tw::cumsum(v, 0);
    auto [largest, index] = tw::cummax(v, 0);
    values[tw::_, tile] = largest;
    where[tw::_, tile] = index;
  }
  return std::tuple(sums, values, where);
});

// Sums of runs of one key, by a scan of (key, value) pairs.
const auto segmented = tw::kernel("segmented", {"keys", "x"}, [](tw::Tensor keys, tw::Tensor x) {
  auto out = tw::empty_like(x);
  for (auto tile : tw::tile(x.size(0))) {
    auto combine = [](tw::Value key_a, tw::Value a, tw::Value key_b, tw::Value b) {
      return std::tuple(key_b, tw::where(key_a == key_b, a + b, b));
    };
    auto [key, total] = tw::associative_scan(combine, std::tuple<tw::Value, tw::Value>(keys[tile], x[tile]), 0);
    out[tile] = total;
  }
  return out;
});

TEST(Scans, of_ragged_tiles_both_ways) {
  for (int64_t n : {1, 6, 45}) {
    expect_agrees_with_oracle(scan_forward.bind(numbers({9, n})), 4, n);
    expect_agrees_with_oracle(scan_backward.bind(numbers({9, n})), 4, n);
    expect_agrees_with_oracle(scan_backward.bind(numbers({9, n}, tw::int32)), 3, 1);
  }
}
TEST(Scans, down_columns) {
  expect_agrees_with_oracle(running.bind(numbers({13, 37}, tw::int32)), 4, 1);
  expect_agrees_with_oracle(running.bind(numbers({37, 5}, tw::int32)), 4, 1);
}
TEST(Scans, of_pairs) {
  expect_agrees_with_oracle(segmented.bind(tw::Array::arange(50).to(tw::int32), numbers({50})), 3, 50);
}

//
// Several outermost loops
//

const auto two_loops = tw::kernel("two_loops", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto doubled = tw::empty_like(x);
  auto sums = tw::empty({m}, x.dtype());
  for (auto [tile_m, tile_n] : tw::tile({m, n})) doubled[tile_m, tile_n] = x[tile_m, tile_n] * 2;
  for (auto tile : tw::tile(m)) sums[tile] = tw::sum(x[tile, tw::_], 1);
  return std::tuple(doubled, sums);
});

const auto split_k = tw::kernel("split_k", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
  auto [m, k] = x.sizes<2>();
  auto n = y.size(1);
  constexpr int kParts = 3;
  auto parts = tw::empty({kParts, m, n}, tw::float32);
  auto out = tw::empty({m, n}, tw::float32);
  tw::Size each = (k + (kParts - 1)) / kParts;
  for (auto [part, tile_m, tile_n] : tw::tile({kParts, m, n}, tw::block_size({1, tw::none, tw::none}))) {
    auto acc = tw::zeros({tile_m, tile_n}, tw::float32);
    auto begin = part.begin() * each;
    for (auto tile_k : tw::tile(begin, tw::minimum(begin + each, k)))
      acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
    parts[part.begin(), tile_m, tile_n] = acc;
  }
  tw::barrier();
  for (auto [tile_m, tile_n] : tw::tile({m, n})) out[tile_m, tile_n] = tw::sum(parts[tw::_, tile_m, tile_n], 0);
  return out;
});

TEST(Loops, several_outermost) { expect_agrees_with_oracle(two_loops.bind(numbers({19, 35})), 6, 35); }
TEST(Loops, a_barrier_between) { expect_agrees_with_oracle(split_k.bind(numbers({17, 29}), numbers({29, 23})), 6, 29); }

//
// Shapes
//

const auto fold_pairs = tw::kernel("fold_pairs", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n / 2}, x.dtype());
  for (auto tile : tw::tile(m)) out[tile, tw::_] = tw::sum(tw::reshape(x[tile, tw::_], {tile, n / 2, 2}), 2);
  return out;
});

const auto rotate = tw::kernel("rotate", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m, n}, x.dtype());
  for (auto tile : tw::tile(m)) {
    auto parts = tw::chunk(x[tile, tw::_], 2, 1);
    out[tile, tw::_] = tw::cat({-parts[1], tw::flip(parts[0], 1)}, 1);
  }
  return out;
});

const auto lookup = tw::kernel("lookup", {"x", "index"}, [](tw::Tensor x, tw::Tensor index) {
  auto out = tw::empty({index.size(0), index.size(1)}, x.dtype());
  for (auto tile : tw::tile(x.size(0)))
    out[tile, tw::_] = tw::gather(tw::exp(x[tile, tw::_] * 0.125), 1, index[tile, tw::_]);
  return out;
});

TEST(Shapes, reshape) { expect_agrees_with_oracle(fold_pairs.bind(numbers({11, 26})), 4, 2); }
TEST(Shapes, parts_put_together) { expect_agrees_with_oracle(rotate.bind(numbers({11, 26})), 4, 1); }
TEST(Shapes, gather_from_a_value) {
  expect_agrees_with_oracle(lookup.bind(numbers({11, 26}), indices({11, 9}, 26)), 4, 4);
}

//
// Random numbers
//

const auto dropout = tw::kernel("dropout", {"x", "seed"}, [](tw::Tensor x, tw::Scalar<int64_t> seed) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty_like(x);
  for (auto [tile_m, tile_n] : tw::tile({m, n}))
    out[tile_m, tile_n] = tw::where(tw::rand({tile_m, tile_n}, seed) < 0.5, 0.0, x[tile_m, tile_n] * 2);
  return out;
});

TEST(Random, does_not_depend_on_the_config) {
  auto call = dropout.bind(numbers({19, 37}), int64_t(5));
  expect_agrees_with_oracle(call, 4, 1);
  tw::test::CallUnderTest test(call);
  std::vector<tw::Array> first = test.run(test.default_config());
  for (const tw::Config& config : test.configs(5)) EXPECT_TRUE(equal(test.run(config)[0], first[0]));
}

//
// Printing
//

const auto printed = tw::kernel("printed", {"x"}, [](tw::Tensor x) {
  for (auto tile : tw::tile(x.size(0), tw::block_size(2))) {
    tw::print("begin", tile.begin());
    tw::print("x", x[tile] * 0.5);
    tw::print("end");
  }
});

TEST(Print, a_line_for_each_element_that_exists) {
  tw::test::CallUnderTest test(printed.bind(tw::Array::arange(3).to(tw::int32)));
  const char* lines = "begin (program 0) = 0\nx (program 0) [0] = 0\nx (program 0) [1] = 0.5\nend (program 0)\n"
                      "begin (program 1) = 2\nx (program 1) [0] = 1\nend (program 1)\n";
  tw::Config config = test.default_config();
  config.set("num_threads", int64_t(1));
  for (auto run : {&tw::test::CallUnderTest::run, &tw::test::CallUnderTest::interpret,
                   &tw::test::CallUnderTest::interpret_kernel}) {
    testing::internal::CaptureStdout();
    (test.*run)(config);
    std::fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), lines);
  }
}

//
// Past 2^31 elements
//

const auto far_end = tw::kernel("far_end", {"x"}, [](tw::Tensor x) {
  tw::Size n = x.size(0), begin = n - 70;
  auto out = tw::empty({70}, tw::int64);
  for (auto tile : tw::tile(begin, n)) out[tile - begin] = tile.index() * 2 + x[tile];
  return out;
});

TEST(Large, indices_beyond_int32_are_int64) {
  // One element in memory, repeated along a dimension of more than 2^32.
  int64_t n = (int64_t(1) << 32) + 123;
  tw::Array one = tw::Array::ones({1}, tw::int8);
  tw::Array x = tw::Array::from_pointer(one.data(), {n}, {0}, tw::int8);
  expect_agrees_with_oracle(far_end.bind(x), 3, 1);
  tw::test::CallUnderTest test(far_end.bind(x));
  EXPECT_EQ(test.run(test.default_config())[0].at<int64_t>({69}), 2 * (n - 1) + 1);
}

const auto near_the_end = tw::kernel("near_the_end", {"x"}, [](tw::Tensor x) {
  auto [m, n] = x.sizes<2>();
  auto out = tw::empty({m}, tw::int32);
  for (auto row : tw::grid(m - 3, m)) out[row] = x[row, tw::_].to(tw::int32).sum();
  return out;
});

TEST(Large, offsets_beyond_int32) {
  // 2^17 rows of 2^17 elements that share the memory of the last row's neighbours: 2^34 elements, 1 MiB in memory.
  int64_t n = int64_t(1) << 17;
  tw::Array memory = tw::Array::randint(0, 5, {n * 8}, 3, tw::int8);
  tw::Array x = tw::Array::from_pointer(memory.data(), {n, n}, {7, 1}, tw::int8);
  tw::test::CallUnderTest test(near_the_end.bind(x));
  tw::Array found = test.run(test.default_config())[0];
  int32_t expected = 0;
  for (int64_t i = 0; i < n; ++i) expected += memory.at<int8_t>({(n - 1) * 7 + i});
  EXPECT_EQ(found.at<int32_t>({n - 1}), expected);
}

//
// Allocations with a value, and partial tiles beside whole blocks
//

const auto count_values = tw::kernel("count_values", {"x"}, [](tw::Tensor x) {
  auto counts = tw::empty({9}, tw::int32).fill(100);
  for (auto tile : tw::tile(x.size(0))) tw::atomic_add(counts, {x[tile]}, 1);
  return counts;
});

TEST(Allocations, begin_with_a_value) {
  tw::Array x = indices({50}, 9);
  expect_agrees_with_oracle(count_values.bind(x), 3, 1);
  tw::Array counts = count_values.with(tw::Config::from_json(R"({"block_sizes": [16]})"))(x);
  int32_t total = 0;
  for (int64_t i = 0; i < 9; ++i) total += counts.at<int32_t>({i});
  EXPECT_EQ(total, 950);
}

// Each program adds up several tiles of one block size in a block-sized accumulator: the last tile is shorter.
template <class Combine> auto fold_blocks(const char* name, Combine combine, double start) {
  return tw::kernel(name, {"x"}, [combine, start](tw::Tensor x) {
    auto [m, n] = x.sizes<2>();
    auto block = tw::register_block_size(n);
    auto out = tw::empty({m}, x.dtype());
    for (auto tile_m : tw::tile(m)) {
      auto acc = tw::full({tile_m, block}, start, x.dtype());
      for (auto tile_n : tw::tile(n, tw::block_size(block))) acc = combine(acc, x[tile_m, tile_n]);
      out[tile_m] = tw::sum(acc, 1);
    }
    return out;
  });
}
const auto fold_sum = fold_blocks("fold_sum", [](auto acc, auto x) { return acc + x; }, 0);
const auto fold_difference = fold_blocks("fold_difference", [](auto acc, auto x) { return acc - x; }, 1);
const auto fold_product = fold_blocks("fold_product", [](auto acc, auto x) { return x * acc; }, 1);
const auto fold_largest = fold_blocks("fold_largest", [](auto acc, auto x) { return tw::maximum(acc, x); }, -100);
const auto fold_chosen = fold_blocks("fold_chosen", [](auto acc, auto x) { return tw::where(x > 0, acc + 1, acc); }, 0);
const auto fold_quotient = fold_blocks("fold_quotient", [](auto acc, auto x) { return acc / x; }, 1);

TEST(PartialTiles, leave_a_block_as_it_is_where_they_end) {
  for (int64_t n : {1, 5, 37}) {
    tw::Array x = numbers({6, n});
    expect_agrees_with_oracle(fold_sum.bind(x), 4, n);
    expect_agrees_with_oracle(fold_difference.bind(x), 4, n);
    expect_agrees_with_oracle(fold_product.bind(numbers({6, n}, tw::float64)), 4, n);
    expect_agrees_with_oracle(fold_largest.bind(x), 4, n);
    expect_agrees_with_oracle(fold_chosen.bind(x), 4, n);
  }
  tw::test::CallUnderTest test(fold_sum.bind(numbers({6, 37})));
  for (const tw::Config& config : test.configs(4))
    tw::test::expect_agrees(test.run(config), test.run(test.default_config()), 37);
}

TEST(PartialTiles, are_refused_where_missing_elements_have_no_meaning) {
  try {
    tw::test::CallUnderTest refused(fold_quotient.bind(numbers({6, 5})));
    FAIL() << "nothing was thrown";
  } catch (const tw::Error& error) {
    EXPECT_NE(std::string(error.what()).find("use where() to say what the missing lanes are"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("language_test.cpp"), std::string::npos);
  }
}

} // namespace
