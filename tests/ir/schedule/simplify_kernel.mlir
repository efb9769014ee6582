// RUN: tilewright-opt %s -tile-simplify-kernel | FileCheck %s

// Values that the trace recorded twice are one, what nothing uses is gone, and so is a carried value that never changes.
// CHECK-LABEL: tile.kernel @trace
tile.kernel @trace(%x: !tile.array<f32, [64], strides [1]>) {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[N:.*]] = arith.constant 64 : index
  // CHECK-NEXT: tile.for (%[[T:.*]]: b0) = (%[[ZERO]]) to (%[[N]]) parallel {
  // CHECK-NEXT: %[[BEGIN:.*]] = tile.begin %[[T]]
  // CHECK-NEXT: %[[V:.*]] = tile.load %{{.*}}[at %[[BEGIN]]]
  // CHECK-NEXT: tile.for (%{{.*}}: b1) = (%[[BEGIN]]) to (%[[N]]) carry(%[[SUM:.*]] = %[[V]]) : f32 {
  // CHECK-NEXT: arith.addf %[[SUM]], %[[V]]
  %n = tile.extent <64>
  %zero = arith.constant 0 : index
  %unused = arith.addi %n, %n : index
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %begin = tile.begin %t : !tile.tile<b0>
    %again = tile.begin %t : !tile.tile<b0>
    %v = tile.load %x[at %begin] : !tile.array<f32, [64], strides [1]> -> f32
    %w = tile.load %x[at %again] : !tile.array<f32, [64], strides [1]> -> f32
    %same, %sum = tile.for (%u: b1) = (%begin) to (%n) carry(%a = %v, %b = %w) : f32, f32 {
      %next = arith.addf %b, %a : f32
      tile.yield %a, %next : f32, f32
    }
    tile.store %sum, %x[at %begin] : f32, !tile.array<f32, [64], strides [1]>
  }
  tile.return
}
