// A block that is larger than what it walks is cut, so that its tile is full.
// RUN: tilewright-opt %s -tile-lower=block-sizes=64,128,32 | FileCheck %s
// RUN: tilewright-opt %s -tile-lower="block-sizes=64,128,32 pads-extents=true" | FileCheck %s --check-prefix=PADDED

// CHECK-LABEL: tile.program @cut
// CHECK-SAME: programs = 1 : i64
tile.kernel @cut(%x: !tile.array<f32, [20], strides [1]>, %n: index) {
  %zero = arith.constant 0 : index
  %m = arith.constant 20 : index
  // The coordinate is known as well.
  // CHECK-NOT: arith.minsi
  // CHECK: tile.load %{{.*}}[%{{.*}} : 20] :
  // PADDED: tile.load %{{.*}}[%{{.*}} : 32] valid [%{{.*}}]
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t] : !tile.array<f32, [20], strides [1]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    tile.store %v, %x[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [20], strides [1]> tiles(!tile.tile<b0>)
    %begin = tile.begin %t : !tile.tile<b0>
    %end = tile.end %t : !tile.tile<b0>
    // Inside a tile: to that tile's own block.
    // CHECK: tile.load %{{.*}}[%{{.*}} : 20]
    // PADDED: tile.load %{{.*}}[%{{.*}} : 32]
    tile.for (%u: b1) = (%begin) to (%end) {
      %w = tile.load %x[%u] : !tile.array<f32, [20], strides [1]> -> tensor<?xf32, #tile.dims<[b1]>> tiles(!tile.tile<b1>)
      tile.store %w, %x[%u] : tensor<?xf32, #tile.dims<[b1]>>, !tile.array<f32, [20], strides [1]> tiles(!tile.tile<b1>)
    }
    // Where the bounds are data, it stays.
    // CHECK: tile.load %{{.*}}[%{{.*}} : 32] valid
    tile.for (%u: b2) = (%zero) to (%n) {
      %w = tile.load %x[%u] : !tile.array<f32, [20], strides [1]> -> tensor<?xf32, #tile.dims<[b2]>> tiles(!tile.tile<b2>)
      tile.store %w, %x[%u] : tensor<?xf32, #tile.dims<[b2]>>, !tile.array<f32, [20], strides [1]> tiles(!tile.tile<b2>)
    }
  }
  tile.return
}
