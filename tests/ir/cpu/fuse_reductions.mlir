// A reduction that follows a kept value is taken in the loops that fill the value's buffer (fuse_reductions.h).
// RUN: tilewright-opt %s -split-input-file -tile-lower-to-loops=level=x86-64-v3 -cse | FileCheck %s

// Lanes past the end are stored, where nobody reads them, and take no part in the sum.
// CHECK-LABEL: func.func @ragged(
// CHECK: %[[KEPT:.*]] = memref.alloca() {{.*}} : memref<112xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-4: vector.store %{{.*}}, %[[KEPT]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[POWER:.*]] = math.exp
// CHECK: vector.store %[[POWER]], %[[KEPT]]
// CHECK: %[[TERM:.*]] = arith.select %{{.*}}, %[[POWER]], %{{.*}}
// CHECK: arith.addf %{{.*}}, %[[TERM]]
// CHECK: %[[SUM:.*]] = vector.reduction <add>
// CHECK: arith.divf
tile.program @ragged(%x: !tile.array<f32, [100], strides [1], align 16>, %n: index,
                     %out: !tile.array<f32, [100], strides [1], align 16>) attributes {programs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0 : 100] valid [%n] : !tile.array<f32, [100], strides [1], align 16> -> tensor<100xf32>
  %e = math.exp %a : tensor<100xf32>
  %sum = tile.reduce add %e dims [0] : tensor<100xf32> -> f32 valid [%n]
  %all = tile.splat %sum : f32 -> tensor<100xf32>
  %q = arith.divf %e, %all : tensor<100xf32>
  tile.store %q, %out[%c0 : 100] valid [%n] : tensor<100xf32>, !tile.array<f32, [100], strides [1], align 16>
  tile.return
}

// -----

// The reduction takes another type than the value: it sees what is kept, rounded.
// CHECK-LABEL: func.func @rounded(
// CHECK: %[[KEPT:.*]] = memref.alloca() {{.*}} : memref<{{.*}}xf16>
// CHECK: %[[POWER:.*]] = math.exp
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[POWER]] : vector<8xf32> to vector<8xf16>
// CHECK: vector.store %[[ROUNDED]], %[[KEPT]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]] : vector<8xf16> to vector<8xf32>
// CHECK: arith.addf %{{.*}}, %[[WIDE]]
// CHECK: vector.reduction <add>
tile.program @rounded(%x: !tile.array<f16, [64], strides [1], align 16>,
                      %out: !tile.array<f16, [64], strides [1], align 16>) attributes {programs = 1 : i64} {
  %a = tile.load %x[:] : !tile.array<f16, [64], strides [1], align 16> -> tensor<64xf16>
  %e = math.exp %a : tensor<64xf16>
  %wide = arith.extf %e : tensor<64xf16> to tensor<64xf32>
  %sum = tile.reduce add %wide dims [0] : tensor<64xf32> -> f32
  %narrow = arith.truncf %sum : f32 to f16
  %all = tile.splat %narrow : f16 -> tensor<64xf16>
  %q = arith.divf %e, %all : tensor<64xf16>
  tile.store %q, %out[:] : tensor<64xf16>, !tile.array<f16, [64], strides [1], align 16>
  tile.return
}

// -----

// Over several dimensions, one of them the vectors'.
// CHECK-LABEL: func.func @two_dimensions(
// CHECK: %[[KEPT:.*]] = memref.alloca() {{.*}} : memref<4x16xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[POWER:.*]] = math.exp
// CHECK: vector.store %[[POWER]], %[[KEPT]]
// CHECK: arith.addf %{{.*}}, %[[POWER]]
// CHECK-NOT: vector.load %[[KEPT]]
// CHECK: vector.reduction <add>
tile.program @two_dimensions(%x: !tile.array<f32, [4, 16], strides [16, 1], align 16>,
                             %out: !tile.array<f32, [4, 16], strides [16, 1], align 16>) attributes {programs = 1 : i64} {
  %a = tile.load %x[:, :] : !tile.array<f32, [4, 16], strides [16, 1], align 16> -> tensor<4x16xf32>
  %e = math.exp %a : tensor<4x16xf32>
  %sum = tile.reduce add %e dims [0, 1] : tensor<4x16xf32> -> f32
  %all = tile.splat %sum : f32 -> tensor<4x16xf32>
  %q = arith.divf %e, %all : tensor<4x16xf32>
  tile.store %q, %out[:, :] : tensor<4x16xf32>, !tile.array<f32, [4, 16], strides [16, 1], align 16>
  tile.return
}

// -----

// Across rows the vectors run along what is left: the buffer is filled row by row first.
// CHECK-LABEL: func.func @across_rows(
// CHECK: %[[POWER:.*]] = math.exp
// CHECK: vector.store %[[POWER]], %[[KEPT:.*]][
// CHECK: %[[ROW:.*]] = vector.load %[[KEPT]]
// CHECK: arith.addf %{{.*}}, %[[ROW]]
tile.program @across_rows(%x: !tile.array<f32, [4, 16], strides [16, 1], align 16>,
                          %out: !tile.array<f32, [4, 16], strides [16, 1], align 16>) attributes {programs = 1 : i64} {
  %a = tile.load %x[:, :] : !tile.array<f32, [4, 16], strides [16, 1], align 16> -> tensor<4x16xf32>
  %e = math.exp %a : tensor<4x16xf32>
  %sum = tile.reduce add %e dims [0] : tensor<4x16xf32> -> tensor<16xf32>
  %sum1 = tile.expand_dims %sum dim 0 : tensor<16xf32> -> tensor<1x16xf32>
  %all = tile.broadcast %sum1 : tensor<1x16xf32> -> tensor<4x16xf32>
  %q = arith.divf %e, %all : tensor<4x16xf32>
  tile.store %q, %out[:, :] : tensor<4x16xf32>, !tile.array<f32, [4, 16], strides [16, 1], align 16>
  tile.return
}

// -----

// What comes between needs the value, and may overwrite what it is computed from.
// CHECK-LABEL: func.func @stored_between(
// CHECK: %[[KEPT:.*]] = memref.alloca() {{.*}} : memref<64xf32>
// CHECK: math.exp
// CHECK: vector.store %{{.*}}, %[[KEPT]]
// CHECK: vector.load %[[KEPT]]
// CHECK: vector.load %[[KEPT]]
// CHECK: vector.reduction <add>
tile.program @stored_between(%x: !tile.array<f32, [64], strides [1], align 16>,
                             %out: !tile.array<f32, [16], strides [1], align 16>) attributes {programs = 1 : i64} {
  %a = tile.load %x[:] : !tile.array<f32, [64], strides [1], align 16> -> tensor<64xf32>
  %e = math.exp %a : tensor<64xf32>
  tile.store %e, %x[:] : tensor<64xf32>, !tile.array<f32, [64], strides [1], align 16>
  %sum = tile.reduce add %e dims [0] : tensor<64xf32> -> f32
  %all = tile.splat %sum : f32 -> tensor<16xf32>
  tile.store %all, %out[:] : tensor<16xf32>, !tile.array<f32, [16], strides [1], align 16>
  tile.return
}
