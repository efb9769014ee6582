// A right operand that lies along k is packed by transposing squares of vectors in registers: log2(8) rounds of eight
// shuffles.
// RUN: tilewright-opt %s -tile-lower-to-loops=level=x86-64-v3 -cse | FileCheck %s

// CHECK-LABEL: func.func @scores(
// CHECK-SAME: %{{[a-z0-9]+}}: memref<8x16xf32
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<32x16xf32
// CHECK-COUNT-8: vector.load %[[K]]
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: vector.fma
tile.program @scores(%q: !tile.array<f32, [8, 16], strides [16, 1], align 16>,
                     %k: !tile.array<f32, [32, 16], strides [16, 1], align 16>,
                     %out: !tile.array<f32, [8, 32], strides [32, 1], align 64>) attributes {programs = 1 : i64} {
  %f0 = arith.constant 0.0 : f32
  %zero = tile.splat %f0 : f32 -> tensor<8x32xf32>
  %a = tile.load %q[:, :] : !tile.array<f32, [8, 16], strides [16, 1], align 16> -> tensor<8x16xf32>
  %b = tile.load %k[:, :] : !tile.array<f32, [32, 16], strides [16, 1], align 16> -> tensor<32x16xf32>
  %bt = tile.transpose %b [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
  %r = tile.dot %a, %bt, %zero : tensor<8x16xf32>, tensor<16x32xf32>, tensor<8x32xf32>
  tile.store %r, %out[:, :] : tensor<8x32xf32>, !tile.array<f32, [8, 32], strides [32, 1], align 64>
  tile.return
}
