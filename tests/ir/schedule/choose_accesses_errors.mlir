// RUN: tilewright-opt %s -verify-diagnostics -tile-choose-accesses="indexing=pointers"

tile.kernel @store(%x: !tile.array<f32, [40], strides [1]>) {
  %zero = arith.constant 0 : index
  %n = arith.constant 40 : index
  %f0 = arith.constant 0.0 : f32
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %v = tile.splat %f0 : f32 -> tensor<?xf32, #tile.dims<[b0]>>
    // expected-error @below {{there is no indexing 'pointers'}}
    tile.store %v, %x[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [40], strides [1]> tiles(!tile.tile<b0>)
  }
  tile.return
}
