// What the verifiers of the dialect refuse, each with its message.
// RUN: tilewright-opt %s -verify-diagnostics -split-input-file

//===----------------------------------------------------------------------===//
// Dimensions, encodings and types
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'q7' is no dimension symbol; expected b, r or s and a number, such as b0}}
tile.program @p(%x: !tile.array<f32, [q7]>) {
  tile.return
}

// -----

// expected-error @+1 {{'b' is no dimension symbol}}
tile.program @p(%x: !tile.array<f32, [2 * b]>) {
  tile.return
}

// -----

// expected-error @+1 {{expected one stride per dimension}}
tile.program @p(%x: !tile.array<f32, [4, 4], strides [1]>) {
  tile.return
}

// -----

tile.kernel @k(%f: f32) {
  // expected-error @+1 {{#tile.dims names 1 dimensions of a tensor of rank 2}}
  %a = tile.splat %f : f32 -> tensor<?x?xf32, #tile.dims<[b0]>>
  tile.return
}

// -----

tile.kernel @k(%f: f32) {
  // expected-error @+1 {{dimension named b0 must be dynamic}}
  %a = tile.splat %f : f32 -> tensor<64xf32, #tile.dims<[b0]>>
  tile.return
}

// -----

tile.kernel @k(%f: f32) {
  // expected-error @+1 {{dimension named 64 must be static with that size}}
  %a = tile.splat %f : f32 -> tensor<?xf32, #tile.dims<[64]>>
  tile.return
}

//===----------------------------------------------------------------------===//
// A kernel as a whole
//===----------------------------------------------------------------------===//

// -----

// expected-error @+1 {{'tile.kernel' op has no tile loop}}
tile.kernel @k() {
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
  }
  // expected-error @+1 {{'tile.barrier' op must stand between two outermost loops}}
  tile.barrier
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [64, 64]>, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    %i = tile.index %t : !tile.tile<b0> -> tensor<?xi32, #tile.dims<[b0]>>
    // expected-error @+1 {{'tile.load' op goes with a gather that is not there}}
    %v = tile.load %x[with %i, %t] : !tile.array<f32, [64, 64]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(tensor<?xi32, #tile.dims<[b0]>>, !tile.tile<b0>)
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [64]>, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    %v = tile.load %x[%t] : !tile.array<f32, [64]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    // expected-error @+1 {{'tile.scan' op needs a combiner that yields one scalar per source}}
    %s = tile.scan (%v) dim 0 {
    ^bb0(%a: f32, %b: f32):
      tile.yield %a, %b : f32, f32
    } : tensor<?xf32, #tile.dims<[b0]>>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [64]>, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    %v = tile.load %x[%t] : !tile.array<f32, [64]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(!tile.tile<b0>)
    // expected-error @+1 {{'tile.reshape' op has a source of b0 elements and a result of 2 * b0}}
    %s = tile.reshape %v : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x2xf32, #tile.dims<[b0, 2]>>
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.for' op is an outermost loop, so it must be parallel}}
  tile.for (%t: b0) = (%n) to (%n) {
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.for' op is an inner loop, so it cannot be parallel}}
    tile.for (%u: b1) = (%n) to (%n) parallel {
    }
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [s0]>, %v: f32, %n: index) {
  // expected-error @+1 {{'tile.store' op cannot stand in a kernel's host part}}
  tile.store %v, %x[at %n] : f32, !tile.array<f32, [s0]>
  tile.for (%t: b0) = (%n) to (%n) parallel {
  }
  tile.return
}

// -----

tile.kernel @k(%f: f32, %n: index) {
  // expected-error @+1 {{'tile.splat' op cannot stand in a kernel's host part}}
  %a = tile.splat %f : f32 -> tensor<?xf32, #tile.dims<[b0]>>
  tile.for (%t: b0) = (%n) to (%n) parallel {
  }
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op must end with a return of its result types}}
tile.kernel @k(%x: !tile.array<f32, [s0]>, %n: index) -> !tile.array<f32, [s0]> {
  tile.for (%t: b0) = (%n) to (%n) parallel {
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.empty' op belongs to a kernel's host part}}
    %x = tile.empty : !tile.array<f32, [64]>
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.program_id' op belongs to program IR}}
    %id = tile.program_id
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'arith.constant' op has a tensor whose dimensions are not named by #tile.dims: 'tensor<64xf32>'}}
    %a = arith.constant dense<0.0> : tensor<64xf32>
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'arith.constant' op has a tensor of rank 0; a device value of rank 0 is a scalar}}
    %a = arith.constant dense<0.0> : tensor<f32>
  }
  tile.return
}

// -----

tile.kernel @k(%f: f32, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    %i = tile.index %t : !tile.tile<b0> -> tensor<?xi32, #tile.dims<[b0]>>
    %a = tile.splat %f : f32 -> tensor<?xf32, #tile.dims<[b1]>>
    // expected-error @+1 {{'math.fpowi' op mixes values of different dimensions}}
    %b = math.fpowi %a, %i : tensor<?xf32, #tile.dims<[b1]>>, tensor<?xi32, #tile.dims<[b0]>>
  }
  tile.return
}

//===----------------------------------------------------------------------===//
// A program as a whole
//===----------------------------------------------------------------------===//

// -----

tile.program @p() {
  // expected-error @+1 {{'tile.extent' op is not over sizes alone}}
  %n = tile.extent <b0>
  tile.return
}

// -----

tile.program @p(%f: f32) {
  // expected-error @+1 {{'tile.splat' op has a tensor whose shape is not static: 'tensor<?xf32, #tile.dims<[b0]>>'}}
  %a = tile.splat %f : f32 -> tensor<?xf32, #tile.dims<[b0]>>
  tile.return
}

// -----

tile.program @p(%x: !tile.array<f32, [s0]>, %i: index) {
  // expected-error @+1 {{'tile.load' op has an array whose sizes and strides are not pinned: '!tile.array<f32, [s0]>'}}
  %a = tile.load %x[at %i] : !tile.array<f32, [s0]> -> f32
  tile.return
}

// -----

tile.program @p(%id: index) {
  // expected-error @+1 {{'tile.map_program' op needs one result per count}}
  %i = tile.map_program %id into [4, 4] : index
  tile.return
}

// -----

tile.program @p(%id: index) {
  // expected-error @+1 {{'tile.map_program' op needs a group of at least 1}}
  %i, %j = tile.map_program %id into [4, 4] {group = 0} : index, index
  tile.return
}

// -----

tile.program @p(%id: index) {
  // expected-error @+1 {{'tile.map_program' op groups two dimensions, but has one}}
  %i = tile.map_program %id into [4] {group = 2} : index
  tile.return
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{expected a block such as b0, a number, or grid}}
  tile.for (%t: s0) = (%n) to (%n) parallel {
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{expected one lower and one upper bound per variable}}
  tile.for (%t: b0, %u: b1) = (%n) to (%n, %n) parallel {
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.for' op is parallel, so it carries no values}}
  %r = tile.for (%t: b0) = (%n) to (%n) carry(%c = %n) : index parallel {
    tile.yield %c : index
  }
  tile.return
}

// -----

tile.kernel @k(%n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.for' op carries 1 values, but its body yields 0}}
    %r = tile.for (%u: b1) = (%n) to (%n) carry(%c = %n) : index {
    }
  }
  tile.return
}

// -----

tile.kernel @k(%n: index, %f: f32) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.for' op carries a value whose type changes from 'index' to 'f32'}}
    %r = tile.for (%u: b1) = (%n) to (%n) carry(%c = %n) : index {
      tile.yield %f : f32
    }
  }
  tile.return
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

// -----

tile.program @p(%f: f64) {
  // expected-error @+1 {{'tile.splat' op fills a tensor of 'f32' with a 'f64'}}
  %a = tile.splat %f : f64 -> tensor<64xf32>
  tile.return
}

// -----

tile.kernel @k(%f: f32, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.full' op dimension 1 is not its tile's extent}}
    %a = tile.full %f tiles(%t : !tile.tile<b0>) at [1] : f32 -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
  }
  tile.return
}

// -----

tile.kernel @k(%f: f32, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.full' op needs one tile per tile dimension}}
    %a = tile.full %f tiles(%t : !tile.tile<b0>) at [] : f32 -> tensor<?xf32, #tile.dims<[b0]>>
  }
  tile.return
}

// -----

tile.kernel @k(%f: f32, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.full' op has no dimension 1}}
    %a = tile.full %f tiles(%t : !tile.tile<b0>) at [1] : f32 -> tensor<?xf32, #tile.dims<[b0]>>
  }
  tile.return
}

// -----

tile.program @p(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.broadcast' op changes the rank from 1 to 2}}
  %b = tile.broadcast %a : tensor<4xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.broadcast' op cannot repeat dimension 4 to 8}}
  %b = tile.broadcast %a : tensor<4xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.expand_dims' op has no position 2}}
  %b = tile.expand_dims %a dim 2 : tensor<4xf32> -> tensor<4x1xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.expand_dims' op result is not its source with a dimension of 1 inserted}}
  %b = tile.expand_dims %a dim 0 : tensor<4xf32> -> tensor<4x1xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.transpose' op needs a permutation of its dimensions}}
  %b = tile.transpose %a [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.transpose' op result dimension 0 is not source dimension 1}}
  %b = tile.transpose %a [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has a wrong list of dimensions}}
  %b = tile.reduce add %a dims [2] : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has a wrong list of dimensions}}
  %b = tile.reduce add %a dims [1, 1] : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op reduces no dimension}}
  %b = tile.reduce add %a dims [] : tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op result is not its source without the reduced dimensions}}
  %b = tile.reduce add %a dims [1] : tensor<4x8xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xbf16>) {
  // expected-error @+1 {{'tile.reduce' op result is not its source without the reduced dimensions}}
  %b = tile.reduce add %a dims [1] : tensor<4x8xbf16> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op combines floating-point values with and/or}}
  %b = tile.reduce or %a dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.dot' op shapes do not fit: [4, 8] times [4, 4] into [4, 4]}}
  %r = tile.dot %a, %b, %c : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.dot' op needs three operands of one rank of at least 2, found 2, 1 and 2}}
  %r = tile.dot %a, %b, %c : tensor<4x8xf32>, tensor<8xf32>, tensor<4x4xf32>
  tile.return
}

// -----

tile.program @p(%a: tensor<2x4x8xf32>, %b: tensor<3x8x4xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{'tile.dot' op has unequal batch dimensions}}
  %r = tile.dot %a, %b, %c : tensor<2x4x8xf32>, tensor<3x8x4xf32>, tensor<2x4x4xf32>
  tile.return
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

// -----

tile.program @p(%x: !tile.array<f32, [8, 8], strides [8, 1]>, %i: index) {
  // expected-error @+1 {{'tile.load' op has 1 subscripts for an array of rank 2}}
  %a = tile.load %x[%i : 4] : !tile.array<f32, [8, 8], strides [8, 1]> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @p(%x: !tile.array<f32, [8], strides [1]>, %i: index) {
  // expected-error @+1 {{'tile.load' op moves 'f64' between the array's 'f32'}}
  %a = tile.load %x[%i : 4] : !tile.array<f32, [8], strides [1]> -> tensor<4xf64>
  tile.return
}

// -----

tile.program @p(%x: !tile.array<f32, [8, 8], strides [8, 1]>, %i: index) {
  // expected-error @+1 {{'tile.load' op subscripts give 1 dimensions, its value has 2}}
  %a = tile.load %x[%i : 4, at %i] : !tile.array<f32, [8, 8], strides [8, 1]> -> tensor<4x1xf32>
  tile.return
}

// -----

tile.program @p(%x: !tile.array<f32, [8], strides [1]>, %v: tensor<4xf32>, %i: index) {
  // expected-error @+1 {{'tile.store' op has no dimension 1}}
  tile.store %v, %x[%i : 4] valid [_, %i] : tensor<4xf32>, !tile.array<f32, [8], strides [1]>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [s0]>, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.load' op dimension 0 of its value is not the tile's}}
    %a = tile.load %x[%t] : !tile.array<f32, [s0]> -> tensor<?xf32, #tile.dims<[b1]>> tiles(!tile.tile<b0>)
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [s0]>, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{expected one type per tile or gather subscript}}
    %a = tile.load %x[%t] : !tile.array<f32, [s0]> -> tensor<?xf32, #tile.dims<[b0]>>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.array<f32, [s0]>, %n: index) {
  tile.for (%t: b0) = (%n) to (%n) parallel {
    // expected-error @+1 {{'tile.load' op has a subscript of the wrong type}}
    %a = tile.load %x[%n] : !tile.array<f32, [s0]> -> tensor<?xf32, #tile.dims<[b0]>> tiles(index)
  }
  tile.return
}

//===----------------------------------------------------------------------===//
// What fuzzing found
//===----------------------------------------------------------------------===//

// -----

tile.kernel @k(%n: index) {
  // expected-error @+1 {{'tile.for' op has a body that does not end with tile.yield}}
  tile.for (%t: b0) = (%n) to (%n) parallel {
    tile.return
  }
  tile.return
}

// -----

tile.program @p(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.transpose' op needs a permutation of its dimensions}}
  %b = tile.transpose %a [9, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op has no body}}
tile.kernel @k(%x: !tile.array<f32, [s0]>)

// -----

// expected-error @+1 {{'tile.program' op has no body}}
tile.program @p(%x: !tile.array<f32, [8], strides [1]>)
