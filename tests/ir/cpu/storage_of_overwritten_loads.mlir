// A load is computed where it is used, unless what it reads is overwritten before: then it is kept where it stands.
// RUN: tilewright-opt %s -split-input-file -tile-lower-to-loops=level=x86-64-v3 -cse | FileCheck %s

// Each lane is stored where it was read: no copy.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: memref.alloca
tile.program @in_place(%x: !tile.array<f32, [64], strides [1], align 16>) attributes {programs = 1 : i64} {
  %a = tile.load %x[:] : !tile.array<f32, [64], strides [1], align 16> -> tensor<64xf32>
  %b = arith.addf %a, %a : tensor<64xf32>
  tile.store %b, %x[:] : tensor<64xf32>, !tile.array<f32, [64], strides [1], align 16>
  tile.return
}

// -----

// Lanes change places: a copy is kept first.
// CHECK-LABEL: func.func @transposed_in_place(
// CHECK: memref.alloca
tile.program @transposed_in_place(%x: !tile.array<f32, [16, 16], strides [16, 1], align 16>) attributes {programs = 1 : i64} {
  %a = tile.load %x[:, :] : !tile.array<f32, [16, 16], strides [16, 1], align 16> -> tensor<16x16xf32>
  %b = tile.transpose %a [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  tile.store %b, %x[:, :] : tensor<16x16xf32>, !tile.array<f32, [16, 16], strides [16, 1], align 16>
  tile.return
}

// -----

// The load comes before a store of the same array, its use after it.
// CHECK-LABEL: func.func @stored_between(
// CHECK: %[[KEPT:.*]] = memref.alloca() {{.*}} : memref<64xf32>
// CHECK: vector.store %{{.*}}, %[[KEPT]]
// CHECK: vector.load %[[KEPT]]
tile.program @stored_between(%x: !tile.array<f32, [64], strides [1], align 16>,
                             %y: !tile.array<f32, [64], strides [1], align 16>) attributes {programs = 1 : i64} {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %a = tile.load %x[:] : !tile.array<f32, [64], strides [1], align 16> -> tensor<64xf32>
  tile.store %one, %x[:] : tensor<64xf32>, !tile.array<f32, [64], strides [1], align 16>
  tile.store %a, %y[:] : tensor<64xf32>, !tile.array<f32, [64], strides [1], align 16>
  tile.return
}
