// A dot in a loop: the accumulator stays in scratch with room for whole register tiles, the right operand is packed into
// panels of two vectors, the left one is broadcast from where it lies; rows past its end repeat the last.
// RUN: tilewright-opt %s -tile-lower-to-loops=level=x86-64-v3 -cse | FileCheck %s

// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64x100xf32
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<100x32xf32
// CHECK: %[[PANELS:.*]] = memref.alloca() {{.*}} : memref<2x16x16xf32>
// CHECK: %[[ACC:.*]] = memref.alloca() {{.*}} : memref<96x32xf32>
// CHECK: scf.for %[[K0:.*]] = %c0 to %c100 step %c16 {
// CHECK: %[[VALID:.*]] = arith.minsi
// Packing.
// CHECK: scf.for %{{.*}} = %c0 to %[[VALID]] step %c1 {
// CHECK: memref.prefetch %[[Y]]
// CHECK: vector.load %[[Y]]
// CHECK: vector.store %{{.*}}, %[[PANELS]]
// The microkernel: panels outside, rows inside, 6 x 2 accumulators.
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c11 step %c1 {
// CHECK: vector.load %[[ACC]]
// CHECK: scf.for %{{.*}} = %c0 to %[[VALID]] step %c1 iter_args
// CHECK-COUNT-2: vector.load %[[PANELS]]
// CHECK: memref.load %[[X]]
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-12: vector.store %{{.*}}, %[[ACC]]
tile.program @dot(%x: !tile.array<f32, [64, 100], strides [100, 1], align 16>, %y: !tile.array<f32, [100, 32], strides [32, 1], align 16>,
                  %out: !tile.array<f32, [64, 32], strides [32, 1], align 64>) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %end = arith.constant 100 : index
  %block = arith.constant 16 : index
  %f0 = arith.constant 0.0 : f32
  %init = tile.splat %f0 : f32 -> tensor<64x32xf32>
  %r = scf.for %k = %zero to %end step %block iter_args(%acc = %init) -> tensor<64x32xf32> {
    %left = arith.subi %end, %k : index
    %n = arith.minsi %left, %block : index
    %a = tile.load %x[:, %k : 16] valid [_, %n] : !tile.array<f32, [64, 100], strides [100, 1], align 16> -> tensor<64x16xf32>
    %b = tile.load %y[%k : 16, :] valid [%n, _] : !tile.array<f32, [100, 32], strides [32, 1], align 16> -> tensor<16x32xf32>
    %next = tile.dot %a, %b, %acc valid %n : tensor<64x16xf32>, tensor<16x32xf32>, tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  tile.store %r, %out[:, :] : tensor<64x32xf32>, !tile.array<f32, [64, 32], strides [32, 1], align 64>
  tile.return
}
