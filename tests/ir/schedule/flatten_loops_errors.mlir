// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tile-flatten-loops="flatten=1 block-sizes=8,64"

// The second array has more columns than are walked.
tile.kernel @part(%x: !tile.array<f32, [10, 3], strides [3, 1]>, %y: !tile.array<f32, [10, 4], strides [4, 1]>) {
  %zero = arith.constant 0 : index
  %m = arith.constant 10 : index
  %n = arith.constant 3 : index
  // expected-error @below {{cannot be walked as one: a row of an array is not walked whole}}
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %v = tile.load %x[%t, %u] : !tile.array<f32, [10, 3], strides [3, 1]>
      -> tensor<?x?xf32, #tile.dims<[b0, b1]>> tiles(!tile.tile<b0>, !tile.tile<b1>)
    tile.store %v, %y[%t, %u] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [10, 4], strides [4, 1]>
      tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return
}

// -----

// The rows of the second array lie the other way.
tile.kernel @transposed(%x: !tile.array<f32, [10, 3], strides [3, 1]>, %y: !tile.array<f32, [10, 3], strides [1, 10]>) {
  %zero = arith.constant 0 : index
  %m = arith.constant 10 : index
  %n = arith.constant 3 : index
  // expected-error @below {{cannot be walked as one: the rows of an array do not follow each other}}
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %v = tile.load %x[%t, %u] : !tile.array<f32, [10, 3], strides [3, 1]>
      -> tensor<?x?xf32, #tile.dims<[b0, b1]>> tiles(!tile.tile<b0>, !tile.tile<b1>)
    tile.store %v, %y[%t, %u] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [10, 3], strides [1, 10]>
      tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return
}

// -----

// A value of one of the two dimensions.
tile.kernel @bias(%x: !tile.array<f32, [10, 3], strides [3, 1]>, %y: !tile.array<f32, [3], strides [1]>) {
  %zero = arith.constant 0 : index
  %m = arith.constant 10 : index
  %n = arith.constant 3 : index
  // expected-error @below {{cannot be walked as one: a value has some of its dimensions and not all of them}}
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %v = tile.load %y[%u] : !tile.array<f32, [3], strides [1]> -> tensor<?xf32, #tile.dims<[b1]>> tiles(!tile.tile<b1>)
    %v1 = tile.expand_dims %v dim 0 : tensor<?xf32, #tile.dims<[b1]>> -> tensor<1x?xf32, #tile.dims<[1, b1]>>
    %v2 = tile.broadcast %v1 : tensor<1x?xf32, #tile.dims<[1, b1]>> -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    tile.store %v2, %x[%t, %u] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [10, 3], strides [3, 1]>
      tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return
}

// -----

// What a program works on depends on the shape of its tile.
tile.kernel @id(%x: !tile.array<index, [10, 3], strides [3, 1]>) {
  %zero = arith.constant 0 : index
  %m = arith.constant 10 : index
  %n = arith.constant 3 : index
  // expected-error @below {{cannot be walked as one: its tiles are used for other things than subscripts}}
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %id = tile.id %t : !tile.tile<b0>
    %v = tile.splat %id : index -> tensor<?x?xindex, #tile.dims<[b0, b1]>>
    tile.store %v, %x[%t, %u] : tensor<?x?xindex, #tile.dims<[b0, b1]>>, !tile.array<index, [10, 3], strides [3, 1]>
      tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return
}
