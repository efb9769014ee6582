// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// Gathers, masks, shifted tiles, ranges, atomic accesses, combiners, branches, and two outermost loops.

// CHECK-LABEL: tile.kernel @language
tile.kernel @language(%x: !tile.array<f32, [s0, s1]>, %ids: !tile.array<i64, [s2]>, %total: !tile.array<f32, [s3]>) attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %n = tile.extent <s2>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %i = tile.load %ids[%t] : !tile.array<i64, [s2]> -> tensor<?xi64, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    // CHECK: tile.shift %{{.*}} by %{{.*}} : !tile.tile<b0>
    %one = arith.constant 1 : index
    %next = tile.shift %t by %one : !tile.tile<b0>
    // CHECK: tile.slice %{{.*}} : !tile.tile<16>
    %range = tile.slice %zero : !tile.tile<16>
    // CHECK: tile.slice %{{.*}} to %{{.*}} : !tile.tile<16>
    %partial = tile.slice %zero to %n : !tile.tile<16>
    // CHECK: tile.load %{{.*}}[gather %{{.*}}, %{{.*}}] : {{.*}} tiles(tensor<?xi64, #tile.dims<[b0]>>, !tile.tile<16>)
    %rows = tile.load %x[gather %i, %range] : !tile.array<f32, [s0, s1]> -> tensor<?x16xf32, #tile.dims<[b0, 16]>> tiles(tensor<?xi64, #tile.dims<[b0]>>, !tile.tile<16>)
    // CHECK: tile.load %{{.*}}[gather %{{.*}}, with %{{.*}}] mask %{{.*}} {eviction = #tile<eviction first>} :
    %yes = arith.constant true
    %mask = tile.splat %yes : i1 -> tensor<?xi1, #tile.dims<[b0]>>
    %diagonal = tile.load %x[gather %i, with %i] mask %mask {eviction = #tile<eviction first>} : !tile.array<f32, [s0, s1]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(tensor<?xi64, #tile.dims<[b0]>>, tensor<?xi64, #tile.dims<[b0]>>)
    // CHECK: tile.scan (%{{.*}}) dim 1 reverse {
    %sums = tile.scan (%rows) dim 1 reverse {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : tensor<?x16xf32, #tile.dims<[b0, 16]>>
    // CHECK: tile.combine (%{{.*}}) other(%{{.*}}) dim 1 {
    %low = arith.constant 0xFF800000 : f32
    %most = tile.combine (%sums) other(%low) dim 1 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.maximumf %a, %b : f32
      tile.yield %c : f32
    } : (tensor<?x16xf32, #tile.dims<[b0, 16]>>) -> (tensor<?xf32, #tile.dims<[b0]>>)
    // CHECK: tile.reshape
    %flat = tile.reshape %rows : tensor<?x16xf32, #tile.dims<[b0, 16]>> -> tensor<?xf32, #tile.dims<[16 * b0]>>
    // CHECK: tile.atomic add %{{.*}}, %{{.*}}[at %{{.*}}] relaxed
    %sum = tile.reduce add %most dims [0] : tensor<?xf32, #tile.dims<[b0]>> -> f32
    %old = tile.atomic add %sum, %total[at %zero] relaxed : f32, !tile.array<f32, [s3]>
    // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}[at %{{.*}}] acq_rel
    %was = tile.atomic_cas %old, %sum, %total[at %zero] acq_rel : f32, !tile.array<f32, [s3]>
    // CHECK: tile.print "was" %{{.*}} : f32
    tile.print "was" %was : f32
    // CHECK: tile.print "end"
    tile.print "end"
  }
  // CHECK: tile.barrier
  tile.barrier
  tile.for (%t: b1) = (%zero) to (%n) parallel {
  }
  tile.return
}
