// RUN: tilewright-opt %s -tile-map-programs="pid-type=persistent_interleaved group=4 programs-per-worker=2" | FileCheck %s

// Program p of w takes the tiles p, p + w, p + 2w, ...
// CHECK-LABEL: tile.program @two
// CHECK-SAME: tile.programs_per_worker = 2 : i64
// CHECK-NOT: programs =
tile.program @two(%x: !tile.array<index, [160], strides [1]>) attributes {programs = 160 : i64} {
  // CHECK: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: %[[TILES:.*]] = arith.constant 160 : index
  // CHECK: %[[W:.*]] = tile.worker_count
  // CHECK: %[[P:.*]] = tile.program_id
  // CHECK: %[[OTHERS:.*]] = arith.subi %[[W]], %[[ONE]]
  // CHECK: %[[PADDED:.*]] = arith.addi %[[TILES]], %[[OTHERS]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[PADDED]], %[[P]]
  // CHECK: %[[TURNS:.*]] = arith.divui %[[LEFT]], %[[W]]
  // CHECK: scf.for %[[TURN:.*]] = %{{.*}} to %[[TURNS]] step %[[ONE]] {
  // CHECK: %[[PAST:.*]] = arith.muli %[[TURN]], %[[W]]
  // CHECK: %[[TILE:.*]] = arith.addi %[[PAST]], %[[P]]
  // CHECK: tile.map_program %[[TILE]] into [16, 10] {group = 4 : i64}
  %id = tile.program_id
  %i, %j = tile.map_program %id into [16, 10] : index, index
  tile.store %id, %x[at %j] : index, !tile.array<index, [160], strides [1]>
  tile.return
}
