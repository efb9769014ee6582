// RUN: tilewright-opt %s -tile-expand-program-ids | FileCheck %s

!out = !tile.array<index, [3], strides [1]>

// The last dimension runs fastest.
// CHECK-LABEL: tile.program @plain
tile.program @plain(%x: !out) attributes {programs = 30 : i64} {
  // CHECK: %[[ID:.*]] = tile.program_id
  // CHECK: %[[K:.*]] = arith.remui %[[ID]], %c5
  // CHECK: %[[LEFT:.*]] = arith.divui %[[ID]], %{{.*}}
  // CHECK: %[[J:.*]] = arith.remui %[[LEFT]], %{{.*}}
  // CHECK: %[[I:.*]] = arith.divui %[[LEFT]], %{{.*}}
  // CHECK: tile.store %[[I]], %{{.*}}[at %[[J]]]
  // CHECK: tile.store %[[K]]
  %id = tile.program_id
  %i, %j, %k = tile.map_program %id into [2, 3, 5] : index, index, index
  tile.store %i, %x[at %j] : index, !out
  tile.store %k, %x[at %j] : index, !out
  tile.return
}

// Groups of 3 rows over 7: the last one has a single row.
// CHECK-LABEL: tile.program @grouped
tile.program @grouped(%x: !out) attributes {programs = 35 : i64} {
  // CHECK: %[[GROUP:.*]] = arith.divui %[[ID:.*]], %{{.*}}
  // CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %{{.*}}
  // CHECK: %[[IN:.*]] = arith.remui %[[ID]]
  // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
  // CHECK: %[[ROWS:.*]] = arith.minui %[[LEFT]], %{{.*}}
  // CHECK: %[[ROW:.*]] = arith.remui %[[IN]], %[[ROWS]]
  // CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[ROW]]
  // CHECK: %[[J:.*]] = arith.divui %[[IN]], %[[ROWS]]
  // CHECK: tile.store %[[I]], %{{.*}}[at %[[J]]]
  %id = tile.program_id
  %i, %j = tile.map_program %id into [7, 5] {group = 3} : index, index
  tile.store %i, %x[at %j] : index, !out
  tile.return
}
