// Loops, branches and the launch interface.
#include "cpu/loops_kernel.h"

#include <gtest/gtest.h>

namespace {

TEST(EmitControl, runs_the_range_of_programs_it_is_given) {
  LoopsKernel kernel(loops_function("%y: memref<16xi64>, ", R"(
    %c1 = arith.constant 1 : index
    scf.for %p = %begin to %end step %c1 {
      %v = arith.muli %p, %workers : index
      %w = arith.index_cast %v : index to i64
      memref.store %w, %y[%p] : memref<16xi64>
    })"));
  std::vector<int64_t> y(16, -1);
  kernel.run({y.data()}, 3, 6, 10);
  kernel.run({y.data()}, 9, 9, 10);
  std::vector<int64_t> expected(16, -1);
  for (int i = 3; i < 6; ++i) expected[i] = 10 * i;
  EXPECT_EQ(y, expected);
}

TEST(EmitControl, loop_carried_values_and_loops_without_a_trip) {
  LoopsKernel kernel(loops_function("%y: memref<2xi64>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %seven = arith.constant 7 : i64
    %one = arith.constant 1 : i64
    %r:2 = scf.for %i = %begin to %end step %c3 iter_args(%a = %seven, %b = %one) -> (i64, i64) {
      %n = arith.addi %a, %b : i64
      scf.yield %b, %n : i64, i64
    }
    memref.store %r#0, %y[%c0] : memref<2xi64>
    memref.store %r#1, %y[%c1] : memref<2xi64>)"));
  std::vector<int64_t> y(2);
  kernel.run({y.data()}, 0, 7); // trips at 0, 3, 6
  EXPECT_EQ(y, (std::vector<int64_t>{9, 17}));
  kernel.run({y.data()}, 7, 7);
  EXPECT_EQ(y, (std::vector<int64_t>{7, 1}));
  kernel.run({y.data()}, 8, 2);
  EXPECT_EQ(y, (std::vector<int64_t>{7, 1}));
}

TEST(EmitControl, nested_loops_with_constant_bounds) {
  LoopsKernel kernel(loops_function("%y: memref<3x4xi64>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c10 = arith.constant 10 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %tens = arith.muli %i, %c10 : index
      scf.for %j = %c0 to %c4 step %c1 {
        %v = arith.addi %tens, %j : index
        %w = arith.index_cast %v : index to i64
        memref.store %w, %y[%i, %j] : memref<3x4xi64>
      }
    }
    scf.for %i = %c1 to %c1 step %c1 {
      %minus = arith.constant -1 : i64
      memref.store %minus, %y[%i, %i] : memref<3x4xi64>
    })"));
  std::vector<int64_t> y(12);
  kernel.run({y.data()});
  EXPECT_EQ(y, (std::vector<int64_t>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
}

TEST(EmitControl, a_loop_of_one_trip_leaves_no_loop) {
  LoopsText text(loops_function("%y: memref<4xf32>, ", R"(
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %v = arith.constant 1.0 : f32
    %r = scf.for %i = %c0 to %c4 step %c4 iter_args(%a = %v) -> (f32) {
      %b = arith.addf %a, %a : f32
      scf.yield %b : f32
    }
    memref.store %r, %y[%c0] : memref<4xf32>)"));
  auto kernel = text.emit();
  for (const llvm::Function& function : *kernel.module) EXPECT_LE(function.size(), 1u) << function.getName().str();
}

TEST(EmitControl, branches_with_and_without_results) {
  LoopsKernel kernel(loops_function("%y: memref<8xi64>, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c5 = arith.constant 5 : index
    %c2 = arith.constant 2 : index
    %hundred = arith.constant 100 : i64
    scf.for %i = %c0 to %c8 step %c1 {
      %n = arith.index_cast %i : index to i64
      %is_low = arith.cmpi slt, %i, %c5 : index
      %v = scf.if %is_low -> (i64) {
        %is_two = arith.cmpi eq, %i, %c2 : index
        %w = scf.if %is_two -> (i64) {
          scf.yield %hundred : i64
        } else {
          scf.yield %n : i64
        }
        scf.yield %w : i64
      } else {
        %m = arith.muli %n, %n : i64
        scf.yield %m : i64
      }
      memref.store %v, %y[%i] : memref<8xi64>
      %is_seven = arith.cmpi eq, %v, %hundred : i64
      scf.if %is_seven {
        memref.store %n, %y[%c0] : memref<8xi64>
      }
    })"));
  std::vector<int64_t> y(8);
  kernel.run({y.data()});
  EXPECT_EQ(y, (std::vector<int64_t>{2, 1, 100, 3, 4, 25, 36, 49}));
}

TEST(EmitControl, run_time_numbers_come_from_eight_byte_slots) {
  LoopsKernel kernel(loops_function("%y: memref<4xf64>, %a: f32, %b: i1, %c: i64, %d: f64, ", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %x = arith.extf %a : f32 to f64
    %y1 = arith.uitofp %b : i1 to f64
    %z = arith.sitofp %c : i64 to f64
    memref.store %x, %y[%c0] : memref<4xf64>
    memref.store %y1, %y[%c1] : memref<4xf64>
    memref.store %z, %y[%c2] : memref<4xf64>
    memref.store %d, %y[%c3] : memref<4xf64>)"));
  std::vector<double> y(4);
  alignas(8) float a[2] = {1.5f, 99};
  alignas(8) uint8_t b[8] = {1};
  int64_t c = -12;
  double d = 0.25;
  kernel.run({y.data(), a, b, &c, &d});
  EXPECT_EQ(y, (std::vector<double>{1.5, 1, -12, 0.25}));
}

} // namespace
