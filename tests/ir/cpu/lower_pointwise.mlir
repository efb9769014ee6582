// A pointwise kernel on a tile that may end early: groups of four whole vectors, then single ones under a mask. Nothing
// is kept in scratch.
// RUN: tilewright-opt %s -tile-lower-to-loops=level=x86-64-v3 -cse | FileCheck %s

// CHECK-LABEL: func.func @add(
// CHECK-SAME: memref<1000xf32, strided<[1]>> {tile.alignment = 16 : i64}
// CHECK-NOT: memref.alloca
// CHECK: scf.for %[[ID:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK: %[[BEGIN:.*]] = arith.muli %[[ID]], %c128
// CHECK: %[[VALID:.*]] = arith.minsi
// CHECK: %[[REST:.*]] = arith.remui %[[VALID]], %c32
// CHECK: %[[GROUPED:.*]] = arith.subi %[[VALID]], %[[REST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[GROUPED]] step %c32 {
// CHECK-COUNT-4: arith.addf {{.*}} : vector<8xf32>
// CHECK: scf.for %[[LANE:.*]] = %[[GROUPED]] to %[[VALID]] step %c8 {
// CHECK: %[[LEFT:.*]] = arith.subi %[[VALID]], %[[LANE]]
// CHECK: %[[EXISTING:.*]] = arith.minsi %[[LEFT]], %c8
// CHECK: %[[MASK:.*]] = vector.create_mask %[[EXISTING]]
// CHECK: vector.maskedload %{{.*}}[%{{.*}}], %[[MASK]]
// CHECK: vector.maskedstore %{{.*}}[%{{.*}}], %[[MASK]]
// CHECK-NOT: scf.for
tile.program @add(%x: !tile.array<f32, [1000], strides [1], align 16>, %y: !tile.array<f32, [1000], strides [1], align 16>,
                  %out: !tile.array<f32, [1000], strides [1], align 64>) attributes {programs = 8 : i64} {
  %size = arith.constant 1000 : index
  %block = arith.constant 128 : index
  %id = tile.program_id
  %i0 = arith.muli %id, %block : index
  %left = arith.subi %size, %i0 : index
  %n = arith.minsi %block, %left : index
  %a = tile.load %x[%i0 : 128] valid [%n] : !tile.array<f32, [1000], strides [1], align 16> -> tensor<128xf32>
  %b = tile.load %y[%i0 : 128] valid [%n] : !tile.array<f32, [1000], strides [1], align 16> -> tensor<128xf32>
  %c = arith.addf %a, %b : tensor<128xf32>
  tile.store %c, %out[%i0 : 128] valid [%n] : tensor<128xf32>, !tile.array<f32, [1000], strides [1], align 64>
  tile.return
}
