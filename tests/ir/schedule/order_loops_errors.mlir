// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tile-order-loops=orders=9:0

tile.kernel @k(%n: index) {
  // expected-error @below {{loop order is no permutation of 2 dimensions}}
  tile.for (%t: b0, %u: b1) = (%n, %n) to (%n, %n) parallel {
  }
  tile.return
}
