// RUN: tilewright-opt %s -tile-prove-bounds -canonicalize | FileCheck %s

!row = !tile.array<f32, [1024], strides [1]>

// Blocks that divide: no bounds.
// CHECK-LABEL: tile.program @exact
tile.program @exact(%x: !row) attributes {programs = 16 : i64} {
  %zero = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %block = arith.constant 64 : index
  %inner = arith.constant 16 : index
  %id = tile.program_id
  %begin = arith.muli %id, %block : index
  %left = arith.subi %n, %begin : index
  %valid = arith.minsi %block, %left : index
  %end = arith.addi %begin, %valid : index
  // CHECK-NOT: arith.minsi
  // CHECK-NOT: valid
  %a = tile.load %x[%begin : 64] valid [%valid] : !row -> tensor<64xf32>
  %sum = tile.reduce add %a dims [0] : tensor<64xf32> -> f32 valid [%valid]
  %whole = tile.splat %sum : f32 -> tensor<64xf32>
  tile.store %whole, %x[%begin : 64] valid [%valid] : tensor<64xf32>, !row
  // A tile that walks in it.
  scf.for %i = %begin to %end step %inner {
    %i_left = arith.subi %end, %i : index
    %i_valid = arith.minsi %i_left, %inner : index
    %v = tile.load %x[%i : 16] valid [%i_valid] : !row -> tensor<16xf32>
    tile.store %v, %x[%i : 16] valid [%i_valid] : tensor<16xf32>, !row
  }
  // One that ends where it ends.
  scf.for %i = %zero to %end step %inner {
    %i_left = arith.subi %end, %i : index
    %i_valid = arith.minsi %inner, %i_left : index
    %v = tile.load %x[%i : 16] valid [%i_valid] : !row -> tensor<16xf32>
    tile.store %v, %x[%i : 16] valid [%i_valid] : tensor<16xf32>, !row
  }
  tile.return
}

// What is not proven stays, each for itself.
// CHECK-LABEL: tile.program @ragged
tile.program @ragged(%x: !tile.array<f32, [1000, 128], strides [128, 1]>) attributes {programs = 32 : i64} {
  %zero = arith.constant 0 : index
  %m = arith.constant 1000 : index
  %n = arith.constant 128 : index
  %block = arith.constant 64 : index
  %id = tile.program_id
  %i, %j = tile.map_program %id into [16, 2] : index, index
  %i0 = arith.muli %i, %block : index
  %j0 = arith.muli %j, %block : index
  %i_left = arith.subi %m, %i0 : index
  %j_left = arith.subi %n, %j0 : index
  // CHECK: %[[VALID:.*]] = arith.minsi
  // CHECK-NOT: arith.minsi
  %i_valid = arith.minsi %block, %i_left : index
  %j_valid = arith.minsi %block, %j_left : index
  // CHECK: %[[A:.*]] = tile.load %{{.*}} valid [%[[VALID]], _]
  %a = tile.load %x[%i0 : 64, %j0 : 64] valid [%i_valid, %j_valid]
      : !tile.array<f32, [1000, 128], strides [128, 1]> -> tensor<64x64xf32>
  // CHECK: tile.reduce max %[[A]] dims [0, 1] : tensor<64x64xf32> -> f32 valid [%[[VALID]], _]
  %max = tile.reduce max %a dims [0, 1] : tensor<64x64xf32> -> f32 valid [%i_valid, %j_valid]
  %init = tile.splat %max : f32 -> tensor<64x64xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} valid %[[VALID]] :
  %d = tile.dot %a, %a, %init valid %i_valid : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor
  %e = tile.dot %a, %a, %d valid %j_valid : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  // CHECK: tile.store %{{.*}} valid [%[[VALID]], _]
  tile.store %e, %x[%i0 : 64, %j0 : 64] valid [%i_valid, %j_valid]
      : tensor<64x64xf32>, !tile.array<f32, [1000, 128], strides [128, 1]>
  tile.return
}

// Bounds that are data, a step that is another one than the block, a range that steps do not fill: nothing is known.
// CHECK-LABEL: tile.program @unknown
tile.program @unknown(%x: !row, %n: index) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %c1000 = arith.constant 1000 : index
  %c1024 = arith.constant 1024 : index
  %block = arith.constant 64 : index
  %half = arith.constant 32 : index
  // CHECK-COUNT-3: valid [%
  // CHECK-NOT: valid
  scf.for %i = %zero to %n step %block {
    %left = arith.subi %n, %i : index
    %valid = arith.minsi %block, %left : index
    %v = tile.load %x[%i : 64] valid [%valid] : !row -> tensor<64xf32>
    tile.store %v, %x[:] : tensor<64xf32>, !row
  }
  scf.for %i = %zero to %c1024 step %half {
    %left = arith.subi %c1024, %i : index
    %valid = arith.minsi %block, %left : index
    %v = tile.load %x[%i : 64] valid [%valid] : !row -> tensor<64xf32>
    tile.store %v, %x[:] : tensor<64xf32>, !row
  }
  scf.for %i = %zero to %c1000 step %block {
    %left = arith.subi %c1000, %i : index
    %valid = arith.minsi %block, %left : index
    %v = tile.load %x[%i : 64] valid [%valid] : !row -> tensor<64xf32>
    tile.store %v, %x[:] : tensor<64xf32>, !row
  }
  // The whole range is known, if the loop's steps are as well.
  scf.for %i = %zero to %c1000 step %block {
    %left = arith.subi %c1024, %i : index
    %valid = arith.minsi %block, %left : index
    %v = tile.load %x[%i : 64] valid [%valid] : !row -> tensor<64xf32>
    tile.store %v, %x[:] : tensor<64xf32>, !row
  }
  tile.return
}
