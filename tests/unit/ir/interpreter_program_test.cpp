#include "ir/interpreter.h"

#include "ir/ir_text.h"
#include "support/error_of.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

// A program over x and out, both float32 of rank 1, with some numbers at hand.
std::string program(int64_t x, int64_t out, const std::string& body,
                    const std::string& programs = "programs = 1 : i64") {
  return with(R"(
tile.program @p(%x: !tile.array<f32, [$x], strides [1]> {tile.name = "x"},
                %out: !tile.array<f32, [$out], strides [1]> {tile.name = "out"}) attributes {$programs} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %f0 = arith.constant 0.0 : f32
  $body
  tile.return
}
)",
              {{"body", body}, {"programs", programs}, {"x", x}, {"out", out}});
}

// Where the body begins.
constexpr unsigned kBodyLine = 10;

const char* const kX = "!tile.array<f32, [4], strides [1]>";

// The result for x = 1, 2, 3, 4.
Floats run(const std::string& body, int64_t out = 4) {
  Array result = Array::full({out}, -1);
  interpret_program(IrText(program(4, out, body)).program(), {Array::from_vector(Floats{1, 2, 3, 4}), result});
  return result.to_vector<float>();
}
std::string error(const std::string& body, int64_t out = 4) {
  return error_of([&] { run(with(body, {{"x", kX}}), out); });
}

//===----------------------------------------------------------------------===//
// Lanes that do not exist
//===----------------------------------------------------------------------===//

const char* const kLoad3 =
    "%a = tile.load %x[%c0 : 4] valid [%c3] : !tile.array<f32, [4], strides [1]> -> tensor<4xf32>\n";

TEST(InterpretProgram, lanes_that_do_not_exist_are_neither_read_nor_written) {
  EXPECT_EQ(run(std::string(kLoad3) + R"(%b = arith.addf %a, %a : tensor<4xf32>
    tile.store %b, %out[%c0 : 4] valid [%c3] : tensor<4xf32>, !tile.array<f32, [4], strides [1]>)"),
            (Floats{2, 4, 6, -1}));
  // The block reaches over the array's end, its lanes do not.
  EXPECT_EQ(run(R"(%a = tile.load %x[%c2 : 4] valid [%c2] : !tile.array<f32, [4], strides [1]> -> tensor<4xf32>
    tile.store %a, %out[%c2 : 4] valid [%c2] : tensor<4xf32>, !tile.array<f32, [4], strides [1]>)"),
            (Floats{-1, -1, 3, 4}));
}

TEST(InterpretProgram, storing_a_missing_lane_is_refused_at_its_line) {
  auto run_it = [] {
    run(std::string(kLoad3) + "tile.store %a, %out[%c0 : 4] : tensor<4xf32>, !tile.array<f32, [4], strides [1]>");
  };
  EXPECT_EQ(error_of(run_it), "tile.store to 'out' writes lane [3], which does not exist");
  EXPECT_EQ(error_line_of(run_it), kBodyLine + 1);
}

TEST(InterpretProgram, what_is_made_of_a_missing_lane_is_missing) {
  const std::string store = "tile.store %b, %out[%c0 : 4] : tensor<4xf32>, !tile.array<f32, [4], strides [1]>";
  const std::string message = "tile.store to 'out' writes lane [3], which does not exist";
  EXPECT_EQ(error(std::string(kLoad3) +
                  "%s = tile.splat %f0 : f32 -> tensor<4xf32>\n"
                  "%b = arith.mulf %a, %s : tensor<4xf32>\n" +
                  store),
            message);
  EXPECT_EQ(error(std::string(kLoad3) + "%b = tile.composite gelu %a : tensor<4xf32>\n" + store), message);
  EXPECT_EQ(error(std::string(kLoad3) +
                  "%e = tile.expand_dims %a dim 1 : tensor<4xf32> -> tensor<4x1xf32>\n"
                  "%t = tile.transpose %e [1, 0] : tensor<4x1xf32> -> tensor<1x4xf32>\n"
                  "%b = tile.reduce add %t dims [0] : tensor<1x4xf32> -> tensor<4xf32>\n" +
                  store),
            message);
}

TEST(InterpretProgram, a_select_by_index_completes_a_value) {
  EXPECT_EQ(run(std::string(kLoad3) + R"(%i = tile.iota %c0 : tensor<4xi32>
    %n = arith.constant dense<3> : tensor<4xi32>
    %exists = arith.cmpi slt, %i, %n : tensor<4xi32>
    %s = arith.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
    %b = arith.select %exists, %a, %s : tensor<4xi1>, tensor<4xf32>
    tile.store %b, %out[:] : tensor<4xf32>, !tile.array<f32, [4], strides [1]>)"),
            (Floats{1, 2, 3, 8}));
}

TEST(InterpretProgram, a_reduction_takes_the_lanes_that_exist) {
  const std::string store = "tile.store %r, %out[at %c0] : f32, !tile.array<f32, [1], strides [1]>";
  EXPECT_EQ(
      run(std::string(kLoad3) + "%r = tile.reduce add %a dims [0] : tensor<4xf32> -> f32 valid [%c3]\n" + store, 1),
      (Floats{6}));
  EXPECT_EQ(
      run(std::string(kLoad3) + "%r = tile.reduce max %a dims [0] : tensor<4xf32> -> f32 valid [%c0]\n" + store, 1),
      (Floats{-HUGE_VALF}));
  EXPECT_EQ(error(std::string(kLoad3) + "%r = tile.reduce add %a dims [0] : tensor<4xf32> -> f32\n" + store, 1),
            "tile.reduce reads lanes that do not exist: 1 of the 4 lanes of result lane [] are missing");
}

TEST(InterpretProgram, rows_past_the_end_stay_missing_through_a_reduction) {
  // Two rows of two, of which one exists.
  const std::string load =
      "%e = tile.load %x[%c0 : 2] valid [%c1] : !tile.array<f32, [4], strides [1]> -> tensor<2xf32>\n"
      "%e1 = tile.expand_dims %e dim 1 : tensor<2xf32> -> tensor<2x1xf32>\n"
      "%a = tile.broadcast %e1 : tensor<2x1xf32> -> tensor<2x2xf32>\n";
  const std::string reduce = "%r = tile.reduce add %a dims [1] : tensor<2x2xf32> -> tensor<2xf32>\n";
  EXPECT_EQ(run(load + reduce +
                "tile.store %r, %out[%c0 : 2] valid [%c1] : tensor<2xf32>, !tile.array<f32, [4], strides [1]>"),
            (Floats{2, -1, -1, -1}));
  EXPECT_EQ(error(load + reduce + "tile.store %r, %out[%c0 : 2] : tensor<2xf32>, !tile.array<f32, [4], strides [1]>"),
            "tile.store to 'out' writes lane [1], which does not exist");
  EXPECT_EQ(error(load + "%r = tile.reduce add %a dims [0] : tensor<2x2xf32> -> tensor<2xf32>"),
            "tile.reduce reads lanes that do not exist: 1 of the 2 lanes of result lane [0] are missing");
}

TEST(InterpretProgram, a_scalar_is_never_made_of_a_missing_lane) {
  EXPECT_EQ(error("%a = tile.load %x[%c0 : 4] valid [%c0] : $x -> tensor<4xf32>\n"
                  "%r = tile.reduce add %a dims [0] : tensor<4xf32> -> f32"),
            "tile.reduce makes a scalar of a lane that does not exist");
}

TEST(InterpretProgram, a_bound_says_how_many_of_the_lanes_exist) {
  EXPECT_EQ(error("%a = tile.load %x[%c0 : 2] valid [%c3] : $x -> tensor<2xf32>"),
            "tile.load says that 3 of 2 lanes exist");
  EXPECT_EQ(error("%minus = arith.constant -1 : index\n"
                  "%a = tile.load %x[%c0 : 2] valid [%minus] : $x -> tensor<2xf32>"),
            "tile.load says that -1 of 2 lanes exist");
}

// out = x as 2 x 2, times itself, by a dot over k of which `$valid` say how many lanes exist, loaded as `$loaded` say.
const char* const kDot = R"(
tile.program @p(%x: !tile.array<$in, [2, 2], strides [2, 1]>, %out: !tile.array<$acc, [2, 2], strides [2, 1]>)
    attributes {programs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tile.load %x[:, %c0 : 2] valid [_, $loaded] : !tile.array<$in, [2, 2], strides [2, 1]> -> tensor<2x2x$in>
  %b = tile.load %x[%c0 : 2, :] valid [$loaded, _] : !tile.array<$in, [2, 2], strides [2, 1]> -> tensor<2x2x$in>
  %ten = arith.constant dense<$ten> : tensor<2x2x$acc>
  %r = tile.dot %a, %b, %ten $valid : tensor<2x2x$in>, tensor<2x2x$in>, tensor<2x2x$acc>
  tile.store %r, %out[:, :] : tensor<2x2x$acc>, !tile.array<$acc, [2, 2], strides [2, 1]>
  tile.return
}
)";

TEST(InterpretProgram, a_dot_adds_the_lanes_that_exist) {
  Array x = Array::from_vector(Floats{1, 2, 3, 4}, {2, 2}), out = Array::zeros({2, 2});
  auto run_dot = [&](const std::string& loaded, const std::string& valid) {
    interpret_program(
        IrText(with(kDot, {{"in", "f32"}, {"acc", "f32"}, {"ten", "10.0"}, {"loaded", loaded}, {"valid", valid}}))
            .program(),
        {x, out});
    return out.to_vector<float>();
  };
  EXPECT_EQ(run_dot("%c2", ""), (Floats{17, 20, 25, 32}));
  EXPECT_EQ(run_dot("%c2", "valid %c1"), (Floats{11, 12, 13, 16}));
  EXPECT_EQ(run_dot("%c1", "valid %c1"), (Floats{11, 12, 13, 16}));
  EXPECT_EQ(run_dot("%c0", "valid %c0"), (Floats{10, 10, 10, 10}));
  EXPECT_EQ(error_of([&] { run_dot("%c1", ""); }),
            "tile.dot reads lanes that do not exist: 1 of the 2 lanes of row [0, 0] are missing");
}

TEST(InterpretProgram, a_dot_of_int8_adds_in_int32) {
  Array x = Array::from_vector(std::vector<int8_t>{127, 127, -128, 1}, {2, 2}), out = Array::zeros({2, 2}, int32);
  interpret_program(
      IrText(with(kDot, {{"in", "i8"}, {"acc", "i32"}, {"ten", "10"}, {"loaded", "%c2"}, {"valid", ""}})).program(),
      {x, out});
  EXPECT_EQ(out.to_vector<int32_t>(),
            (Ints{10 + 127 * 127 - 127 * 128, 10 + 127 * 127 + 127, 10 - 128 * 127 - 128, 10 - 128 * 127 + 1}));
}

TEST(InterpretProgram, a_dot_is_rounded_once) {
  Array x = Array::from_vector(Floats{4096, 1, 1, -16777216}, {2, 2}), out = Array::zeros({2, 2});
  interpret_program(
      IrText(with(kDot, {{"in", "f32"}, {"acc", "f32"}, {"ten", "1.0"}, {"loaded", "%c2"}, {"valid", ""}})).program(),
      {x, out});
  EXPECT_EQ(out.at<float>({0, 0}), 16777218); // 4096^2 + 1 + 1, of which float32 has no single step of 1
}

//===----------------------------------------------------------------------===//
// Addresses and control flow
//===----------------------------------------------------------------------===//

TEST(InterpretProgram, an_access_outside_an_array_is_refused) {
  EXPECT_EQ(error("%a = tile.load %x[%c2 : 4] : $x -> tensor<4xf32>"),
            "tile.load reaches element [4] of 'x', whose sizes are [4]");
  EXPECT_EQ(error("%a = tile.load %x[at %c4] : $x -> f32"),
            "tile.load reaches element [4] of 'x', whose sizes are [4]");
  EXPECT_EQ(error("%minus = arith.constant -1 : index\n tile.store %f0, %out[at %minus] : f32, $x"),
            "tile.store reaches element [-1] of 'out', whose sizes are [4]");
  EXPECT_EQ(error("%a = tile.load %x[:] : $x -> tensor<2xf32>"),
            "tile.load takes 2 elements for a whole dimension of 4");
}

TEST(InterpretProgram, undefined_numbers_are_no_addresses_bounds_or_conditions) {
  const std::string quotient = "%q = arith.divsi %c4, %c0 : index\n";
  const std::string message =
      " uses an undefined number (an integer division by zero, a shift past the width, or a conversion out of range)";
  EXPECT_EQ(error(quotient + "%a = tile.load %x[at %q] : $x -> f32"), "tile.load" + message);
  EXPECT_EQ(error(quotient + "%a = tile.load %x[%c0 : 4] valid [%q] : $x -> tensor<4xf32>"), "tile.load" + message);
  EXPECT_EQ(error(quotient + "scf.for %i = %c0 to %q step %c1 {\n}"), "scf.for" + message);
  EXPECT_EQ(error(quotient + "%b = arith.cmpi eq, %q, %c0 : index\nscf.if %b {\n}"), "scf.if" + message);
  EXPECT_EQ(error(quotient), "nothing was thrown"); // and is nobody's business where it is not used
}

TEST(InterpretProgram, branches_and_loops) {
  EXPECT_EQ(run(R"(scf.for %i = %c0 to %c4 step %c2 {
      %first = arith.cmpi eq, %i, %c0 : index
      %v = scf.if %first -> (f32) {
        %one = arith.constant 1.0 : f32
        scf.yield %one : f32
      } else {
        scf.yield %f0 : f32
      }
      tile.store %v, %out[at %i] : f32, !tile.array<f32, [4], strides [1]>
      scf.if %first {
        tile.store %f0, %out[at %c1] : f32, !tile.array<f32, [4], strides [1]>
      }
    })"),
            (Floats{1, 0, 0, -1}));
  // Fibonacci's: carried values change places.
  EXPECT_EQ(run(R"(%f1 = arith.constant 1.0 : f32
    %p, %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %f0, %b = %f1) -> (f32, f32) {
      %c = arith.addf %a, %b : f32
      scf.yield %b, %c : f32, f32
    }
    tile.store %p, %out[at %c0] : f32, !tile.array<f32, [4], strides [1]>
    tile.store %q, %out[at %c1] : f32, !tile.array<f32, [4], strides [1]>)"),
            (Floats{3, 5, -1, -1}));
}

//===----------------------------------------------------------------------===//
// Program ids
//===----------------------------------------------------------------------===//

// The numbers of the programs by the coordinates of their tiles.
Longs order_of_tiles(const std::string& counts, const std::string& group, const IndexList& sizes) {
  std::string coordinates, types, subscripts, array_sizes, strides;
  int64_t programs = 1;
  for (int i = sizes.size() - 1; i >= 0; --i) {
    std::string comma = i > 0 ? ", " : "";
    coordinates = comma + "%t" + std::to_string(i) + coordinates;
    subscripts = comma + "at %t" + std::to_string(i) + subscripts;
    types = comma + "index" + types;
    array_sizes = comma + std::to_string(sizes[i]) + array_sizes;
    strides = comma + std::to_string(programs) + strides;
    programs *= sizes[i];
  }
  IrText ir(with(R"(
tile.program @p(%out: !tile.array<i64, [$sizes], strides [$strides]>) attributes {programs = $programs : i64} {
  %id = tile.program_id
  $coordinates = tile.map_program %id into [$counts] {group = $group} : $types
  %number = arith.index_cast %id : index to i64
  tile.store %number, %out[$subscripts] : i64, !tile.array<i64, [$sizes], strides [$strides]>
  tile.return
}
)",
                 {{"sizes", array_sizes},
                  {"strides", strides},
                  {"programs", programs},
                  {"coordinates", coordinates},
                  {"counts", counts},
                  {"group", group},
                  {"types", types},
                  {"subscripts", subscripts}}));
  Array out = Array::full(sizes, -1, int64);
  interpret_program(ir.program(), {out});
  return out.to_vector<int64_t>();
}

TEST(InterpretProgram, tiles_are_counted_with_the_last_dimension_fastest) {
  EXPECT_EQ(order_of_tiles("2, 3", "1", {2, 3}), (Longs{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(order_of_tiles("2, 1, 2", "1", {2, 1, 2}), (Longs{0, 1, 2, 3}));
  EXPECT_EQ(order_of_tiles("4", "1", {4}), (Longs{0, 1, 2, 3}));
}

TEST(InterpretProgram, a_group_walks_its_rows_together) {
  EXPECT_EQ(order_of_tiles("4, 3", "2", {4, 3}), (Longs{0, 2, 4,  //
                                                        1, 3, 5,  //
                                                        6, 8, 10, //
                                                        7, 9, 11}));
  // The last group is what is left.
  EXPECT_EQ(order_of_tiles("5, 2", "3", {5, 2}), (Longs{0, 3, 1, 4, 2, 5, 6, 8, 7, 9}));
  EXPECT_EQ(order_of_tiles("2, 2", "8", {2, 2}), (Longs{0, 2, 1, 3}));
  EXPECT_EQ(order_of_tiles("2, 2, 2", "2", {2, 2, 2}), (Longs{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(InterpretProgram, there_is_no_tile_past_the_last) {
  EXPECT_EQ(error("%i, %j = tile.map_program %c4 into [2, 2] : index, index"),
            "tile.map_program has no tile 4; there are 4");
}

TEST(InterpretProgram, a_persistent_program_runs_once_per_worker) {
  // Worker w takes elements w, w + workers, ... and writes its own number.
  const std::string text = program(4, 7, R"(%size = arith.constant 7 : index
    %id = tile.program_id
    %workers = tile.worker_count
    %id_i32 = arith.index_cast %id : index to i32
    %number = arith.sitofp %id_i32 : i32 to f32
    scf.for %i = %id to %size step %workers {
      tile.store %number, %out[at %i] : f32, !tile.array<f32, [7], strides [1]>
    })",
                                   "persistent = true");
  auto run_with = [&](int64_t workers) {
    Array out = Array::full({7}, -1);
    interpret_program(IrText(text).program(), {Array::zeros({4}), out}, workers);
    return out.to_vector<float>();
  };
  EXPECT_EQ(run_with(1), (Floats{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run_with(3), (Floats{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(run_with(10), (Floats{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(error_of([&] { run_with(0); }), "a launch needs at least one worker, found 0");
}

TEST(InterpretProgram, a_launch_may_have_no_programs) {
  Array out = Array::full({1}, 5);
  interpret_program(IrText(program(4, 1, "tile.store %f0, %out[at %c0] : f32, !tile.array<f32, [1], strides [1]>",
                                   "programs = 0 : i64"))
                        .program(),
                    {Array::zeros({4}), out});
  EXPECT_EQ(out.item<float>(), 5);
}

TEST(InterpretProgram, an_op_that_is_not_known_is_refused_at_its_line) {
  auto run_it = [] { run("scf.execute_region {\n scf.yield\n}"); };
  EXPECT_EQ(error_of(run_it), "the interpreter does not know scf.execute_region");
  EXPECT_EQ(error_line_of(run_it), kBodyLine);
}

} // namespace
} // namespace tilewright
