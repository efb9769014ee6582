// RUN: tilewright-opt %s -tile-map-programs="pid-type=xyz" | FileCheck %s
// RUN: tilewright-opt %s -tile-map-programs="pid-type=xyz" -tile-expand-program-ids -canonicalize | FileCheck %s --check-prefix=FLAT

// The last dimension is axis 0, and no number is divided.
// CHECK-LABEL: tile.program @two
// CHECK-SAME: grid = array<i64: 10, 16>
// CHECK-SAME: programs = 160 : i64
// FLAT-LABEL: tile.program @two
// FLAT-NOT: grid
tile.program @two(%x: !tile.array<index, [16, 10], strides [10, 1]>) attributes {programs = 160 : i64} {
  // CHECK-NOT: tile.map_program
  // CHECK-DAG: %[[ROW:.*]] = tile.program_id {axis = 1 : i64}
  // CHECK-DAG: %[[COLUMN:.*]] = tile.program_id{{$}}
  // CHECK: tile.store %[[ROW]], %{{.*}}[at %[[ROW]], at %[[COLUMN]]]
  // FLAT: %[[TEN:.*]] = arith.constant 10 : index
  // FLAT-DAG: %[[ID:.*]] = tile.program_id
  // FLAT-DAG: %[[ROW:.*]] = arith.divui %{{.*}}, %[[TEN]]
  // FLAT-DAG: %[[COLUMN:.*]] = arith.remui %{{.*}}, %[[TEN]]
  // FLAT: tile.store %[[ROW]], %{{.*}}[at %[[ROW]], at %[[COLUMN]]]
  %id = tile.program_id
  %i, %j = tile.map_program %id into [16, 10] : index, index
  tile.store %i, %x[at %i, at %j] : index, !tile.array<index, [16, 10], strides [10, 1]>
  tile.return
}

// Axis 2 has all dimensions but the last two.
// CHECK-LABEL: tile.program @four
// CHECK-SAME: grid = array<i64: 4, 3, 10>
tile.program @four(%x: !tile.array<index, [5, 2], strides [2, 1]>) attributes {programs = 120 : i64} {
  // CHECK: %[[Z:.*]] = tile.program_id {axis = 2 : i64}
  // CHECK: %[[AT:.*]]:2 = tile.map_program %[[Z]] into [5, 2]
  // CHECK: tile.store %{{.*}}, %{{.*}}[at %[[AT]]#0, at %[[AT]]#1]
  %id = tile.program_id
  %i, %j, %k, %l = tile.map_program %id into [5, 2, 3, 4] : index, index, index, index
  %s = arith.addi %k, %l : index
  tile.store %s, %x[at %i, at %j] : index, !tile.array<index, [5, 2], strides [2, 1]>
  tile.return
}

// One dimension needs no axes.
// CHECK-LABEL: tile.program @one
// CHECK-NOT: grid
tile.program @one(%x: !tile.array<index, [160], strides [1]>) attributes {programs = 160 : i64} {
  %id = tile.program_id
  tile.store %id, %x[at %id] : index, !tile.array<index, [160], strides [1]>
  tile.return
}
