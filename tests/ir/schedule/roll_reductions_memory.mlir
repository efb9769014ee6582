// Accesses to an array that is stored to keep the order of the source.
// RUN: tilewright-opt %s -tile-roll-reductions="sizes=16 block-sizes=8" -canonicalize | FileCheck %s

// In place: the loads come in every loop, the store last.
// CHECK-LABEL: tile.kernel @in_place
tile.kernel @in_place(%x: !tile.array<f32, [100, 64], strides [64, 1]>) attributes {whole = #tile.dims<[64]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 100 : index
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    // CHECK: tile.for (%[[U:.*]]: b1) {{.*}} carry
    // CHECK: tile.load %[[X:.*]][%[[T:.*]], %[[U]]]
    // CHECK-NOT: tile.store
    // CHECK: tile.for (%[[U:.*]]: b1)
    // CHECK: %[[V:.*]] = tile.load %[[X]][%[[T]], %[[U]]]
    // CHECK: %[[D:.*]] = arith.subf %[[V]]
    // CHECK: tile.store %[[D]], %[[X]][%[[T]], %[[U]]]
    %v = tile.load %x[%t, :] : !tile.array<f32, [100, 64], strides [64, 1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
        tiles(!tile.tile<b0>)
    %max = tile.reduce max %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    %max1 = tile.expand_dims %max dim 1 : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>
    %max2 = tile.broadcast %max1 : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %d = arith.subf %v, %max2 : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    tile.store %d, %x[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [100, 64], strides [64, 1]>
        tiles(!tile.tile<b0>)
  }
  tile.return
}

// A store waits for all who still need what it overwrites.
// CHECK-LABEL: tile.kernel @late_store
tile.kernel @late_store(%x: !tile.array<f32, [100, 64], strides [64, 1]>, %out: !tile.array<f32, [100, 64], strides [64, 1]>)
    attributes {whole = #tile.dims<[64]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 100 : index
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    // CHECK: tile.for (%{{.*}}: b1) {{.*}} carry
    // CHECK-NOT: tile.store
    // CHECK: tile.for (%[[U:.*]]: b1)
    // CHECK: %[[V:.*]] = tile.load %[[X:.*]][%[[T:.*]], %[[U]]]
    // CHECK: tile.store %{{.*}}, %[[X]][%[[T]], %[[U]]]
    // CHECK: %[[D:.*]] = arith.subf %[[V]]
    // CHECK: tile.store %[[D]], %{{.*}}[%[[T]], %[[U]]]
    %v = tile.load %x[%t, :] : !tile.array<f32, [100, 64], strides [64, 1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
        tiles(!tile.tile<b0>)
    %twice = arith.addf %v, %v : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    tile.store %twice, %x[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [100, 64], strides [64, 1]>
        tiles(!tile.tile<b0>)
    %max = tile.reduce max %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    %max1 = tile.expand_dims %max dim 1 : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>
    %max2 = tile.broadcast %max1 : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %d = arith.subf %v, %max2 : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    tile.store %d, %out[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [100, 64], strides [64, 1]>
        tiles(!tile.tile<b0>)
  }
  tile.return
}

// An access to one element reads what the loop before it has stored.
// CHECK-LABEL: tile.kernel @narrow_load
tile.kernel @narrow_load(%x: !tile.array<f32, [100, 64], strides [64, 1]>, %out: !tile.array<f32, [100], strides [1]>)
    attributes {whole = #tile.dims<[64]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 100 : index
  tile.for (%t: grid) = (%zero) to (%m) parallel {
    // CHECK: tile.for
    // CHECK: tile.store %{{.*}}, %[[X:.*]][at %{{.*}}, %{{.*}}]
    // CHECK: }
    // CHECK: %[[FIRST:.*]] = tile.load %[[X]][at %{{.*}}, at %{{.*}}]
    // CHECK: tile.for {{.*}} carry
    // CHECK: arith.addf
    %f1 = arith.constant 1.0 : f32
    %ones = tile.full %f1 at [] : f32 -> tensor<?xf32, #tile.dims<[r0]>>
    tile.store %ones, %x[at %t, :] : tensor<?xf32, #tile.dims<[r0]>>, !tile.array<f32, [100, 64], strides [64, 1]>
    %first = tile.load %x[at %t, at %zero] : !tile.array<f32, [100, 64], strides [64, 1]> -> f32
    %firsts = tile.splat %first : f32 -> tensor<?xf32, #tile.dims<[r0]>>
    %v = tile.load %x[at %t, :] : !tile.array<f32, [100, 64], strides [64, 1]> -> tensor<?xf32, #tile.dims<[r0]>>
    %w = arith.addf %v, %firsts : tensor<?xf32, #tile.dims<[r0]>>
    %sum = tile.reduce add %w dims [0] : tensor<?xf32, #tile.dims<[r0]>> -> f32
    tile.store %sum, %out[at %t] : f32, !tile.array<f32, [100], strides [1]>
  }
  tile.return
}
