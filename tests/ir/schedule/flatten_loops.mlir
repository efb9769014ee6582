// RUN: tilewright-opt %s -tile-flatten-loops="flatten=1 block-sizes=8,64" | FileCheck %s

// Two dimensions of rows that follow each other become one; what only one of them has keeps its place.
// CHECK-LABEL: tile.kernel @rows(
// CHECK-SAME: %[[X:.*]]: !tile.array<f32, [3000, 7], strides [7, 1]>
tile.kernel @rows(%x: !tile.array<f32, [1000, 3, 7], strides [21, 7, 1]>) -> !tile.array<f32, [1000, 3], strides [3, 1]>
    attributes {whole = #tile.dims<[7]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 1000 : index
  %n = arith.constant 3 : index
  // CHECK: %[[OUT:.*]] = tile.empty : !tile.array<f32, [3000], strides [1]>
  %out = tile.empty : !tile.array<f32, [1000, 3], strides [3, 1]>
  // CHECK-DAG: %[[BEGIN:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[END:.*]] = arith.constant 3000 : index
  // CHECK: tile.for (%[[T:.*]]: b2) = (%{{.*}}) to (%[[END]]) parallel {
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    // CHECK: tile.load %[[X]][%[[T]], :] : {{.*}} -> tensor<?x?xf32, #tile.dims<[b2, r0]>>
    %v = tile.load %x[%t, %u, :] : !tile.array<f32, [1000, 3, 7], strides [21, 7, 1]>
      -> tensor<?x?x?xf32, #tile.dims<[b0, b1, r0]>> tiles(!tile.tile<b0>, !tile.tile<b1>)
    // CHECK: tile.reduce max {{.*}} dims [1] : {{.*}} -> tensor<?xf32, #tile.dims<[b2]>>
    %max = tile.reduce max %v dims [2]
      : tensor<?x?x?xf32, #tile.dims<[b0, b1, r0]>> -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK: tile.expand_dims {{.*}} dim 1 : tensor<?xf32, #tile.dims<[b2]>> -> tensor<?x1xf32, #tile.dims<[b2, 1]>>
    %max1 = tile.expand_dims %max dim 2
      : tensor<?x?xf32, #tile.dims<[b0, b1]>> -> tensor<?x?x1xf32, #tile.dims<[b0, b1, 1]>>
    %max2 = tile.broadcast %max1
      : tensor<?x?x1xf32, #tile.dims<[b0, b1, 1]>> -> tensor<?x?x?xf32, #tile.dims<[b0, b1, r0]>>
    %d = arith.subf %v, %max2 : tensor<?x?x?xf32, #tile.dims<[b0, b1, r0]>>
    %s = tile.reduce add %d dims [2]
      : tensor<?x?x?xf32, #tile.dims<[b0, b1, r0]>> -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK: tile.store {{.*}}, %[[OUT]][%[[T]]] : tensor<?xf32, #tile.dims<[b2]>>
    tile.store %s, %out[%t, %u] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [1000, 3], strides [3, 1]>
      tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  // CHECK: tile.return %[[OUT]] : !tile.array<f32, [3000], strides [1]>
  tile.return %out : !tile.array<f32, [1000, 3], strides [3, 1]>
}
