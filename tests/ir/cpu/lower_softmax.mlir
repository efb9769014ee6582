// Softmax of one row: the exponentials are used twice, so they are kept in a row of scratch; the loop that computes them
// fetches the next row and sums; reductions have four accumulators; what is one number a row is computed outside the loops.
// RUN: tilewright-opt %s -tile-lower-to-loops=level=x86-64-v4 -cse | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64x512xf32
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<64x512xf32
// CHECK: %[[POWERS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x528xf32>
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c64 iter_args
// CHECK-COUNT-4: arith.maximumf {{.*}} fastmath<nsz> : vector<16xf32>
// CHECK: %[[MAX:.*]] = vector.reduction <maximumf>
// CHECK: vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c64 iter_args
// CHECK: memref.prefetch %[[X]]
// CHECK: %[[POWER:.*]] = math.exp
// CHECK: vector.store %[[POWER]], %[[POWERS]]
// CHECK: arith.addf %{{.*}}, %[[POWER]]
// CHECK-NOT: vector.load %[[POWERS]]
// CHECK: vector.reduction <add>
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c64 {
// CHECK: vector.load %[[POWERS]]
// CHECK: arith.divf
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK-NOT: math.exp
tile.program @softmax(%x: !tile.array<f32, [64, 512], strides [512, 1], align 16>,
                  %out: !tile.array<f32, [64, 512], strides [512, 1], align 64>) attributes {programs = 64 : i64} {
  %i0 = tile.program_id
  %a = tile.load %x[%i0 : 1, :] : !tile.array<f32, [64, 512], strides [512, 1], align 16> -> tensor<1x512xf32>
  %max = tile.reduce max %a dims [1] : tensor<1x512xf32> -> tensor<1xf32>
  %max1 = tile.expand_dims %max dim 1 : tensor<1xf32> -> tensor<1x1xf32>
  %max2 = tile.broadcast %max1 : tensor<1x1xf32> -> tensor<1x512xf32>
  %d = arith.subf %a, %max2 : tensor<1x512xf32>
  %e = math.exp %d : tensor<1x512xf32>
  %sum = tile.reduce add %e dims [1] : tensor<1x512xf32> -> tensor<1xf32>
  %sum1 = tile.expand_dims %sum dim 1 : tensor<1xf32> -> tensor<1x1xf32>
  %sum2 = tile.broadcast %sum1 : tensor<1x1xf32> -> tensor<1x512xf32>
  %q = arith.divf %e, %sum2 : tensor<1x512xf32>
  tile.store %q, %out[%i0 : 1, :] : tensor<1x512xf32>, !tile.array<f32, [64, 512], strides [512, 1], align 64>
  tile.return
}
