// RUN: tilewright-opt %s -tile-map-programs="pid-type=persistent_blocked group=4" | FileCheck %s
// RUN: tilewright-opt %s -tile-map-programs="group=4" | FileCheck %s --check-prefix=FLAT

// CHECK-LABEL: tile.program @two
// CHECK-NOT: programs =
// FLAT-LABEL: tile.program @two
// FLAT-SAME: programs = 160 : i64
tile.program @two(%x: !tile.array<index, [160], strides [1]>) attributes {programs = 160 : i64} {
  // CHECK: %[[TILES:.*]] = arith.constant 160 : index
  // CHECK: %[[WORKERS:.*]] = tile.worker_count
  // CHECK: %[[WORKER:.*]] = tile.program_id
  // CHECK: %[[NEXT:.*]] = arith.addi %[[WORKER]], %{{.*}}
  // CHECK: %[[SCALED:.*]] = arith.muli %[[WORKER]], %[[TILES]]
  // CHECK: %[[BEGIN:.*]] = arith.divui %[[SCALED]], %[[WORKERS]]
  // CHECK: %[[SCALED2:.*]] = arith.muli %[[NEXT]], %[[TILES]]
  // CHECK: %[[END:.*]] = arith.divui %[[SCALED2]], %[[WORKERS]]
  // CHECK: scf.for %[[TILE:.*]] = %[[BEGIN]] to %[[END]] step
  // CHECK: %[[AT:.*]]:2 = tile.map_program %[[TILE]] into [16, 10] {group = 4 : i64}
  // CHECK: tile.store %[[TILE]], %{{.*}}[at %[[AT]]#1]
  // CHECK: }
  // CHECK-NEXT: tile.return
  // FLAT: %[[ID:.*]] = tile.program_id
  // FLAT: tile.map_program %[[ID]] into [16, 10] {group = 4 : i64}
  %id = tile.program_id
  %i, %j = tile.map_program %id into [16, 10] : index, index
  tile.store %id, %x[at %j] : index, !tile.array<index, [160], strides [1]>
  tile.return
}

// One dimension has nothing to group.
// CHECK-LABEL: tile.program @one
// FLAT-LABEL: tile.program @one
// FLAT-NOT: group
tile.program @one(%x: !tile.array<index, [160], strides [1]>) attributes {programs = 160 : i64} {
  // CHECK: scf.for %[[TILE:.*]] =
  // CHECK: tile.store %[[TILE]], %{{.*}}[at %[[TILE]]]
  %id = tile.program_id
  tile.store %id, %x[at %id] : index, !tile.array<index, [160], strides [1]>
  tile.return
}
