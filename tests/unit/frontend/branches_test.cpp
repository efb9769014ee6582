// tw::if_, tw::while_, several outermost loops and barriers.
#include "interpreted.h"
#include "tracing.h"

namespace tw = tilewright;
using namespace tw::testing;

namespace {

using tw::Value;

const tw::Array kVector = tw::Array::empty({64});

std::vector<double> run(const tw::BoundCall& call) { return interpret(call)[0].to_vector<double>(); }

//
// Branches
//

TEST(Branches, merge_what_they_assign) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor flags) {
    for (auto i : tw::grid(x.size(0))) {
      Value a = x[i], b = x[i] * 10, unchanged = x[i];
      tw::if_(
          flags[i] > 0, [&] { a = a + 1; },
          [&] {
            b = a;
            a = a - unchanged;
          });
      x[i] = a * 1000 + b;
    }
    return x;
  });
  tw::Array x = tw::Array::from_vector(std::vector<float>{1, 2, 3}),
            flags = tw::Array::from_vector(std::vector<int32_t>{0, 1, 0});
  EXPECT_TRUE(holds(trace_of(kernel, x, flags),
                    {"scf.if %", "-> (f32, f32)", "arith.addf", "scf.yield", "} else {", "arith.subf", "scf.yield"}));
  EXPECT_EQ(run(kernel.bind(x, flags)), (std::vector<double>{1, 3020, 3}));
}

TEST(Branches, store_and_loop) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor which) {
    for (auto tile : tw::tile(x.size(0)))
      tw::if_(which[0] == 1, [&] {
        Value total = tw::zeros({tile});
        for (auto i : tw::grid(3)) total += x[tile] + i;
        x[tile] = total;
      });
    return x;
  });
  auto x = [] { return tw::Array::from_vector(std::vector<float>{1, 2, 3, 4, 5}); };
  std::string text = trace_of(kernel, x(), tw::Array::empty({1}, tw::int32));
  EXPECT_EQ(count(text, "} else {"), 0);
  EXPECT_EQ(run(kernel.bind(x(), tw::Array::from_vector(std::vector<int32_t>{1}))),
            (std::vector<double>{6, 9, 12, 15, 18}));
  EXPECT_EQ(run(kernel.bind(x(), tw::Array::from_vector(std::vector<int32_t>{2}))),
            (std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(Branches, carry_through_loops_and_nest) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto i : tw::grid(x.size(0))) {
      Value even = tw::full({}, 0, tw::int32), odd = tw::full({}, 0, tw::int32);
      for (auto j : tw::grid(7)) {
        Value left;
        tw::if_(
            j % 2 == 0, [&] { tw::if_(j > 3, [&] { left = odd + 100; }, [&] { left = odd; }); }, [&] { left = even; });
        tw::if_(j % 2 == 0, [&] { even += left + 1; }, [&] { odd = left; });
      }
      x[i] = even * 1000 + odd;
    }
    return x;
  });
  int even = 0, odd = 0;
  for (int j = 0; j < 7; ++j) {
    int left = j % 2 == 0 ? (j > 3 ? odd + 100 : odd) : even;
    if (j % 2 == 0)
      even += left + 1;
    else
      odd = left;
  }
  EXPECT_EQ(run(kernel.bind(tw::Array::zeros({2}, tw::int32))), std::vector<double>(2, even * 1000 + odd));
}

TEST(Branches, merge_int64_numbers_of_either_kind) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor lengths) {
    for (auto tile : tw::tile(x.size(0))) {
      Value n = tile.end(), m;
      tw::if_(lengths[0] < n, [&] { n = lengths[0]; });
      tw::if_(n > 2, [&] { m = tile.begin(); }, [&] { m = tile.begin() + 7; });
      Value total = tw::zeros({tile});
      for (auto inner : tw::tile(n)) total += x[inner].sum();
      x[tile] = total + m;
    }
    return x;
  });
  auto of = [&](int64_t length) {
    tw::Array x = tw::Array::from_vector(std::vector<float>{1, 2, 4});
    return run(kernel.bind(x, tw::Array::from_vector(std::vector<int64_t>{length})));
  };
  EXPECT_EQ(of(2), std::vector<double>(3, 10));
  EXPECT_EQ(of(5), std::vector<double>(3, 7));
}

TEST(Branches, on_what_is_known_take_one_side_only) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, bool doubled) {
    for (auto tile : tw::tile(x.size(0))) {
      Value v = x[tile];
      tw::if_(doubled, [&] { v = v * 2; }, [&] { v = v.sum(); });
      x[tile] = v;
    }
    return x;
  });
  EXPECT_EQ(count(trace_of(kernel, kVector, true), "scf.if"), 0);
  EXPECT_EQ(run(kernel.bind(tw::Array::full({3}, 4), true)), std::vector<double>(3, 8));
}

TEST(Branches, what_nobody_needs_is_not_recorded) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto i : tw::grid(x.size(0))) {
      Value a = x[i], b = x[i];
      tw::if_(x[i] > 0, [&] { a = b + 1, b = b + 2; });
      tw::if_(x[i] > 1, [&] { b = b + 3; });
      x[i] = a;
    }
  });
  std::string text = trace_of(kernel, kVector);
  EXPECT_EQ(count(text, "scf.if"), 1);
  EXPECT_EQ(count(text, "arith.addf"), 1);
}

TEST(Branches, keep_dtype_and_shape) {
  int loop = 0, began = 0, branch = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    loop = __LINE__ + 1;
    for (auto tile : tw::tile(x.size(0))) {
      began = __LINE__ + 1;
      Value a = x[tile];
      branch = __LINE__ + 1;
      tw::if_(x[0] > 0, [&] { a = a.to(tw::float64); });
      x[tile] = a;
    }
  });
  std::string message = error_of([&] { trace_of(kernel, kVector); }).message;
  std::string shape = "[tile of line " + std::to_string(loop) + "]";
  EXPECT_EQ(message, "a value that tw::if_ of line " + std::to_string(branch) + " assigns to changes from float32" +
                         shape + " (line " + std::to_string(began) + ") to float64" + shape +
                         "; it must keep its dtype and shape: convert it with .to(tw::float32)");
  EXPECT_ERROR_AT(branch, message, trace_of(kernel, kVector));
}

TEST(Branches, conditions_are_scalars) {
  int line = 0;
  auto kernel = tw::kernel("k", [&](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      line = __LINE__ + 1;
      tw::if_(x[tile] > 0, [&] { x[tile] = 1; });
    }
  });
  std::string message = error_of([&] { trace_of(kernel, kVector); }).message;
  EXPECT_EQ(message, "the condition of tw::if_ must be a scalar, found bool[tile of line " + std::to_string(line - 2) +
                         "]; tw::where chooses by element");
  EXPECT_ERROR_AT(line, message, trace_of(kernel, kVector));
}

TEST(Branches, a_value_of_one_side_ends_with_it) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto i : tw::grid(x.size(0))) {
      Value a;
      tw::if_(x[i] > 0, [&] { a = x[i] + 1; });
      x[i] = a;
    }
  });
  EXPECT_EQ(error_of([&] { trace_of(kernel, kVector); }).message,
            "a tw::Value is used after the branch of tw::if_ in which it got its value; give it a value before and "
            "assign to it inside");
}

TEST(Branches, left_by_an_exception_end_the_recording) {
  unsigned line = __LINE__ + 5;
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      Value a = x[tile];
      try {
        tw::if_(x[0] > 0, [&] {
          for (auto i : tw::grid(2)) {
            a = a + 1;
            throw 1;
          }
        });
      } catch (int) {
      }
      x[tile] = a;
    }
  });
  UserError error = error_of([&] { trace_of(kernel, kVector); });
  EXPECT_TRUE(error.message.starts_with("the tile loop of line " + std::to_string(line + 1)) ||
              error.message.starts_with("the branch of tw::if_ of line " + std::to_string(line)))
      << error.message;
}

//
// Loops on a condition
//

TEST(WhileLoops, run_as_long_as_the_condition_holds) {
  auto collatz = tw::kernel("collatz", [](tw::Tensor x) {
    for (auto i : tw::grid(x.size(0))) {
      Value n = x[i], steps = tw::full({}, 0, tw::int32), limit = tw::full({}, 1000, tw::int32);
      tw::while_([&] { return (n != 1) & (steps < limit); },
                 [&] {
                   tw::if_(n % 2 == 0, [&] { n = tw::floor_divide(n, 2); }, [&] { n = 3 * n + 1; });
                   steps += 1;
                 });
      x[i] = steps;
    }
    return x;
  });
  tw::Array x = tw::Array::from_vector(std::vector<int64_t>{1, 2, 7, 27});
  EXPECT_TRUE(holds(trace_of(collatz, x), {"scf.while", "scf.condition(", "} do {", "scf.if", "scf.yield"}));
  EXPECT_EQ(run(collatz.bind(x)), (std::vector<double>{0, 1, 16, 111}));
}

TEST(WhileLoops, carry_tensors_and_number_of_what_is_exchanged) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      Value a = x[tile], b = tw::ones({tile}), i = tw::full({}, 0, tw::int64);
      tw::while_([&] { return i < 5; },
                 [&] {
                   Value next = a + b;
                   a = b;
                   b = next;
                   i = i + 1;
                 });
      x[tile] = a;
    }
    return x;
  });
  EXPECT_EQ(run(kernel.bind(tw::Array::zeros({5}))), std::vector<double>(5, 5));
}

TEST(WhileLoops, hold_tile_loops_and_stand_in_them) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      Value total = tw::zeros({tile}), seen = tw::full({}, 0, tw::int32), limit = x[0].to(tw::int32) + 1;
      for (auto i : tw::grid(2)) {
        Value round = tw::full({}, 0, tw::int32);
        tw::while_([&] { return round < limit + i; },
                   [&] {
                     for (auto j : tw::grid(3)) total += x[tile] * j;
                     round += 1;
                     tw::if_(round == 2, [&] { seen += round; });
                   });
      }
      x[tile] = total + seen * 1000;
    }
    return x;
  });
  // Two rounds, then three.
  EXPECT_EQ(run(kernel.bind(tw::Array::from_vector(std::vector<float>{1, 10}))), (std::vector<double>{4015, 4150}));
}

TEST(WhileLoops, left_by_an_exception_end_the_recording) {
  for (bool in_condition : {true, false}) {
    auto kernel = tw::kernel("k", [in_condition](tw::Tensor x) {
      for (auto i : tw::grid(x.size(0))) {
        Value n = x[i];
        try {
          tw::while_(
              [&] {
                if (in_condition) throw 1;
                return n < 3;
              },
              [&] {
                n = n + 1;
                tw::reduce([](Value, Value) -> Value { throw 2; }, x[tw::_], 0);
              });
        } catch (int) {
        }
        x[i] = n;
      }
    });
    std::string message = error_of([&] { trace_of(kernel, kVector); }).message;
    EXPECT_TRUE(
        message.starts_with(in_condition ? "the condition of tw::while_ of line" : "the body of tw::while_ of line"))
        << message;
    EXPECT_TRUE(holds(trace_pointwise([](Value x) { return x; }, tw::float32), {"tile.kernel"}));
  }
}

TEST(WhileLoops, whose_condition_cannot_change_are_refused) {
  auto always = tw::kernel("k", [](tw::Tensor x) {
    for (auto i : tw::grid(x.size(0))) tw::while_([&] { return true; }, [&] { x[i] = 1; });
  });
  EXPECT_EQ(error_of([&] { trace_of(always, kVector); }).message,
            "the condition of tw::while_ is the bool true, always: it must depend on what the body assigns");
  auto assigns = tw::kernel("k", [](tw::Tensor x) {
    for (auto i : tw::grid(x.size(0))) {
      Value n = x[i];
      tw::while_(
          [&] {
            n = n + 1;
            return n < 3;
          },
          [&] { n = n + 1; });
    }
  });
  EXPECT_EQ(error_of([&] { trace_of(assigns, kVector); }).message,
            "a condition of tw::while_ assigns to a tw::Value from outside of it; it may only read it");
}

//
// Outermost loops
//

TEST(OutermostLoops, may_be_several) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor y) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) out[tile] = x[tile] + 1;
    for (auto tile : tw::tile(y.size(0))) y[tile] = y[tile] + 2;
    tw::barrier();
    for (auto tile : tw::tile(x.size(0))) out[tile] = out[tile] * 2;
    return out;
  });
  tw::Array x = tw::Array::full({5}, 1), y = tw::Array::full({3}, 1);
  EXPECT_TRUE(holds(trace_of(kernel, x, y), {"tile.for (%arg2: b0)", "parallel", "tile.for (%arg2: b1)", "parallel",
                                             "tile.barrier", "tile.for (%arg2: b2)", "parallel", "tile.return"}));
  EXPECT_EQ(run(kernel.bind(x, y)), std::vector<double>(5, 4));
  EXPECT_EQ(y.to_vector<double>(), std::vector<double>(3, 3));
}

TEST(OutermostLoops, that_touch_what_another_writes_need_a_barrier) {
  unsigned line = __LINE__;
  auto kernel = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) out[tile] = x[tile];
    for (auto tile : tw::tile(x.size(0))) out[tile] = out[tile] * 2;
  });
  EXPECT_ERROR_AT(line + 4,
                  "the tensor allocated on line " + std::to_string(line + 2) + " is read here and written on line " +
                      std::to_string(line + 3) +
                      ", in another outermost tile loop, and no order holds between the two; put tw::barrier() between "
                      "them",
                  trace_of(kernel, kVector));
  auto later_write = tw::kernel("k", {"x"}, [](tw::Tensor x) {
    auto out = tw::empty_like(x);
    for (auto tile : tw::tile(x.size(0))) out[tile] = x[tile];
    for (auto tile : tw::tile(x.size(0))) x[tile] = 2;
  });
  EXPECT_TRUE(
      error_of([&] { trace_of(later_write, kVector); }).message.starts_with("x is written here and read on line"));
}

TEST(OutermostLoops, have_nothing_else_between) {
  auto host = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
    auto out = tw::empty_like(x);
  });
  EXPECT_EQ(error_of([&] { trace_of(host, kVector); }).message,
            "tw::empty_like stands after the tile loop: it belongs before it");
  auto last = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
    tw::barrier();
  });
  EXPECT_EQ(error_of([&] { trace_of(last, kVector); }).message,
            "no tile loop follows tw::barrier(), which stands between two outermost tile loops; leave it out");
  auto first = tw::kernel("k", [](tw::Tensor x) {
    tw::barrier();
    for (auto tile : tw::tile(x.size(0))) x[tile] = 1;
  });
  EXPECT_EQ(error_of([&] { trace_of(first, kVector); }).message,
            "tw::barrier() stands between two outermost tile loops; there is none before it");
  auto inside = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) tw::barrier();
  });
  EXPECT_EQ(error_of([&] { trace_of(inside, kVector); }).message,
            "tw::barrier() stands between two outermost tile loops; inside of one, programs run on their own");
}

TEST(OutermostLoops, inner_bounds_come_from_memory) {
  auto kernel = tw::kernel("k", [](tw::Tensor x, tw::Tensor offsets) {
    auto out = tw::empty({offsets.size(0) - 1});
    for (auto i : tw::grid(offsets.size(0) - 1)) {
      auto total = tw::full({}, 0.0);
      for (auto tile : tw::tile(offsets[i], offsets[i + 1])) total += x[tile].sum();
      out[i] = total;
    }
    return out;
  });
  tw::Array x = tw::Array::arange(10).to(tw::float32),
            offsets = tw::Array::from_vector(std::vector<int32_t>{0, 3, 3, 9, 10});
  EXPECT_EQ(run(kernel.bind(x, offsets)), (std::vector<double>{3, 0, 33, 9}));
}

TEST(StaticRange, is_unrolled) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      Value v = x[tile];
      for (int i : tw::static_range(1, 7, 2)) v = v * 10 + i;
      x[tile] = v;
    }
    return x;
  });
  EXPECT_EQ(run(kernel.bind(tw::Array::zeros({2}))), std::vector<double>(2, 135));
}

TEST(Print, is_a_statement) {
  auto kernel = tw::kernel("k", [](tw::Tensor x) {
    for (auto tile : tw::tile(x.size(0))) {
      tw::print("here");
      tw::print("x", x[tile]);
      tw::print("begin", tile.begin());
      x[tile] = 1;
    }
  });
  EXPECT_TRUE(
      holds(trace_of(kernel, kVector), {"tile.print \"here\"", "tile.print \"x\" %", "tile.print \"begin\" %"}));
}

} // namespace
