// Tile IR to program IR.
// RUN: tilewright-opt %s -tile-number-loops -tile-lower=block-sizes=64,32,16 -split-input-file | FileCheck %s

// CHECK-LABEL: tile.program @matmul(
// CHECK-SAME: %[[X:.*]]: !tile.array<f32, [1000, 500], strides [500, 1], align 16> {tile.name = "x"}, %[[Y:.*]]: !tile.array<{{.*}}>, %[[OUT:.*]]: !tile.array<f32, [1000, 300], strides [300, 1], align 64>)
// CHECK-SAME: attributes {programs = 160 : i64}
tile.kernel @matmul(%x: !tile.array<f32, [1000, 500], strides [500, 1], align 16> {tile.name = "x"},
                    %y: !tile.array<f32, [500, 300], strides [300, 1], align 16>)
    -> !tile.array<f32, [1000, 300], strides [300, 1], align 64> {
  %zero = arith.constant 0 : index
  %m = arith.constant 1000 : index
  %k = arith.constant 500 : index
  %n = arith.constant 300 : index
  %out = tile.empty : !tile.array<f32, [1000, 300], strides [300, 1], align 64>
  // CHECK-DAG: %[[M:.*]] = arith.constant 1000 : index
  // CHECK-DAG: %[[N:.*]] = arith.constant 300 : index
  // CHECK-DAG: %[[K:.*]] = arith.constant 500 : index
  // CHECK: %[[ID:.*]] = tile.program_id
  // CHECK: %[[AT:.*]]:2 = tile.map_program %[[ID]] into [16, 10] : index, index
  // CHECK: %[[M0:.*]] = arith.muli %[[AT]]#0, %{{.*}} : index
  // CHECK: %[[M_LEFT:.*]] = arith.subi %[[M]], %[[M0]]
  // CHECK: %[[M_VALID:.*]] = arith.minsi %[[M_LEFT]], %{{.*}}
  // CHECK: %[[N0:.*]] = arith.muli %[[AT]]#1
  // CHECK: %[[N_LEFT:.*]] = arith.subi %[[N]], %[[N0]]
  // CHECK: %[[N_VALID:.*]] = arith.minsi %[[N_LEFT]], %{{.*}}
  tile.for (%tm: b0, %tn: b1) = (%zero, %zero) to (%m, %n) parallel {
    %f0 = arith.constant 0.0 : f32
    // CHECK: %[[INIT:.*]] = tile.splat %{{.*}} : f32 -> tensor<64x32xf32>
    %init = tile.full %f0 tiles(%tm, %tn : !tile.tile<b0>, !tile.tile<b1>) at [0, 1] : f32
        -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK: %[[SUM:.*]] = scf.for %[[K0:.*]] = %{{.*}} to %[[K]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[INIT]]) -> (tensor<64x32xf32>) {
    // CHECK: %[[K_LEFT:.*]] = arith.subi %[[K]], %[[K0]]
    // CHECK: %[[K_VALID:.*]] = arith.minsi %[[K_LEFT]], %{{.*}}
    %sum = tile.for (%tk: b2) = (%zero) to (%k) carry(%acc = %init) : tensor<?x?xf32, #tile.dims<[b0, b1]>> {
      // CHECK: %[[A:.*]] = tile.load %[[X]][%[[M0]] : 64, %[[K0]] : 16] valid [%[[M_VALID]], %[[K_VALID]]]
      %a = tile.load %x[%tm, %tk] : !tile.array<f32, [1000, 500], strides [500, 1], align 16>
          -> tensor<?x?xf32, #tile.dims<[b0, b2]>> tiles(!tile.tile<b0>, !tile.tile<b2>)
      // CHECK: %[[B:.*]] = tile.load %[[Y]][%[[K0]] : 16, %[[N0]] : 32] valid [%[[K_VALID]], %[[N_VALID]]]
      %b = tile.load %y[%tk, %tn] : !tile.array<f32, [500, 300], strides [300, 1], align 16>
          -> tensor<?x?xf32, #tile.dims<[b2, b1]>> tiles(!tile.tile<b2>, !tile.tile<b1>)
      // CHECK: tile.dot %[[A]], %[[B]], %[[ACC]] valid %[[K_VALID]] : tensor<64x16xf32>, tensor<16x32xf32>, tensor<64x32xf32>
      %next = tile.dot %a, %b, %acc : tensor<?x?xf32, #tile.dims<[b0, b2]>>, tensor<?x?xf32, #tile.dims<[b2, b1]>>,
          tensor<?x?xf32, #tile.dims<[b0, b1]>>
      tile.yield %next : tensor<?x?xf32, #tile.dims<[b0, b1]>>
    }
    // The number of the loop in the source stays with it.
    // CHECK: } {tile.loop = 0 : i64}
    // CHECK: tile.store %[[SUM]], %[[OUT]][%[[M0]] : 64, %[[N0]] : 32] valid [%[[M_VALID]], %[[N_VALID]]]
    tile.store %sum, %out[%tm, %tn] : tensor<?x?xf32, #tile.dims<[b0, b1]>>,
        !tile.array<f32, [1000, 300], strides [300, 1], align 64> tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return %out : !tile.array<f32, [1000, 300], strides [300, 1], align 64>
}

// -----

// A sequential loop over a tile and a grid: a nest. Reductions end where their operands end; what is the same in every
// lane ends where the tile ends that it was made for.
// CHECK-LABEL: tile.program @nest
tile.kernel @nest(%x: !tile.array<f32, [1000, 500, 7], strides [3500, 7, 1]>, %out: !tile.array<f32, [1000], strides [1]>) {
  %zero = arith.constant 0 : index
  %m = arith.constant 1000 : index
  %k = arith.constant 500 : index
  %n = arith.constant 7 : index
  %f0 = arith.constant 0.0 : f32
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %init = tile.full %f0 tiles(%t : !tile.tile<b0>) at [0] : f32 -> tensor<?xf32, #tile.dims<[b0]>>
    // CHECK: %[[T_VALID:.*]] = arith.minsi
    // CHECK: %[[OUTER:.*]] = scf.for %[[U0:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
    // CHECK: %[[U_VALID:.*]] = arith.minsi
    // CHECK: %[[INNER:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[ACC2:.*]] = %[[ACC]])
    %sum = tile.for (%u: b1, %i: grid) = (%zero, %zero) to (%k, %n) carry(%acc = %init) : tensor<?xf32, #tile.dims<[b0]>> {
      // CHECK: tile.load %{{.*}}[%{{.*}} : 64, %[[U0]] : 32, at %[[I]]] valid [%[[T_VALID]], %[[U_VALID]]]
      %v = tile.load %x[%t, %u, at %i] : !tile.array<f32, [1000, 500, 7], strides [3500, 7, 1]>
          -> tensor<?x?xf32, #tile.dims<[b0, b1]>> tiles(!tile.tile<b0>, !tile.tile<b1>)
      // CHECK: tile.reduce add %{{.*}} dims [1] : tensor<64x32xf32> -> tensor<64xf32> valid [_, %[[U_VALID]]]
      %part = tile.reduce add %v dims [1] : tensor<?x?xf32, #tile.dims<[b0, b1]>> -> tensor<?xf32, #tile.dims<[b0]>>
      %next = arith.addf %acc, %part : tensor<?xf32, #tile.dims<[b0]>>
      %same = tile.splat %f0 : f32 -> tensor<?xf32, #tile.dims<[b1]>>
      // CHECK: tile.reduce max %{{.*}} dims [0] : tensor<32xf32> -> f32 valid [%[[U_VALID]]]
      %most = tile.reduce max %same dims [0] : tensor<?xf32, #tile.dims<[b1]>> -> f32
      %all = tile.splat %most : f32 -> tensor<?xf32, #tile.dims<[b0]>>
      %sum = arith.addf %next, %all : tensor<?xf32, #tile.dims<[b0]>>
      tile.yield %sum : tensor<?xf32, #tile.dims<[b0]>>
    }
    // CHECK: } {tile.loop = 0 : i64}
    // CHECK: scf.yield %[[INNER]]
    tile.store %sum, %out[%t] : tensor<?xf32, #tile.dims<[b0]>>, !tile.array<f32, [1000], strides [1]> tiles(!tile.tile<b0>)
  }
  tile.return
}

// -----

// Numbers of tiles, of a range that does not begin at 0, and of one that is data.
// CHECK-LABEL: tile.program @numbers
// CHECK-SAME: programs = 4 : i64
tile.kernel @numbers(%x: !tile.array<index, [8], strides [1]>) {
  %zero = arith.constant 0 : index
  %begin = arith.constant 128 : index
  %end = arith.constant 330 : index
  // CHECK: %[[ID:.*]] = tile.program_id
  // CHECK: %[[STEPS:.*]] = arith.muli %[[ID]], %{{.*}}
  // CHECK: %[[BEGIN:.*]] = arith.addi %[[STEPS]], %{{.*}}
  // CHECK: %[[VALID:.*]] = arith.minsi
  tile.for (%t: b0) = (%begin) to (%end) parallel {
    %t_begin = tile.begin %t : !tile.tile<b0>
    // CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %[[VALID]]
    %t_end = tile.end %t : !tile.tile<b0>
    // CHECK: %[[NUMBER:.*]] = arith.addi %[[ID]], %c2
    %t_id = tile.id %t : !tile.tile<b0>
    %t_count = tile.count %t : !tile.tile<b0>
    tile.store %t_begin, %x[at %zero] : index, !tile.array<index, [8], strides [1]>
    // CHECK: tile.store %[[BEGIN]]
    // CHECK: tile.store %[[END]]
    // CHECK: tile.store %[[NUMBER]]
    // CHECK: tile.store %c4
    tile.store %t_end, %x[at %zero] : index, !tile.array<index, [8], strides [1]>
    tile.store %t_id, %x[at %zero] : index, !tile.array<index, [8], strides [1]>
    tile.store %t_count, %x[at %zero] : index, !tile.array<index, [8], strides [1]>
    // CHECK: %[[FROM:.*]] = tile.load
    %from = tile.load %x[at %zero] : !tile.array<index, [8], strides [1]> -> index
    // CHECK: scf.for %[[U:.*]] = %[[FROM]] to %[[END]]
    tile.for (%u: b1) = (%from) to (%t_end) {
      // CHECK: arith.floordivsi %[[U]]
      %u_id = tile.id %u : !tile.tile<b1>
      // CHECK: %[[LENGTH:.*]] = arith.subi %[[END]], %[[FROM]]
      // CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[LENGTH]]
      // CHECK: arith.maxsi %[[COUNT]]
      %u_count = tile.count %u : !tile.tile<b1>
      // CHECK: tile.iota %[[U]] : tensor<32xi32>
      %index = tile.index %u : !tile.tile<b1> -> tensor<?xi32, #tile.dims<[b1]>>
      tile.store %u_id, %x[at %zero] : index, !tile.array<index, [8], strides [1]>
      tile.store %u_count, %x[at %zero] : index, !tile.array<index, [8], strides [1]>
    }
  }
  tile.return
}
