// RUN: tilewright-opt %s -tile-pin-sizes=arrays=30,31 -split-input-file -verify-diagnostics

tile.kernel @check_fails(%x: !tile.array<f32, [s0]>, %y: !tile.array<f32, [s1]>) {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %same = arith.cmpi eq, %m, %n : index
  // expected-error @below {{sizes differ: 30 and 31}}
  tile.check %same, "sizes differ: {} and {}"(%m, %n)
  tile.for (%t: b0) = (%zero) to (%m) parallel {
  }
  tile.return
}

// -----

// expected-error @below {{argument 1 (y) has rank 2, its layout has 1 sizes and 1 strides}}
tile.kernel @wrong_rank(%x: !tile.array<f32, [s0]>, %y: !tile.array<f32, [s1, s2]> {tile.name = "y"}) {
  %zero = arith.constant 0 : index
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
  }
  tile.return
}

// -----

// expected-error @below {{is pinned to too many arrays: 2}}
tile.kernel @wrong_count(%x: !tile.array<f32, [s0]>) {
  %zero = arith.constant 0 : index
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
  }
  tile.return
}

// -----

// expected-error @below {{argument 0 was traced with a dimension of 1, its layout has 30}}
tile.kernel @not_one(%x: !tile.array<f32, [1]>, %y: !tile.array<f32, [s1]>) {
  %zero = arith.constant 0 : index
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
  }
  tile.return
}

// -----

tile.kernel @run_time_bound(%x: !tile.array<f32, [s0]>, %y: !tile.array<f32, [s1]>, %n: index) {
  %zero = arith.constant 0 : index
  // expected-error @below {{the bounds of an outermost loop depend on a run-time number or on the config}}
  tile.for (%t: b0) = (%zero) to (%n) parallel {
  }
  tile.return
}

// -----

tile.kernel @run_time_check(%x: !tile.array<f32, [s0]>, %y: !tile.array<f32, [s1]>, %n: index) {
  %zero = arith.constant 0 : index
  %positive = arith.cmpi sgt, %n, %zero : index
  // expected-error @below {{checks a run-time number, which is not supported yet}}
  tile.check %positive, "n is not positive"
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
  }
  tile.return
}

// -----

tile.kernel @block_sized(%x: !tile.array<f32, [s0]>, %y: !tile.array<f32, [s1]>) {
  %zero = arith.constant 0 : index
  // expected-error @below {{allocates a tensor whose size depends on the config (2 * b0), which is not supported yet}}
  %out = tile.empty : !tile.array<f32, [2 * b0]>
  tile.for (%t: b0) = (%zero) to (%zero) parallel {
  }
  tile.return
}
