// Sizes become numbers everywhere; the host part folds; a check that holds is gone.
// RUN: tilewright-opt %s -tile-pin-sizes=arrays=30x40:1x30:16,40x20 | FileCheck %s

// CHECK: tile.kernel @product(%[[X:.*]]: !tile.array<f32, [30, 40], strides [1, 30], align 16> {tile.name = "x"},
// CHECK-SAME: %{{.*}}: f32 {tile.name = "scale"}, %[[Y:.*]]: !tile.array<f32, [40, 20], strides [20, 1]>)
// CHECK-SAME: -> !tile.array<f32, [30, 20], strides [20, 1], align 64> attributes {whole = #tile.dims<[40]>}
tile.kernel @product(%x: !tile.array<f32, [s0, s1]> {tile.name = "x"}, %scale: f32 {tile.name = "scale"},
                     %y: !tile.array<f32, [s2, s3]>) -> !tile.array<f32, [s0, s3]> attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %m = tile.extent <s0>
  %k = tile.extent <s1>
  %k2 = tile.extent <s2>
  %n = tile.extent <s3>
  %same = arith.cmpi eq, %k, %k2 : index
  // CHECK-NOT: tile.check
  tile.check %same, "inner sizes differ: {} and {}"(%k, %k2)
  // CHECK: %[[OUT:.*]] = tile.empty : !tile.array<f32, [30, 20], strides [20, 1], align 64>
  %out = tile.empty : !tile.array<f32, [s0, s3]>
  // CHECK: %[[HALF:.*]] = arith.constant 15 : index
  %half = arith.divsi %m, %two : index
  // CHECK: tile.for ({{.*}}: b0, {{.*}}: b1) = (%{{.*}}, %{{.*}}) to (%[[HALF]], %{{.*}}) parallel {
  tile.for (%tm: b0, %tn: b1) = (%zero, %zero) to (%half, %n) parallel {
    // Lengths of whole dimensions too, while r stays in the types of values.
    // CHECK: arith.constant 41 : index
    %length = tile.extent <r0 + 1>
    // CHECK: tile.extent <b0>
    %block = tile.extent <b0>
    // CHECK: tile.load %[[X]][%{{.*}}, :] : !tile.array<f32, [30, 40], strides [1, 30], align 16> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %a = tile.load %x[%tm, :] : !tile.array<f32, [s0, s1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>> tiles(!tile.tile<b0>)
    %i = tile.begin %tn : !tile.tile<b1>
    // A dimension named by a size becomes static.
    // CHECK: tile.splat %{{.*}} : f32 -> tensor<20xf32, #tile.dims<[20]>>
    %b = tile.splat %scale : f32 -> tensor<?xf32, #tile.dims<[s3]>>
    tile.store %b, %out[at %i, :] : tensor<?xf32, #tile.dims<[s3]>>, !tile.array<f32, [s0, s3]>
  }
  // CHECK: tile.return %[[OUT]] : !tile.array<f32, [30, 20], strides [20, 1], align 64>
  tile.return %out : !tile.array<f32, [s0, s3]>
}
