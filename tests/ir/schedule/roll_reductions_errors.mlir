// RUN: tilewright-opt %s -tile-roll-reductions="sizes=16 block-sizes=8" -split-input-file -verify-diagnostics

// Loaded, stored elsewhere in the same array, loaded again for the reduction: other rows would be read too late.
// expected-error @below {{has 0 dimensions to roll, 1 blocks are given}}
tile.kernel @crossed(%x: !tile.array<f32, [64, 64], strides [64, 1]>, %out: !tile.array<f32, [64], strides [1]>)
    attributes {whole = #tile.dims<[64]>} {
  %zero = arith.constant 0 : index
  %m = arith.constant 64 : index
  tile.for (%t: grid) = (%zero) to (%m) parallel {
    %v = tile.load %x[at %t, :] : !tile.array<f32, [64, 64], strides [64, 1]> -> tensor<?xf32, #tile.dims<[r0]>>
    tile.store %v, %x[:, at %t] : tensor<?xf32, #tile.dims<[r0]>>, !tile.array<f32, [64, 64], strides [64, 1]>
    %sum = tile.reduce add %v dims [0] : tensor<?xf32, #tile.dims<[r0]>> -> f32
    tile.store %sum, %out[at %t] : f32, !tile.array<f32, [64], strides [1]>
  }
  tile.return
}

