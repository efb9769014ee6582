// RUN: tilewright-opt %s -tile-expand-program-ids -tile-lower-to-loops -split-input-file | FileCheck %s

// The two arrays lie the other way round. Where all are reached as it suits the vectors, a tie goes to the last
// dimension; an array that is reached by pointers leaves the choice to the other one.
// CHECK-LABEL: func.func @last
// CHECK: vector.gather %arg1
// CHECK: vector.load %arg0
tile.program @last(%x: !tile.array<f32, [64, 64], strides [64, 1]>, %y: !tile.array<f32, [64, 64], strides [1, 64]>,
                   %z: !tile.array<f32, [64, 64], strides [64, 1]>) attributes {programs = 1 : i64} {
  %a = tile.load %y[:, :] : !tile.array<f32, [64, 64], strides [1, 64]> -> tensor<64x64xf32>
  %b = tile.load %x[:, :] : !tile.array<f32, [64, 64], strides [64, 1]> -> tensor<64x64xf32>
  %c = arith.addf %a, %b : tensor<64x64xf32>
  tile.store %c, %z[:, :] : tensor<64x64xf32>, !tile.array<f32, [64, 64], strides [64, 1]>
  tile.return
}

// -----

// CHECK-LABEL: func.func @first
// CHECK: vector.load %arg1
// CHECK: vector.gather %arg0
// CHECK: vector.scatter %arg2
tile.program @first(%x: !tile.array<f32, [64, 64], strides [64, 1]>, %y: !tile.array<f32, [64, 64], strides [1, 64]>,
                    %z: !tile.array<f32, [64, 64], strides [64, 1]>) attributes {programs = 1 : i64} {
  %a = tile.load %y[:, :] {access = #tile<access block_ptr>}
    : !tile.array<f32, [64, 64], strides [1, 64]> -> tensor<64x64xf32>
  %b = tile.load %x[:, :] {access = #tile<access pointer>}
    : !tile.array<f32, [64, 64], strides [64, 1]> -> tensor<64x64xf32>
  %c = arith.addf %a, %b : tensor<64x64xf32>
  tile.store %c, %z[:, :] {access = #tile<access pointer>}
    : tensor<64x64xf32>, !tile.array<f32, [64, 64], strides [64, 1]>
  tile.return
}

// -----

// A copy of the rows, which are read from there; the sum is kept on its way to memory.
// CHECK-LABEL: func.func @copies
// CHECK-COUNT-2: memref.alloca() {{.*}} : memref<64x64xf32>
// CHECK: vector.load %arg0
// CHECK: vector.store %{{.*}}, %alloca
// CHECK: vector.load %alloca
// CHECK: arith.addf
// CHECK: vector.store %{{.*}}, %alloca
// CHECK: vector.load %alloca
// CHECK: vector.store %{{.*}}, %arg1
tile.program @copies(%x: !tile.array<f32, [64, 64], strides [64, 1]>, %z: !tile.array<f32, [64, 64], strides [64, 1]>)
    attributes {programs = 1 : i64} {
  %a = tile.load %x[:, :] {access = #tile<access tensor_descriptor>}
    : !tile.array<f32, [64, 64], strides [64, 1]> -> tensor<64x64xf32>
  %b = arith.addf %a, %a : tensor<64x64xf32>
  tile.store %b, %z[:, :] {access = #tile<access tensor_descriptor>}
    : tensor<64x64xf32>, !tile.array<f32, [64, 64], strides [64, 1]>
  tile.return
}

// -----

// What leaves the caches first is fetched past them and stored past them.
// CHECK-LABEL: func.func @evictions
// CHECK-DAG: memref.prefetch %arg0{{.*}} read, locality<0>, data
// CHECK-DAG: memref.prefetch %arg1{{.*}} read, locality<3>, data
// CHECK: vector.store %{{.*}}, %arg2{{.*}} {nontemporal = true}
tile.program @evictions(%x: !tile.array<f32, [6400], strides [1]>, %y: !tile.array<f32, [6400], strides [1]>,
                        %z: !tile.array<f32, [6400], strides [1]>) attributes {programs = 100 : i64} {
  %c64 = arith.constant 64 : index
  %id = tile.program_id
  %begin = arith.muli %id, %c64 : index
  %a = tile.load %x[%begin : 64] {eviction = #tile<eviction first>}
    : !tile.array<f32, [6400], strides [1]> -> tensor<64xf32>
  %b = tile.load %y[%begin : 64] {eviction = #tile<eviction last>}
    : !tile.array<f32, [6400], strides [1]> -> tensor<64xf32>
  %c = arith.addf %a, %b : tensor<64xf32>
  tile.store %c, %z[%begin : 64] {eviction = #tile<eviction first>}
    : tensor<64xf32>, !tile.array<f32, [6400], strides [1]>
  tile.return
}
