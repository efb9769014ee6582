// RUN: tilewright-opt %s -tile-count-lanes | FileCheck %s

// CHECK-LABEL: tile.kernel @counts
tile.kernel @counts(%x: !tile.array<f32, [30, 40], strides [40, 1]>) attributes {whole = #tile.dims<[40]>} {
  %c0 = arith.constant 0 : index
  %c30 = arith.constant 30 : index
  // CHECK: tile.for (%[[T:.*]]: b0)
  tile.for (%t: b0) = (%c0) to (%c30) parallel {
    %v = tile.load %x[%t, :] : !tile.array<f32, [30, 40], strides [40, 1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
        tiles(!tile.tile<b0>)
    // A whole dimension has its length.
    // CHECK: %[[ROW:.*]] = arith.constant 40 : index
    // CHECK-NEXT: tile.for (%{{.*}}: grid) = (%{{.*}}) to (%[[ROW]])
    %row = tile.lane_count %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    tile.for (%i: grid) = (%c0) to (%row) {
    }
    // A tile has what is left of the range.
    // CHECK: %[[BEGIN:.*]] = tile.begin %[[T]]
    // CHECK: %[[END:.*]] = tile.end %[[T]]
    // CHECK: %[[LANES:.*]] = arith.subi %[[END]], %[[BEGIN]]
    // CHECK: %[[ALL:.*]] = arith.muli %[[LANES]], %{{.*}} : index
    // CHECK: tile.for (%{{.*}}: grid) = (%{{.*}}) to (%[[ALL]])
    %all = tile.lane_count %v dims [0, 1] : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    tile.for (%i: grid) = (%c0) to (%all) {
    }
    // A value that is the same everywhere counts as far as the tile that it was made for.
    // CHECK: tile.begin %[[T]]
    // CHECK: tile.end %[[T]]
    %f0 = arith.constant 0.0 : f32
    %same = tile.splat %f0 : f32 -> tensor<?xf32, #tile.dims<[b0]>>
    %some = tile.lane_count %same dims [0] : tensor<?xf32, #tile.dims<[b0]>>
    tile.for (%i: grid) = (%c0) to (%some) {
    }
  }
  tile.return
}
