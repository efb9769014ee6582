// RUN: tilewright-opt %s -tile-roll-reductions="sizes=256 block-sizes=8" -canonicalize | FileCheck %s

// Each loop computes the wide values that it needs again, from the load on. Reductions that depend on each other are
// loops one after the other, others share one.
// CHECK-LABEL: tile.kernel @softmax
tile.kernel @softmax(%x: !tile.array<f32, [100, 1000], strides [1000, 1]>, %out: !tile.array<f32, [100, 1000], strides [1000, 1]>,
                     %least: !tile.array<f32, [100], strides [1]>) attributes {whole = #tile.dims<[1000]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 100 : index
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[N:.*]] = arith.constant 1000 : index
  // CHECK-DAG: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG: %[[HIGHEST:.*]] = arith.constant 0x7F800000 : f32
  // CHECK: tile.for (%[[T:.*]]: b0)
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    // CHECK: %[[MAX0:.*]] = tile.splat %[[LOWEST]] : f32 -> tensor<?xf32, #tile.dims<[b0]>>
    // CHECK: %[[MIN0:.*]] = tile.splat %[[HIGHEST]]
    // CHECK: %[[FIRST:.*]]:2 = tile.for (%[[U:.*]]: b1) = (%[[ZERO]]) to (%[[N]]) carry(%[[M:.*]] = %[[MAX0]], %[[L:.*]] = %[[MIN0]])
    // CHECK-NEXT: %[[V:.*]] = tile.load %{{.*}}[%[[T]], %[[U]]] : {{.*}} -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK-NEXT: %[[PART:.*]] = tile.reduce max %[[V]] dims [1]
    // CHECK-NEXT: %[[PART2:.*]] = tile.reduce min %[[V]] dims [1]
    // CHECK-NEXT: %[[NEXT:.*]] = arith.maximumf %[[M]], %[[PART]] : tensor<?xf32, #tile.dims<[b0]>>
    // CHECK-NEXT: %[[NEXT2:.*]] = arith.minimumf %[[L]], %[[PART2]]
    // CHECK-NEXT: tile.yield %[[NEXT]], %[[NEXT2]]
    %v = tile.load %x[%t, :] : !tile.array<f32, [100, 1000], strides [1000, 1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
        tiles(!tile.tile<b0>)
    %max = tile.reduce max %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    // CHECK: %[[MAX1:.*]] = tile.expand_dims %[[FIRST]]#0
    %max1 = tile.expand_dims %max dim 1 : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>
    %max2 = tile.broadcast %max1 : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %d = arith.subf %v, %max2 : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %e = math.exp %d : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %sum = tile.reduce add %e dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    %min = tile.reduce min %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    // A store without the dimension stands where it stood.
    // CHECK: tile.store %[[FIRST]]#1, %{{.*}}[%[[T]]]
    tile.store %min, %least[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [100], strides [1]> tiles(!tile.tile<b0>)
    // CHECK: %[[SUM:.*]] = tile.for (%[[U:.*]]: b1) = {{.*}} carry(%[[S:.*]] =
    // CHECK-NEXT: %[[V:.*]] = tile.load
    // CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[MAX1]] : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK-NEXT: %[[D:.*]] = arith.subf %[[V]], %[[B]]
    // CHECK-NEXT: %[[E:.*]] = math.exp %[[D]]
    // CHECK-NEXT: %[[PART:.*]] = tile.reduce add %[[E]] dims [1]
    // CHECK-NEXT: arith.addf %[[S]], %[[PART]]
    %sum1 = tile.expand_dims %sum dim 1 : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>
    %sum2 = tile.broadcast %sum1 : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %q = arith.divf %e, %sum2 : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    // CHECK: tile.for (%[[U:.*]]: b1) =
    // CHECK: %[[E:.*]] = math.exp
    // CHECK: %[[Q:.*]] = arith.divf %[[E]]
    // CHECK: tile.store %[[Q]], %{{.*}}[%[[T]], %[[U]]]
    tile.store %q, %out[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [100, 1000], strides [1000, 1]>
        tiles(!tile.tile<b0>)
  }
  tile.return
}

// Inside an inner loop; a wide value from outside of it is computed again there, and one made by full ends where the
// tile ends. Booleans and integers start from their own neutral elements.
// CHECK-LABEL: tile.kernel @inside
tile.kernel @inside(%x: !tile.array<i32, [100, 1000], strides [1000, 1]>, %bias: !tile.array<i32, [1000], strides [1]>,
                    %out: !tile.array<i32, [100], strides [1]>) attributes {whole = #tile.dims<[1000]>} {
  // CHECK-DAG: %[[SMALLEST:.*]] = arith.constant -2147483648 : i32
  // CHECK-DAG: %[[FALSE:.*]] = arith.constant false
  %zero = arith.constant 0 : index
  %m = arith.constant 100 : index
  %five = arith.constant 5 : i32
  // CHECK: tile.for (%{{.*}}: b0)
  // CHECK-NOT: tile.load
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %begin = tile.begin %t : !tile.tile<b0>
    %end = tile.end %t : !tile.tile<b0>
    %w = tile.load %bias[:] : !tile.array<i32, [1000], strides [1]> -> tensor<?xi32, #tile.dims<[r0]>>
    %fives = tile.full %five at [] : i32 -> tensor<?xi32, #tile.dims<[r0]>>
    // CHECK: tile.for (%[[I:.*]]: grid)
    tile.for (%i: grid) = (%begin) to (%end) {
      // CHECK: %[[R:.*]]:2 = tile.for (%[[U:.*]]: b1) = {{.*}} carry(%{{.*}} = %[[SMALLEST]], %[[ANY:.*]] = %[[FALSE]]) : i32, i1
      // CHECK: %[[W:.*]] = tile.load %{{.*}}[%[[U]]]
      // CHECK: %[[FIVES:.*]] = tile.full %{{.*}} tiles(%[[U]] : !tile.tile<b1>) at [0] : i32 -> tensor<?xi32, #tile.dims<[b1]>>
      // CHECK: %[[V:.*]] = tile.load %{{.*}}[at %[[I]], %[[U]]]
      // CHECK: arith.maxsi
      // CHECK: arith.ori %[[ANY]]
      %v = tile.load %x[at %i, :] : !tile.array<i32, [100, 1000], strides [1000, 1]> -> tensor<?xi32, #tile.dims<[r0]>>
      %s = arith.addi %v, %w : tensor<?xi32, #tile.dims<[r0]>>
      %max = tile.reduce max %s dims [0] : tensor<?xi32, #tile.dims<[r0]>> -> i32
      %large = arith.cmpi sgt, %s, %fives : tensor<?xi32, #tile.dims<[r0]>>
      %any = tile.reduce or %large dims [0] : tensor<?xi1, #tile.dims<[r0]>> -> i1
      %r = arith.select %any, %max, %five : i32
      tile.store %r, %out[at %i] : i32, !tile.array<i32, [100], strides [1]>
    }
  }
  tile.return
}
