// RUN: tilewright-opt %s -tile-lower=block-sizes=8 -split-input-file -verify-diagnostics

// expected-error @below {{has 2 block ids, 1 block sizes are given}}
tile.kernel @too_few(%x: !tile.array<f32, [20], strides [1]>) {
  %zero = arith.constant 0 : index
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%zero, %zero) parallel {
  }
  tile.return
}

// -----

// expected-error @below {{has arguments whose sizes are not pinned}}
tile.kernel @not_pinned(%x: !tile.array<f32, [s0]>) {
  %zero = arith.constant 0 : index
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
  }
  tile.return
}

// -----

tile.kernel @not_supported(%x: !tile.array<f32, [20], strides [1]>) {
  %zero = arith.constant 0 : index
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
    // expected-error @below {{'scf.execute_region' is not supported by this version}}
    scf.execute_region {
      scf.yield
    }
  }
  tile.return
}
