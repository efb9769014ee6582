// What a person reads when something is wrong, rule by rule: the user's file and line, what was found, what was
// expected, and the usual cure. tests/unit/frontend has what each operation refuses, misuse.cpp what does not compile.
#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace tw = tilewright;

namespace {

unsigned wrong_line = 0;

// The statement that is wrong; it stands on one line.
#define WRONG(...) (wrong_line = __LINE__, __VA_ARGS__)

struct Says {
  std::string found, expected, cure;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const tw::Error& error) {
    return error.what();
  }
  return "no error";
}

// `action` throws an Error that names wrong_line of this file and says these three things.
void expect_says(const std::function<void()>& action, const Says& says) {
  const std::string message = message_of(action);
  EXPECT_TRUE(message.starts_with(__FILE__ ":" + std::to_string(wrong_line) + ": ")) << wrong_line << ": " << message;
  EXPECT_NE(message.find(says.found), std::string::npos) << "found: " << says.found << "\nin: " << message;
  EXPECT_NE(message.find(says.expected), std::string::npos) << "expected: " << says.expected << "\nin: " << message;
  EXPECT_NE(message.find(says.cure), std::string::npos) << "cure: " << says.cure << "\nin: " << message;
}

tw::Array array_of_ones(tw::IndexList sizes, tw::DType dtype = tw::float32) { return tw::Array::ones(sizes, dtype); }

tw::Settings untuned() {
  tw::Settings settings;
  settings.autotune_effort = tw::AutotuneEffort::none;
  return settings;
}

// A kernel over a vector whose body is f(x, tile).
template <class F> auto over_vector(F f) {
  return tw::kernel("k", {"x"},
                    [f](tw::Tensor x) {
                      for (auto tile : tw::tile(x.size(0))) f(x, tile);
                    })
      .with(untuned());
}

// One over a matrix, whole in its second dimension: f(x, tile).
template <class F> auto over_rows(F f) {
  return tw::kernel("k", {"x"},
                    [f](tw::Tensor x) {
                      auto [m, n] = x.sizes<2>();
                      for (auto tile : tw::tile(m)) f(x, tile);
                    })
      .with(untuned());
}

template <class F> void expect_vector_says(F f, const Says& says, tw::DType dtype = tw::float32) {
  auto kernel = over_vector(f);
  tw::Array x = array_of_ones({6}, dtype);
  expect_says([&] { kernel(x); }, says);
  EXPECT_TRUE(equal(x, array_of_ones({6}, dtype))) << "something was written";
}

template <class F> void expect_rows_says(F f, const Says& says) {
  auto kernel = over_rows(f);
  tw::Array x = array_of_ones({6, 8});
  expect_says([&] { kernel(x); }, says);
  EXPECT_TRUE(equal(x, array_of_ones({6, 8}))) << "something was written";
}

//
// Arguments: count, dtype, rank, device
//

const unsigned kScaleLine = __LINE__ + 1;
const auto scale = tw::kernel("scale", {"x", "factor"}, [](tw::Tensor x, tw::Scalar<float> factor) {
  for (auto tile : tw::tile(x.size(0))) x[tile] = x[tile] * factor;
});

TEST(Diagnostics, a_wrong_number_of_arguments) {
  wrong_line = kScaleLine;
  tw::AnyArgument x = array_of_ones({6});
  expect_says([&] { scale.bind_any(std::vector<tw::AnyArgument>{x}); },
              {"found 1", "takes 2 arguments", "(x, factor)"});
}

TEST(Diagnostics, an_argument_of_another_kind) {
  wrong_line = kScaleLine;
  tw::AnyArgument x = array_of_ones({6}), two = 2.0;
  expect_says([&] { scale.bind_any(std::vector<tw::AnyArgument>{two, two}); },
              {"found a number", "x of kernel scale is a tensor", "pass a tw::Array"});
  expect_says([&] { scale.bind_any(std::vector<tw::AnyArgument>{x, x}); },
              {"found an array", "factor of kernel scale is a number", "pass a number"});
}

TEST(Diagnostics, an_operand_dtype) {
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = x[tile] & 1); },
                     {"found float32[tile", "takes integers or bools", "compare floating point first"});
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = tw::where(x[tile], 1, 0)); },
                     {"found float32[tile", "must be bool", "write a comparison, as in x != 0"});
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = x[tile].mean(0)); },
                     {"found int32[tile", "takes floating point", "convert it with .to(tw::float32)"}, tw::int32);
}

TEST(Diagnostics, an_argument_rank) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    auto [m, n] = WRONG(x.sizes<2>());
    for (auto tile : tw::tile(m)) x[tile, 0] = 1;
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); }, {"rank 1", "sizes<2>()", "pass an array of 2 dimensions"});
}

TEST(Diagnostics, an_array_without_data) {
  wrong_line = kScaleLine;
  expect_says([&] { scale(tw::Array(), 2); }, {"x is an array without data", "make one", "tw::Array::empty"});
}

TEST(Diagnostics, too_many_subscripts) {
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, 0] = 1); },
                     {"2 subscripts", "rank 1", "it takes one for each dimension"});
}

TEST(Diagnostics, a_dimension_that_is_not_there) {
  expect_rows_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, 0] = x[tile, tw::_].sum(2)); },
                   {"no dimension 2", "rank 2", "from -2 to 1"});
}

//
// Shapes
//

TEST(Diagnostics, an_extremum_of_no_elements) {
  const auto of = [](auto take) {
    return tw::kernel("k", {"x"},
                      [take](tw::Tensor x) {
                        auto out = tw::empty({x.size(0)}, tw::float32);
                        for (auto tile : tw::tile(x.size(0))) out[tile] = take(x[tile, tw::_]);
                        return out;
                      })
        .with(untuned());
  };
  const tw::Array none = tw::Array::ones({3, 0});
  const auto expect_refuses = [&](auto take, const char* name) {
    auto kernel = of(take);
    expect_says([&] { kernel(none); },
                {std::string(name) + " along dimension 1 of float32[", "no elements", "a plain if"});
  };
  expect_refuses([](tw::Value x) { return WRONG(tw::amax(x, 1)); }, "tw::amax");
  expect_refuses([](tw::Value x) { return WRONG(tw::amin(x, -1)); }, "tw::amin");
  expect_refuses([](tw::Value x) { return WRONG(tw::argmax(x, 1)); }, "tw::argmax");
  expect_refuses([](tw::Value x) { return WRONG(tw::argmin(x, 1)); }, "tw::argmin");
  expect_refuses([](tw::Value x) { return WRONG(x.max(1)).first; }, ".max()");
  expect_refuses([](tw::Value x) { return WRONG(tw::norm(x, HUGE_VAL, 1)); }, "tw::norm");
  // Of what has elements elsewhere, and of what has neutral ones, there are results.
  for (const tw::Array& sums :
       {of([](tw::Value x) { return tw::sum(x, 1); })(none), of([](tw::Value x) { return tw::norm(x, 2, 1); })(none)})
    EXPECT_TRUE(equal(sums, tw::Array::zeros({3})));
}

TEST(Diagnostics, shapes_that_do_not_agree) {
  expect_rows_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, tw::_] = x[tile, tw::_] + x[tile, 0]); },
                   {"float32[tile of line", "the shapes of + do not agree", "tw::none inserts a dimension"});
  expect_rows_says(
      [](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, 0] = tw::mm(x[tile, tw::_], x[tile, tw::_]).sum(1)); },
      {"float32[tile of line", "the inner dimensions of tw::mm do not agree", "the same tile"});
}

TEST(Diagnostics, tiles_of_different_loops) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    for (auto a : tw::tile(x.size(0)))
      for (auto b : tw::tile(x.size(0))) WRONG(x[a] = x[a] + x[b]);
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); },
              {"the shapes of + do not agree", "Only what is indexed by the same tile", "tw::none"});
}

TEST(Diagnostics, a_check_of_the_user) {
  auto kernel = tw::kernel("k", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    WRONG(tw::check(x.size(0) == y.size(0), "x has {} elements and y has {}; pass equal ones", x.size(0), y.size(0)));
    for (auto tile : tw::tile(x.size(0))) x[tile] = y[tile];
  });
  tw::Array x = array_of_ones({6}), y = array_of_ones({7});
  expect_says([&] { kernel(x, y); }, {"x has 6", "y has 7", "pass equal ones"});
}

TEST(Diagnostics, an_index_out_of_range) {
  expect_rows_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, 8] = 1); },
                   {"index 8", "dimension 1 of size 8", "from -8 to 7"});
}

TEST(Diagnostics, a_reshape_that_merges_a_tile) {
  expect_rows_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, 0] = x[tile, tw::_].reshape({-1}).sum()); },
                   {"tw::reshape of float32[tile of line", "stay together", "must be whole dimensions"});
  expect_rows_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, tw::_] = tw::flip(x[tile, tw::_], 0)); },
                   {"tw::flip along dimension 0", "may end early", "it takes a whole dimension"});
}

//
// Host and device
//

TEST(Diagnostics, a_host_tensor_read_outside_of_loops) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    tw::Value first = WRONG(x[0]);
    for (auto tile : tw::tile(x.size(0))) x[tile] = first;
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); }, {"reading or writing a tensor is work on the device", "belongs into a tile loop",
                                   "for (auto tile : tw::tile(n))"});
}

TEST(Diagnostics, a_value_made_on_the_host) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    tw::Value zero = WRONG(tw::zeros({4}));
    for (auto tile : tw::tile(x.size(0))) x[tile] = zero;
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); }, {"tw::zeros makes a value on the device", "belongs into a tile loop", "tw::empty"});
}

TEST(Diagnostics, an_allocation_on_the_device) {
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(tw::empty({4})); },
                     {"tw::empty", "is host work", "before the outermost tile loop"});
}

TEST(Diagnostics, statements_between_outermost_loops) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = 2;
    auto out = WRONG(tw::empty_like(x));
    for (auto tile : tw::tile(x.size(0))) out[tile] = 2;
    return out;
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); }, {"tw::empty_like stands after the tile loop", "belongs", "before it"});
  EXPECT_TRUE(equal(x, array_of_ones({6})));
  auto value = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = 2;
    tw::Value first = WRONG(x[0]);
    for (auto tile : tw::tile(x.size(0))) x[tile] = first;
  });
  expect_says([&] { value(x); },
              {"reading or writing a tensor is work on the device", "belongs into a tile loop", "tw::tile(n)"});
}

TEST(Diagnostics, a_missing_barrier) {
  auto kernel = tw::kernel("k", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) y[tile] = x[tile];
    for (auto tile : tw::tile(x.size(0))) WRONG(x[tile] = y[tile]);
  });
  tw::Array x = array_of_ones({6}), y = array_of_ones({6});
  expect_says([&] { kernel(x, y); },
              {"y is read here and written on line", "no order holds", "put tw::barrier() between"});
}

TEST(Diagnostics, a_barrier_that_stands_nowhere) {
  auto last = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = 2;
    WRONG(tw::barrier());
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { last(x); }, {"no tile loop follows", "between two outermost tile loops", "leave it out"});
  expect_vector_says([](tw::Tensor, tw::Tile) { WRONG(tw::barrier()); },
                     {"inside of one", "stands between two outermost tile loops", "programs run on their own"});
}

TEST(Diagnostics, no_tile_loop) {
  wrong_line = __LINE__ + 1;
  auto kernel = tw::kernel("idle", {"x"}, [](tw::Tensor x) { return x; });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); },
              {"kernel idle has no tile loop", "has an outermost loop", "for (auto tile : tw::tile(n))"});
}

TEST(Diagnostics, outermost_bounds_from_data) {
  auto kernel = tw::kernel("k", {"x", "n"}, [](tw::Tensor x, tw::Scalar<int64_t> n) {
    wrong_line = __LINE__ + 1;
    for (auto tile : tw::tile(n)) x[tile] = 2;
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x, 4); },
              {"run-time numbers", "must be sizes, plain numbers or elements of arguments", "plain numbers"});
}

TEST(Diagnostics, a_kernel_called_in_a_kernel) {
  static const auto inner = over_vector([](tw::Tensor x, tw::Tile tile) { x[tile] = 2; });
  static const tw::Array data = array_of_ones({6});
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) { WRONG(inner(data)); },
      {"kernel k is called while another one is recorded", "write what they share", "as a function of tw::Value"});
}

//
// Device statements
//

TEST(Diagnostics, a_loop_left_early) {
  const unsigned loop = __LINE__ + 3;
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      for (auto i : tw::grid(3)) {
        x[tile] = i;
        break;
      }
      WRONG(x[tile] = 2);
    }
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); }, {"the tile loop of line " + std::to_string(loop) + " was left by break",
                                   "it must run to its end", "tw::where chooses by element, tw::if_ by a scalar"});
}

TEST(Diagnostics, a_carried_value_that_changes) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::Value total = tw::zeros({tile}, tw::int32);
      for (auto i : tw::grid(3)) WRONG(total += x[tile] * i);
      x[tile] = total;
    }
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); },
              {"changes from int32", "must keep its dtype and shape", "convert it with .to(tw::int32)"});
}

TEST(Diagnostics, branches_whose_types_differ) {
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) {
        tw::Value v = x[tile];
        wrong_line = __LINE__ + 1;
        tw::if_(x[0] > 0, [&] { v = v + 1; }, [&] { v = v.to(tw::int32); });
        x[tile] = v;
      },
      {"changes from float32[tile of line", "must keep its dtype and shape", "convert it with .to(tw::float32)"});
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) {
        tw::Value v;
        tw::if_(x[0] > 0, [&] { v = x[tile]; }, [&] { v = x[tile].to(tw::int32); });
        WRONG(x[tile] = v);
      },
      {"whose branches give it float32[tile of line", "must give it the same dtype and shape",
       "convert one with .to(tw::float32)"});
}

TEST(Diagnostics, a_branch_on_a_tensor) {
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) {
        wrong_line = __LINE__ + 1;
        tw::if_(x[tile] > 0, [&] { x[tile] = 2; });
      },
      {"found bool[tile of line", "must be a scalar", "tw::where chooses by element"});
}

TEST(Diagnostics, a_while_whose_condition_is_no_scalar) {
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) {
        tw::Value v = x[tile];
        wrong_line = __LINE__ + 1;
        tw::while_([&] { return v < 3; }, [&] { v = v + 1; });
        x[tile] = v;
      },
      {"found bool[tile of line", "the condition of tw::while_ must be a scalar", "tw::where chooses by element"});
}

TEST(Diagnostics, a_while_that_never_ends) {
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) {
        wrong_line = __LINE__ + 1;
        tw::while_([] { return true; }, [&] { x[tile] = 2; });
      },
      {"is the bool true, always", "it must depend on", "what the body assigns"});
}

TEST(Diagnostics, a_value_used_after_its_scope) {
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) {
        tw::Value v;
        tw::if_(x[0] > 0, [&] { v = x[tile]; });
        WRONG(x[tile] = v);
      },
      {"used after the branch of tw::if_", "give it a value before", "assign to it inside"});
}

TEST(Diagnostics, a_loop_in_one_of_its_own_block_size) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    auto block = tw::register_block_size(x.size(0));
    for (auto a : tw::tile(x.size(0), tw::block_size(block))) {
      wrong_line = __LINE__ + 1;
      for (auto b : tw::tile(x.size(0), tw::block_size(block))) x[b] = x[b] + x[a].sum();
    }
  });
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); }, {"of a registered block size stands in another one of the same", "at line",
                                   "give it a block size of its own"});
}

//
// Memory
//

TEST(Diagnostics, indices_that_are_fractions) {
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = x[x[tile]]); },
                     {"found float32[tile", "must be of integers", "convert it with .to(tw::int64)"});
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = x[x[tile] > 0]); },
                     {"found bool[tile", "must be of integers", ".extra_mask"});
  expect_rows_says(
      [](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, tw::_] = tw::gather(x[tile, tw::_], 1, x[tile, tw::_])); },
      {"found float32[", "the index of tw::gather is of integers", "convert it with .to(tw::int64)"});
}

TEST(Diagnostics, atomics_on_other_dtypes) {
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(tw::atomic_and(x, {tile}, 1)); },
                     {"found a tensor of float32", "works on integers and bools", "tw::atomic_add"});
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(tw::atomic_add(x, {tile}, 1)); },
                     {"found a tensor of bool", "works on numbers", "tw::atomic_and, tw::atomic_or"}, tw::boolean);
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(tw::atomic_add(x, {tile}, 1, "strong")); },
                     {"found \"strong\"", "a memory order is", "\"relaxed\", \"acquire\", \"release\" or \"acq_rel\""});
}

TEST(Diagnostics, a_mask_and_a_policy) {
  expect_vector_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = tw::load(x, {tile}, {.extra_mask = x[tile]})); },
                     {"found float32[tile", "an extra_mask must be bool", "write a comparison"});
  expect_vector_says(
      [](tw::Tensor x, tw::Tile tile) { WRONG(x[tile] = tw::load(x, {tile}, {.eviction_policy = "soon"})); },
      {"found \"soon\"", "an eviction policy is", "\"first\" or \"last\""});
}

TEST(Diagnostics, a_store_of_another_shape) {
  expect_rows_says([](tw::Tensor x, tw::Tile tile) { WRONG(x[tile, 0] = x[tile, tw::_]); },
                   {"float32[tile of line", "does not fit into a block of shape", "reduce it"});
}

TEST(Diagnostics, an_argument_that_overlaps) {
  auto kernel = tw::kernel("k", {"x", "y"}, [](tw::Tensor x, tw::Tensor y) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = y[tile];
  });
  tw::Array memory = array_of_ones({8}), x = memory.narrow(0, 0, 5), y = memory.narrow(0, 3, 5);
  expect_says([&] { WRONG(kernel.with(untuned())(x, y)); },
              {"stores to x", "which overlaps y", "pass a clone() of one"});
}

TEST(Diagnostics, an_argument_that_repeats_elements) {
  tw::Array memory = array_of_ones({1, 4}), x = memory.expand({6, 4});
  auto kernel = over_rows([](tw::Tensor x, tw::Tile tile) { x[tile, tw::_] = 2; });
  expect_says([&] { WRONG(kernel(x)); }, {"several of whose indices are one element", "stores to x", "pass a clone()"});
  EXPECT_TRUE(equal(memory, array_of_ones({1, 4})));
}

TEST(Diagnostics, a_tensor_that_memory_has_no_room_for) {
  wrong_line = __LINE__ + 1;
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty({x.size(0), 1 << 30, 1 << 20});
    for (auto tile : tw::tile(x.size(0))) out[tile, 0, 0] = x[tile];
    return out;
  });
  tw::Array x = array_of_ones({6});
  const std::string message = message_of([&] { kernel.with(untuned())(x); });
  EXPECT_TRUE(message.starts_with(__FILE__ ":" + std::to_string(wrong_line) + ": ")) << message;
}

//
// Combiners
//

TEST(Diagnostics, a_combiner_that_stores) {
  expect_rows_says(
      [](tw::Tensor x, tw::Tile tile) {
        auto stores = [&](tw::Value a, tw::Value b) {
          WRONG(x[0, 0] = a);
          return a + b;
        };
        x[tile, 0] = tw::reduce(stores, x[tile, tw::_], 1);
      },
      {"it may not read or write tensors", "a combiner computes with scalars only", "do that before"});
}

TEST(Diagnostics, a_combiner_that_changes_the_dtype) {
  expect_rows_says(
      [](tw::Tensor x, tw::Tile tile) {
        auto widens = [](tw::Value a, tw::Value b) { return (a + b).to(tw::float64); };
        WRONG(x[tile, 0] = tw::reduce(widens, x[tile, tw::_], 1));
      },
      {"is float64", "where its operands are float32", "convert it with .to(tw::float32)"});
}

//
// Edges
//

TEST(Diagnostics, a_partial_tile_against_a_whole_value) {
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
                  auto out = tw::empty({1});
                  auto block = tw::register_block_size(x.size(0));
                  for (auto i : tw::grid(1)) {
                    tw::Value whole = tw::ones({block});
                    for (auto tile : tw::tile(x.size(0), tw::block_size(block))) WRONG(whole = whole / x[tile]);
                    out[i] = whole.sum();
                  }
                  return out;
                }).with(tw::Config{{"block_sizes", {4}}});
  tw::Array x = array_of_ones({6});
  expect_says([&] { kernel(x); },
              {"is whole in one operand and ends early in another", "what the missing lanes are", "use where()"});
}

//
// Configs
//

const unsigned kFillLine = __LINE__ + 1;
const auto fill = tw::kernel("fill", {"x"}, [](tw::Tensor x) {
  for (auto [m, n] : tw::tile({x.size(0), x.size(1)})) x[m, n] = x[m, n] + 1;
});

void expect_config_says(const tw::Config& config, const Says& says) {
  tw::Array x = array_of_ones({6, 8});
  wrong_line = kFillLine;
  expect_says([&] { fill.with(config)(x); }, says);
  EXPECT_TRUE(equal(x, array_of_ones({6, 8})));
}

TEST(Diagnostics, an_option_that_does_not_exist) {
  expect_config_says({{"block_size", {4, 4}}},
                     {"'block_size'", "this kernel has block_sizes", "did you mean 'block_sizes'?"});
  expect_config_says({{"warp_speed", 9}}, {"'warp_speed'", "there is no config option", "this kernel has block_sizes"});
}

TEST(Diagnostics, a_value_that_does_not_exist) {
  expect_config_says({{"block_sizes", {4, 4}}, {"pid_type", "spiral"}},
                     {"found \"spiral\"", "expected one of", "\"flat\", \"persistent_blocked\""});
  expect_config_says({{"block_sizes", {0, 4}}},
                     {"found 0", "'block_sizes'[0] (tile over 6", "expected a positive integer"});
  expect_config_says({{"block_sizes", {4}}}, {"found 1 value [4]", "expected 2", "tile over 8"});
  expect_config_says({{"block_sizes", {4, 4}}, {"loop_orders", {{0, 0}}}},
                     {"found [0, 0]", "'loop_orders'[0]", "expected a permutation of [0, 1]"});
}

TEST(Diagnostics, a_tile_that_is_too_large) {
  wrong_line = __LINE__ + 1;
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
                  auto out = tw::empty({1});
                  for (auto [m, n] : tw::tile({x.size(0), x.size(1)})) tw::atomic_add(out, {0}, x[m, n].sum());
                  return out;
                }).with(tw::Config{{"block_sizes", {1 << 14, 1 << 14}}});
  tw::Array x = array_of_ones({1, 1}).expand({1 << 14, 1 << 14});
  expect_says([&] { kernel(x); },
              {"would have 268435456 elements", "more than the", "choose smaller ones of block_sizes[0] = 16384"});
}

} // namespace
