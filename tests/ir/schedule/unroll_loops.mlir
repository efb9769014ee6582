// The number of a loop picks its factor.
// RUN: tilewright-opt %s -tile-unroll-loops=factors=1,4 | FileCheck %s

!row = !tile.array<f32, [1024], strides [1]>

// CHECK-LABEL: tile.program @loops
tile.program @loops(%x: !row, %n: index) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %block = arith.constant 10 : index
  %c100 = arith.constant 100 : index
  %f0 = arith.constant 0.0 : f32
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
  // CHECK-COUNT-1: tile.load
  // CHECK-NOT: tile.load
  // CHECK: }
  scf.for %i = %zero to %c100 step %block {
    %v = tile.load %x[%i : 10] : !row -> tensor<10xf32>
    tile.store %v, %x[%i : 10] : tensor<10xf32>, !row
  } {tile.loop = 0 : i64}
  // Ten iterations: twice four in one, and a loop over the two that are left. Both carry on.
  // CHECK: %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %c80 step %c40{{.*}} iter_args(%{{.*}} = %{{.*}})
  // CHECK: tile.load %{{.*}}[%[[I]] : 10]
  // CHECK-COUNT-3: tile.load
  // CHECK-NOT: tile.load
  // CHECK: }
  // CHECK: scf.for %{{.*}} = %c80 to %c100 step %c10 iter_args(%{{.*}} = %[[SUM]])
  // CHECK-COUNT-1: tile.load
  // CHECK-NOT: tile.load
  %sum = scf.for %i = %zero to %c100 step %block iter_args(%acc = %f0) -> f32 {
    %v = tile.load %x[%i : 10] : !row -> tensor<10xf32>
    %part = tile.reduce add %v dims [0] : tensor<10xf32> -> f32
    %next = arith.addf %acc, %part : f32
    scf.yield %next : f32
  } {tile.loop = 1 : i64}
  // CHECK: tile.splat
  // CHECK-NOT: tile.loop
  %all = tile.splat %sum : f32 -> tensor<1024xf32>
  tile.store %all, %x[:] : tensor<1024xf32>, !row
  tile.return
}

// The unrolled loop ends before a partial tile.
// CHECK-LABEL: tile.program @ragged
tile.program @ragged(%x: !row) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %block = arith.constant 10 : index
  %n = arith.constant 95 : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %c80 step %c40
  // CHECK: scf.for %{{.*}} = %c80 to %c95 step %c10
  scf.for %i = %zero to %n step %block {
    %v = tile.load %x[%i : 10] : !row -> tensor<10xf32>
    tile.store %v, %x[%i : 10] : tensor<10xf32>, !row
  } {tile.loop = 1 : i64}
  // Too short, and of just the right length.
  %short = arith.constant 39 : index
  %right = arith.constant 40 : index
  // CHECK: scf.for %{{.*}} = %c0 to %c39 step %c10
  // CHECK: scf.for %{{.*}} = %c0 to %c40{{.*}} step %c40
  // CHECK-NOT: scf.for
  scf.for %i = %zero to %short step %block {
    %v = tile.load %x[%i : 10] : !row -> tensor<10xf32>
    tile.store %v, %x[%i : 10] : tensor<10xf32>, !row
  } {tile.loop = 1 : i64}
  scf.for %i = %zero to %right step %block {
    %v = tile.load %x[%i : 10] : !row -> tensor<10xf32>
    tile.store %v, %x[%i : 10] : tensor<10xf32>, !row
  } {tile.loop = 1 : i64}
  tile.return
}

// A loop whose length is data, and may be negative.
// CHECK-LABEL: tile.program @data
tile.program @data(%x: !row, %n: index) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %block = arith.constant 10 : index
  // CHECK: %[[LENGTH:.*]] = arith.maxsi %{{.*}}, %c0
  // CHECK: %[[STEPS:.*]] = arith.divui %[[LENGTH]], %[[STRIDE:.*]] :
  // CHECK: %[[WALKED:.*]] = arith.muli %[[STEPS]], %[[STRIDE]]
  // CHECK: %[[MIDDLE:.*]] = arith.addi %[[WALKED]], %c0
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[MIDDLE]] step
  // CHECK-COUNT-4: tile.load
  // CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %{{.*}} step %c10
  // CHECK-COUNT-1: tile.load
  // CHECK-NOT: tile.load
  scf.for %i = %zero to %n step %block {
    %v = tile.load %x[%i : 10] : !row -> tensor<10xf32>
    tile.store %v, %x[%i : 10] : tensor<10xf32>, !row
  } {tile.loop = 1 : i64}
  tile.return
}
