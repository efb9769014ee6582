// RUN: tilewright-opt %s -tile-unroll-loops="factors=4,2 static=1,0" | FileCheck %s

// The body stands there for each of three iterations, the last one at the rest of the range; the factor is of no
// interest then. The second loop is unrolled by its own.
// CHECK-LABEL: tile.program @sum
tile.program @sum(%x: !tile.array<index, [1], strides [1]>) attributes {programs = 1 : i64} {
  %zero = arith.constant 0 : index
  %end = arith.constant 40 : index
  %step = arith.constant 16 : index
  // CHECK: %[[A:.*]] = arith.constant 0 : index
  // CHECK: %[[S0:.*]] = arith.addi %{{.*}}, %{{.*}} : index
  // CHECK: arith.constant 16 : index
  // CHECK: %[[S1:.*]] = arith.addi %[[S0]], %{{.*}} : index
  // CHECK: arith.constant 32 : index
  // CHECK: %[[S2:.*]] = arith.addi %[[S1]], %{{.*}} : index
  %sum = scf.for %i = %zero to %end step %step iter_args(%acc = %zero) -> index {
    %next = arith.addi %acc, %i : index
    scf.yield %next : index
  } {tile.loop = 0 : i64}
  // CHECK: scf.for
  // CHECK: arith.muli
  // CHECK: arith.muli
  // CHECK: scf.yield
  %product = scf.for %i = %zero to %end step %step iter_args(%acc = %sum) -> index {
    %next = arith.muli %acc, %i : index
    scf.yield %next : index
  } {tile.loop = 1 : i64}
  tile.store %product, %x[at %zero] : index, !tile.array<index, [1], strides [1]>
  tile.return
}
