// Sizes that are known at run time only stay symbols: bounds, checks, and what the host counts programs from.
// RUN: tilewright-opt %s -tile-pin-sizes=arrays=?x?:?x1:16,? | FileCheck %s --check-prefix=PIN
// RUN: tilewright-opt %s -tile-pin-sizes=arrays=?x?:?x1:16,? -tile-bucket-dims=sizes=30,40,40 -tile-lower=block-sizes=8 | FileCheck %s --check-prefix=LOWER
// RUN: tilewright-opt %s -tile-pin-sizes=arrays=?x?:?x1:16,? -tile-bucket-dims=sizes=30,40,40 -tile-lower=block-sizes=8 -tile-map-programs=pid-type=persistent_blocked | FileCheck %s --check-prefix=PERSISTENT

// PIN: tile.kernel @sums(%{{.*}}: !tile.array<f32, [s0, s1], strides [?, 1], align 16>, %{{.*}}: !tile.array<f32, [s2], strides [1]>)
// PIN: tile.check
// PIN: tile.empty : !tile.array<f32, [s0, s1], strides [?, 1], align 64>

// LOWER: tile.program @sums(
// LOWER-SAME: %{{.*}}: !tile.array<f32, [s0, s1], strides [?, 1], align 64>) attributes {tiles = {{\[}}[#tile.tiles<[s0] by [8]>]]}
// LOWER: %[[N:.*]] = tile.extent <s1>
// LOWER: arith.minsi %{{.*}}, %{{.*}} : index
// LOWER: tile.load %{{.*}}[%{{.*}} : 8, %{{.*}} : 64] valid [%{{.*}}, %{{.*}}]

// PERSISTENT: tile.program @sums(
// PERSISTENT-NOT: tiles =
// PERSISTENT: tile.extent <s0>
// PERSISTENT: tile.worker_count
// PERSISTENT: scf.for
tile.kernel @sums(%x: !tile.array<f32, [s0, s1]>, %w: !tile.array<f32, [s2]>) -> !tile.array<f32, [s0, s1]>
    attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %n = tile.extent <s1>
  %k = tile.extent <s2>
  %m = tile.extent <s0>
  %same = arith.cmpi eq, %n, %k : index
  tile.check %same, "{} and {}"(%n, %k)
  %out = tile.empty : !tile.array<f32, [s0, s1]>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %row = tile.load %x[%t, :] : !tile.array<f32, [s0, s1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>> tiles(!tile.tile<b0>)
    %sums = tile.scan (%row) dim 1 {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    } : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    tile.store %sums, %out[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [s0, s1]> tiles(!tile.tile<b0>)
  }
  tile.return %out : !tile.array<f32, [s0, s1]>
}
