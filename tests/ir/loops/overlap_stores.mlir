// The streaming stores with which programs end move into an earlier loop of the next program (overlap_stores.h).
// RUN: tilewright-opt %s -split-input-file -overlap-stores | FileCheck %s

// A row of scratch is used by two loops; so there are two, far enough apart modulo a page.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<64x1024xf32>, %[[OUT:.*]]: memref<64x1024xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %{{.*}}: index)
// CHECK: %[[ROWS:.*]] = memref.alloca() {{.*}} : memref<2x1296xf32>
// CHECK: %[[LAST:.*]]:3 = scf.for %[[ID:.*]] = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PREVIOUS:.*]] = %[[BEGIN]], %[[CARRIED:.*]] = %{{.*}}) -> (index, index, f32) {
// CHECK: %[[OTHER:.*]] = arith.subi %{{.*}}, %[[SLOT]]
// CHECK: %[[THERE:.*]] = arith.cmpi ne, %[[ID]], %[[BEGIN]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: %[[VALUE:.*]] = arith.mulf
// CHECK: vector.store %[[VALUE]], %[[ROWS]][
// CHECK: scf.if %[[THERE]] {
// CHECK: %[[READ:.*]] = vector.load %[[ROWS]][%{{.*}}, %[[J]]]
// CHECK: %[[SCALE:.*]] = vector.broadcast %[[CARRIED]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[READ]], %[[SCALE]]
// CHECK: vector.store %[[SCALED]], %[[OUT]][%[[PREVIOUS]], %[[J]]] {nontemporal = true}
// CHECK: }
// CHECK: %[[SUM:.*]] = vector.reduction
// CHECK-NOT: vector.store
// CHECK: scf.yield %{{.*}}, %[[ID]], %[[SUM]]
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK: scf.if %[[ANY]] {
// CHECK: vector.broadcast %[[LAST]]#2
// CHECK: vector.store %{{.*}}, %[[OUT]][%[[LAST]]#1, %{{.*}}] {nontemporal = true}
func.func @rows(%x: memref<64x1024xf32>, %out: memref<64x1024xf32>, %begin: index, %end: index, %workers: index) {
  %row = memref.alloca() {alignment = 64 : i64} : memref<1x1024xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %id = %begin to %end step %c1 {
    %sums = scf.for %j = %c0 to %c1024 step %c16 iter_args(%sum = %zero) -> (vector<16xf32>) {
      %a = vector.load %x[%id, %j] : memref<64x1024xf32>, vector<16xf32>
      %b = arith.mulf %a, %a : vector<16xf32>
      vector.store %b, %row[%c0, %j] : memref<1x1024xf32>, vector<16xf32>
      %next = arith.addf %sum, %b : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    %total = vector.reduction <add>, %sums : vector<16xf32> into f32
    scf.for %j = %c0 to %c1024 step %c16 {
      %b = vector.load %row[%c0, %j] : memref<1x1024xf32>, vector<16xf32>
      %scale = vector.broadcast %total : f32 to vector<16xf32>
      %c = arith.mulf %b, %scale : vector<16xf32>
      vector.store %c, %out[%id, %j] {nontemporal = true} : memref<64x1024xf32>, vector<16xf32>
    }
  }
  return
}

// -----

// Nests merge level by level; what stands between the loops comes along, stores under a guard.
// CHECK-LABEL: func.func @nests(
// CHECK: scf.for %[[ID:.*]] = %{{.*}} iter_args(%[[SLOT:.*]] = %{{.*}}, %[[PREVIOUS:.*]] = %{{.*}}) -> (index, index) {
// CHECK: scf.for %[[I:.*]] =
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<32xf32>
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.if
// CHECK: vector.store %{{.*}} {nontemporal = true}
// CHECK: scf.if
// CHECK: vector.maskedstore
func.func @nests(%x: memref<64x40xf32>, %out: memref<64x40xf32>, %begin: index, %end: index, %workers: index) {
  %rows = memref.alloca() {alignment = 64 : i64} : memref<4x48xf32>
  %scales = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %mask = vector.create_mask %c8 : vector<16xi1>
  scf.for %id = %begin to %end step %c1 {
    %first = arith.muli %id, %c4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.addi %first, %i : index
      %scale = memref.load %x[%at, %c0] : memref<64x40xf32>
      memref.store %scale, %scales[%i] : memref<16xf32>
      scf.for %j = %c0 to %c32 step %c16 {
        %a = vector.load %x[%at, %j] : memref<64x40xf32>, vector<16xf32>
        vector.store %a, %rows[%i, %j] : memref<4x48xf32>, vector<16xf32>
      }
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.addi %first, %i : index
      %scale = memref.load %scales[%i] : memref<16xf32>
      %scales16 = vector.broadcast %scale : f32 to vector<16xf32>
      scf.for %j = %c0 to %c32 step %c16 {
        %a = vector.load %rows[%i, %j] : memref<4x48xf32>, vector<16xf32>
        %b = arith.mulf %a, %scales16 : vector<16xf32>
        vector.store %b, %out[%at, %j] {nontemporal = true} : memref<64x40xf32>, vector<16xf32>
      }
      %a = vector.load %rows[%i, %c32] : memref<4x48xf32>, vector<16xf32>
      vector.maskedstore %out[%at, %c32], %mask, %a : memref<64x40xf32>, vector<16xi1>, vector<16xf32>
    }
  }
  return
}

// -----

// The array that is stored to is read too, by the next program perhaps.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: iter_args
func.func @in_place(%x: memref<64x64xf32>, %begin: index, %end: index, %workers: index) {
  %row = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %id = %begin to %end step %c1 {
    scf.for %j = %c0 to %c64 step %c16 {
      %a = vector.load %x[%id, %j] : memref<64x64xf32>, vector<16xf32>
      vector.store %a, %row[%j] : memref<64xf32>, vector<16xf32>
    }
    scf.for %j = %c0 to %c64 step %c16 {
      %a = vector.load %row[%j] : memref<64xf32>, vector<16xf32>
      vector.store %a, %x[%id, %j] {nontemporal = true} : memref<64x64xf32>, vector<16xf32>
    }
  }
  return
}

// -----

// Programs of different lengths: the loops of two of them need not agree.
// CHECK-LABEL: func.func @ragged(
// CHECK-NOT: iter_args
func.func @ragged(%x: memref<64x64xf32>, %out: memref<64x64xf32>, %begin: index, %end: index, %workers: index) {
  %row = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %id = %begin to %end step %c1 {
    %length = arith.addi %id, %c1 : index
    scf.for %j = %c0 to %length step %c16 {
      %a = vector.load %x[%id, %j] : memref<64x64xf32>, vector<16xf32>
      vector.store %a, %row[%j] : memref<64xf32>, vector<16xf32>
    }
    scf.for %j = %c0 to %length step %c16 {
      %a = vector.load %row[%j] : memref<64xf32>, vector<16xf32>
      vector.store %a, %out[%id, %j] {nontemporal = true} : memref<64x64xf32>, vector<16xf32>
    }
  }
  return
}

// -----

// Two copies of the rows would not fit into half of the cache.
// CHECK-LABEL: func.func @large(
// CHECK-NOT: iter_args
func.func @large(%x: memref<64x131072xf32>, %out: memref<64x131072xf32>, %begin: index, %end: index, %workers: index) {
  %row = memref.alloca() {alignment = 64 : i64} : memref<131072xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 131072 : index
  scf.for %id = %begin to %end step %c1 {
    scf.for %j = %c0 to %n step %c16 {
      %a = vector.load %x[%id, %j] : memref<64x131072xf32>, vector<16xf32>
      vector.store %a, %row[%j] : memref<131072xf32>, vector<16xf32>
    }
    scf.for %j = %c0 to %n step %c16 {
      %a = vector.load %row[%j] : memref<131072xf32>, vector<16xf32>
      vector.store %a, %out[%id, %j] {nontemporal = true} : memref<64x131072xf32>, vector<16xf32>
    }
  }
  return
}
