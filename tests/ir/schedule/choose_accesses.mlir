// RUN: tilewright-opt %s -tile-choose-accesses="indexing=tensor_descriptor,pointer,block_ptr load-evictions=any,last store-evictions=first" | FileCheck %s
// RUN: tilewright-opt %s -tile-choose-accesses="indexing=tensor_descriptor load-evictions=first" -tile-lower="block-sizes=16" | FileCheck %s --check-prefix=LOWERED

// What is chosen stands on loads and stores, each list in the order of the source, and goes down with them.
// CHECK-LABEL: tile.kernel @add
// LOWERED-LABEL: tile.program @add
tile.kernel @add(%x: !tile.array<f32, [40], strides [1]>, %y: !tile.array<f32, [40], strides [1]>) {
  %zero = arith.constant 0 : index
  %n = arith.constant 40 : index
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    // CHECK: tile.load %{{.*}}[%{{.*}}] {access = #tile<access tensor_descriptor>}
    // LOWERED: tile.load %{{.*}} {access = #tile<access tensor_descriptor>, eviction = #tile<eviction first>}
    %a = tile.load %x[%t] : !tile.array<f32, [40], strides [1]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    // CHECK: tile.load %{{.*}}[%{{.*}}] {access = #tile<access pointer>, eviction = #tile<eviction last>}
    // LOWERED: tile.load
    // LOWERED-NOT: access
    // LOWERED-NOT: eviction
    %b = tile.load %y[%t] : !tile.array<f32, [40], strides [1]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    %c = arith.addf %a, %b : tensor<?xf32, #tile.dims<[b0]>>
    // CHECK: tile.store %{{.*}}[%{{.*}}] {access = #tile<access block_ptr>, eviction = #tile<eviction first>}
    tile.store %c, %y[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [40], strides [1]> tiles(!tile.tile<b0>)
  }
  tile.return
}
