// RUN: tilewright-opt %s -tile-annotate-loops="stages=0,3 factors=1,2 flatten=1,1 one-buffer=0,1" | FileCheck %s

!line = !tile.array<f32, [64], strides [1]>

// A loop is flattened into the one around it, which says so; one in no other loop is not.
// CHECK-LABEL: tile.program @loops
tile.program @loops(%x: !line) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %n = arith.constant 64 : index
  %step = arith.constant 16 : index
  scf.for %i = %zero to %n step %step {
    scf.for %k = %zero to %n step %step {
      %v = tile.load %x[%k : 16] : !line -> tensor<16xf32>
      tile.store %v, %x[%i : 16] : tensor<16xf32>, !line
    // CHECK: } {tile.num_stages = 3 : i64, tile.one_buffer, tile.unroll = 2 : i64}
    } {tile.loop = 1 : i64}
  // CHECK: } {tile.flatten}
  } {tile.loop = 0 : i64}
  tile.return
}
