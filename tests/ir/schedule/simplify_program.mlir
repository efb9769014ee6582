// RUN: tilewright-opt %s -tile-simplify-program | FileCheck %s

!row = !tile.array<f32, [1024], strides [1]>

// What does not change in a loop leaves it; what only repeats stays with its users.
// CHECK-LABEL: tile.program @invariants
tile.program @invariants(%x: !row, %scale: f32) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %block = arith.constant 64 : index
  %a = tile.load %x[%zero : 64] : !row -> tensor<64xf32>
  // A constant tensor is a splat.
  // CHECK: %[[HALF:.*]] = tile.splat %{{.*}} : f32 -> tensor<64xf32>
  // CHECK: %[[A:.*]] = tile.load
  // CHECK: %[[B:.*]] = arith.mulf %[[A]], %[[HALF]]
  // CHECK: %[[E:.*]] = math.exp %[[B]]
  // CHECK: scf.for
  // CHECK-NOT: math.exp
  // CHECK: %[[V:.*]] = tile.load
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[V]], %[[E]]
  // CHECK-NEXT: %[[S:.*]] = tile.splat %{{.*}} : f32 -> tensor<64xf32>
  // CHECK-NEXT: arith.mulf %[[SUM]], %[[S]]
  scf.for %i = %zero to %n step %block {
    %v = tile.load %x[%i : 64] : !row -> tensor<64xf32>
    %half = arith.constant dense<0.5> : tensor<64xf32>
    %b = arith.mulf %a, %half : tensor<64xf32>
    %e = math.exp %b : tensor<64xf32>
    %sum = arith.addf %v, %e : tensor<64xf32>
    %s = tile.splat %scale : f32 -> tensor<64xf32>
    %r = arith.mulf %sum, %s : tensor<64xf32>
    tile.store %r, %x[%i : 64] : tensor<64xf32>, !row
  }
  tile.return
}

// Loads merge up to the next store; loops that run once are no loops.
// CHECK-LABEL: tile.program @merged
tile.program @merged(%x: !row, %y: !row) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %block = arith.constant 64 : index
  // CHECK-NOT: scf.for
  // CHECK: %[[A:.*]] = tile.load %[[X:.*]][
  // CHECK-NEXT: arith.addf %[[A]], %[[A]]
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.load %[[X]][
  scf.for %i = %zero to %block step %block {
    %a = tile.load %x[%i : 64] : !row -> tensor<64xf32>
    %b = tile.load %x[%zero : 64] : !row -> tensor<64xf32>
    %c = arith.addf %a, %b : tensor<64xf32>
    tile.store %c, %x[%zero : 64] : tensor<64xf32>, !row
    %d = tile.load %x[%zero : 64] : !row -> tensor<64xf32>
    tile.store %d, %y[%zero : 64] : tensor<64xf32>, !row
  }
  tile.return
}

// A block that is the dimension.
// CHECK-LABEL: tile.program @whole
tile.program @whole(%x: !row, %y: !tile.array<f32, [2048], strides [1]>) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %n = arith.constant 1024 : index
  // CHECK: %[[A:.*]] = tile.load %{{.*}}[:] : {{.*}} -> tensor<1024xf32>
  // CHECK: tile.store %[[A]], %{{.*}}[%{{.*}} : 1024]
  // CHECK: tile.load %{{.*}}[%{{.*}} : 1024] valid
  // CHECK: tile.store %{{.*}}, %{{.*}}[:]
  %a = tile.load %x[%zero : 1024] : !row -> tensor<1024xf32>
  tile.store %a, %y[%zero : 1024] : tensor<1024xf32>, !tile.array<f32, [2048], strides [1]>
  %b = tile.load %x[%zero : 1024] valid [%n] : !row -> tensor<1024xf32>
  tile.store %b, %x[%zero : 1024] : tensor<1024xf32>, !row
  tile.return
}
