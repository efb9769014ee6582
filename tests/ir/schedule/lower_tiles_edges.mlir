// RUN: tilewright-opt %s -tile-lower=block-sizes=8,16 -split-input-file | FileCheck %s

// A tile over a dimension of size 1 is its one element, whichever tile it is.
// CHECK-LABEL: tile.program @size_one
tile.kernel @size_one(%x: !tile.array<f32, [20, 1], strides [1, 1]>, %y: !tile.array<f32, [20, 30], strides [30, 1]>) {
  %zero = arith.constant 0 : index
  %m = arith.constant 20 : index
  %n = arith.constant 30 : index
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    // CHECK: %[[V:.*]] = tile.load %{{.*}}[%[[T0:.*]] : 8, :] valid [%[[T_VALID:.*]], _] : {{.*}} -> tensor<8x1xf32>
    %v = tile.load %x[%t, %u] : !tile.array<f32, [20, 1], strides [1, 1]> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>
        tiles(!tile.tile<b0>, !tile.tile<b1>)
    // CHECK: %[[W:.*]] = tile.broadcast %[[V]] : tensor<8x1xf32> -> tensor<8x16xf32>
    %w = tile.broadcast %v : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK: tile.store %[[W]], %{{.*}}[%[[T0]] : 8, %{{.*}} : 16] valid [%[[T_VALID]], %{{.*}}]
    tile.store %w, %y[%t, %u] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [20, 30], strides [30, 1]>
        tiles(!tile.tile<b0>, !tile.tile<b1>)
    // CHECK: tile.store %[[V]], %{{.*}}[%[[T0]] : 8, :] valid [%[[T_VALID]], _]
    tile.store %v, %x[%t, %u] : tensor<?x1xf32, #tile.dims<[b0, 1]>>, !tile.array<f32, [20, 1], strides [1, 1]>
        tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return
}

// -----

// Nothing of length 0 is left: a sum over it is 0, a dot over it the accumulator, a store of it nothing.
// CHECK-LABEL: tile.program @nothing
tile.kernel @nothing(%x: !tile.array<f32, [20, 0], strides [1, 1]>, %y: !tile.array<f32, [20], strides [1]>)
    attributes {whole = #tile.dims<[0]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 20 : index
  %f0 = arith.constant 0.0 : f32
  // CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK: %[[MAX:.*]] = tile.splat %[[LOWEST]] : f32 -> tensor<8xf32>
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<8x8xf32>
  // CHECK-NOT: tile.dot
  // CHECK: tile.store %[[MAX]]
  // CHECK-NOT: x0xf32
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t, :] : !tile.array<f32, [20, 0], strides [1, 1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
        tiles(!tile.tile<b0>)
    %max = tile.reduce max %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    %sum = tile.for (%u: b1) = (%zero) to (%m) carry(%acc = %v) : tensor<?x?xf32, #tile.dims<[b0, r0]>> {
      %twice = arith.addf %acc, %v : tensor<?x?xf32, #tile.dims<[b0, r0]>>
      tile.yield %twice : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    }
    %vt = tile.transpose %sum [1, 0] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?x?xf32, #tile.dims<[r0, b0]>>
    %init = tile.splat %f0 : f32 -> tensor<?x?xf32, #tile.dims<[b0, b0]>>
    %dot = tile.dot %v, %vt, %init : tensor<?x?xf32, #tile.dims<[b0, r0]>>, tensor<?x?xf32, #tile.dims<[r0, b0]>>,
        tensor<?x?xf32, #tile.dims<[b0, b0]>>
    tile.store %v, %x[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [20, 0], strides [1, 1]>
        tiles(!tile.tile<b0>)
    tile.store %max, %y[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [20], strides [1]> tiles(!tile.tile<b0>)
  }
  tile.return
}

// -----

// No tiles, no programs.
// CHECK-LABEL: tile.program @no_tiles
// CHECK-SAME: programs = 0 : i64
tile.kernel @no_tiles(%x: !tile.array<f32, [0, 5], strides [5, 1]>) {
  %zero = arith.constant 0 : index
  %five = arith.constant 5 : index
  // CHECK: tile.map_program %{{.*}} into [0, 1]
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%zero, %five) parallel {
  }
  tile.return
}
