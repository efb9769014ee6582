// Only loops whose order cannot be seen are permuted: the parallel one, and the sequential ones that add up or store
// apart.
// RUN: tilewright-opt %s -tile-order-loops=orders=1:0,2:0:1 | FileCheck %s

// CHECK-LABEL: tile.kernel @orders
tile.kernel @orders(%x: !tile.array<f32, [8, 16, 32], strides [512, 32, 1]>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-DAG: %[[N8:.*]] = arith.constant 8 : index
  // CHECK-DAG: %[[N16:.*]] = arith.constant 16 : index
  // CHECK-DAG: %[[N32:.*]] = arith.constant 32 : index
  %n8 = arith.constant 8 : index
  %n16 = arith.constant 16 : index
  %n32 = arith.constant 32 : index
  %f0 = arith.constant 0.0 : f32
  // CHECK: tile.for (%[[U:.*]]: b1, %[[T:.*]]: b0) = (%{{.*}}, %{{.*}}) to (%[[N16]], %[[N8]]) parallel {
  tile.for (%t: b0, %u: b1) = (%c0, %c0) to (%n8, %n16) parallel {
    // Each iteration replaces what it is given: the order decides.
    // CHECK: tile.for (%{{.*}}: b2, %{{.*}}: b3) =
    %last = tile.for (%v: b2, %w: b3) = (%c0, %c0) to (%n8, %n16) carry(%carried = %f0) : f32 {
      %i = tile.begin %v : !tile.tile<b2>
      %number = tile.load %x[at %i, at %c0, at %c0] : !tile.array<f32, [8, 16, 32], strides [512, 32, 1]> -> f32
      %twice = arith.addf %carried, %carried : f32
      %next = arith.addf %twice, %number : f32
      tile.yield %next : f32
    }
    // A sum has no order.
    // CHECK: tile.for (%[[C:.*]]: b6, %[[A:.*]]: grid, %[[B:.*]]: b5) = (%{{.*}}, %{{.*}}, %{{.*}}) to (%[[N32]], %[[N8]], %[[N16]]) carry
    %sum = tile.for (%a: grid, %b: b5, %c: b6) = (%c0, %c1, %c0) to (%n8, %n16, %n32) carry(%carried = %f0) : f32 {
      // CHECK: tile.load %{{.*}}[at %[[A]], %[[B]], %[[C]]]
      %block = tile.load %x[at %a, %b, %c] : !tile.array<f32, [8, 16, 32], strides [512, 32, 1]>
          -> tensor<?x?xf32, #tile.dims<[b5, b6]>> tiles(!tile.tile<b5>, !tile.tile<b6>)
      %part = tile.reduce add %block dims [0, 1] : tensor<?x?xf32, #tile.dims<[b5, b6]>> -> f32
      %next = arith.addf %carried, %part : f32
      tile.yield %next : f32
    }
    // The last one to store to an element wins, so the order stays.
    // CHECK: tile.for (%{{.*}}: b7, %{{.*}}: b8) =
    tile.for (%v: b7, %w: b8) = (%c0, %c0) to (%n8, %n16) {
      %ones = tile.splat %f0 : f32 -> tensor<?xf32, #tile.dims<[b7]>>
      tile.store %ones, %x[%v, at %c0, at %c0] : tensor<?xf32, #tile.dims<[b7]>>,
          !tile.array<f32, [8, 16, 32], strides [512, 32, 1]> tiles(!tile.tile<b7>)
    }
  }
  tile.return
}
