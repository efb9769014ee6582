// Every op of tile IR is read back as it is printed.
// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: %{{.*}}: !tile.array<f32, [s0, s1]> {tile.name = "x"}
tile.kernel @matmul(%x: !tile.array<f32, [s0, s1]> {tile.name = "x"},
                    %y: !tile.array<f32, [s2, s3]> {tile.name = "y"})
    -> !tile.array<f32, [s0, s3]> {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %k = tile.extent <s1>
  %k2 = tile.extent <s2>
  %n = tile.extent <s3>
  %same = arith.cmpi eq, %k, %k2 : index
  // CHECK: tile.check %{{.*}}, "inner sizes differ: {} and {}"(%{{.*}}, %{{.*}})
  tile.check %same, "inner sizes differ: {} and {}"(%k, %k2)
  // CHECK: tile.empty : !tile.array<f32, [s0, s3]>
  %out = tile.empty : !tile.array<f32, [s0, s3]>
  // CHECK: tile.for (%[[TM:.*]]: b0, %[[TN:.*]]: b1) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) parallel {
  tile.for (%tm: b0, %tn: b1) = (%zero, %zero) to (%m, %n) parallel {
    %f0 = arith.constant 0.0 : f32
    // CHECK: tile.full %{{.*}} tiles(%[[TM]], %[[TN]] : !tile.tile<b0>, !tile.tile<b1>) at [0, 1] : f32 ->
    %init = tile.full %f0 tiles(%tm, %tn : !tile.tile<b0>, !tile.tile<b1>) at [0, 1] : f32
        -> tensor<?x?xf32, #tile.dims<[b0, b1]>>
    // CHECK: tile.for (%[[TK:.*]]: b2) = (%{{.*}}) to (%{{.*}}) carry(%[[ACC:.*]] = %{{.*}}) : tensor<?x?xf32, #tile.dims<[b0, b1]>> {
    %sum = tile.for (%tk: b2) = (%zero) to (%k) carry(%acc = %init) : tensor<?x?xf32, #tile.dims<[b0, b1]>> {
      // CHECK: tile.load %{{.*}}[%[[TM]], %[[TK]]] : !tile.array<f32, [s0, s1]> -> tensor<?x?xf32, #tile.dims<[b0, b2]>> tiles(!tile.tile<b0>, !tile.tile<b2>)
      %a = tile.load %x[%tm, %tk] : !tile.array<f32, [s0, s1]> -> tensor<?x?xf32, #tile.dims<[b0, b2]>>
          tiles(!tile.tile<b0>, !tile.tile<b2>)
      %b = tile.load %y[%tk, %tn] : !tile.array<f32, [s2, s3]> -> tensor<?x?xf32, #tile.dims<[b2, b1]>>
          tiles(!tile.tile<b2>, !tile.tile<b1>)
      // CHECK: tile.dot
      %next = tile.dot %a, %b, %acc : tensor<?x?xf32, #tile.dims<[b0, b2]>>, tensor<?x?xf32, #tile.dims<[b2, b1]>>,
          tensor<?x?xf32, #tile.dims<[b0, b1]>>
      tile.yield %next : tensor<?x?xf32, #tile.dims<[b0, b1]>>
    }
    // CHECK: tile.store %{{.*}}, %{{.*}}[%[[TM]], %[[TN]]] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [s0, s3]> tiles(!tile.tile<b0>, !tile.tile<b1>)
    tile.store %sum, %out[%tm, %tn] : tensor<?x?xf32, #tile.dims<[b0, b1]>>, !tile.array<f32, [s0, s3]>
        tiles(!tile.tile<b0>, !tile.tile<b1>)
  }
  tile.return %out : !tile.array<f32, [s0, s3]>
}

// CHECK-LABEL: tile.kernel @softmax
// CHECK-SAME: attributes {whole = #tile.dims<[s1]>}
tile.kernel @softmax(%x: !tile.array<f32, [s0, s1]> {tile.name = "x"}, %scale: f32 {tile.name = "scale"})
    -> !tile.array<f32, [s0, s1]> attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %out = tile.empty : !tile.array<f32, [s0, s1]>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    // CHECK: tile.load %{{.*}}[%{{.*}}, :]
    %v = tile.load %x[%t, :] : !tile.array<f32, [s0, s1]> -> tensor<?x?xf32, #tile.dims<[b0, r0]>> tiles(!tile.tile<b0>)
    // CHECK: tile.splat %{{.*}} : f32 -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %s = tile.splat %scale : f32 -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %w = arith.mulf %v, %s : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    // CHECK: tile.reduce max %{{.*}} dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    %max = tile.reduce max %w dims [1] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?xf32, #tile.dims<[b0]>>
    // CHECK: tile.expand_dims %{{.*}} dim 1 :
    %max1 = tile.expand_dims %max dim 1 : tensor<?xf32, #tile.dims<[b0]>> -> tensor<?x1xf32, #tile.dims<[b0, 1]>>
    // CHECK: tile.broadcast
    %max2 = tile.broadcast %max1 : tensor<?x1xf32, #tile.dims<[b0, 1]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    %d = arith.subf %w, %max2 : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    // CHECK: tile.composite gelu_tanh
    %e = tile.composite gelu_tanh %d : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    // CHECK: tile.transpose %{{.*}} [1, 0]
    %tr = tile.transpose %e [1, 0] : tensor<?x?xf32, #tile.dims<[b0, r0]>> -> tensor<?x?xf32, #tile.dims<[r0, b0]>>
    %back = tile.transpose %tr [1, 0] : tensor<?x?xf32, #tile.dims<[r0, b0]>> -> tensor<?x?xf32, #tile.dims<[b0, r0]>>
    // CHECK: tile.lane_count %{{.*}} dims [0, 1]
    %count = tile.lane_count %back dims [0, 1] : tensor<?x?xf32, #tile.dims<[b0, r0]>>
    // CHECK: tile.begin %{{.*}} : !tile.tile<b0>
    %begin = tile.begin %t : !tile.tile<b0>
    %end = tile.end %t : !tile.tile<b0>
    %id = tile.id %t : !tile.tile<b0>
    %tiles = tile.count %t : !tile.tile<b0>
    %index = tile.index %t : !tile.tile<b0> -> tensor<?xi32, #tile.dims<[b0]>>
    // CHECK: tile.for (%{{.*}}: grid) =
    tile.for (%i: grid) = (%begin) to (%end) {
      // CHECK: tile.load %{{.*}}[at %{{.*}}, :]
      %row = tile.load %x[at %i, :] : !tile.array<f32, [s0, s1]> -> tensor<?xf32, #tile.dims<[r0]>>
      tile.store %row, %out[at %i, :] : tensor<?xf32, #tile.dims<[r0]>>, !tile.array<f32, [s0, s1]>
    }
    tile.store %back, %out[%t, :] : tensor<?x?xf32, #tile.dims<[b0, r0]>>, !tile.array<f32, [s0, s1]> tiles(!tile.tile<b0>)
  }
  tile.return %out : !tile.array<f32, [s0, s1]>
}

// Program IR of a matmul at 1000 x 1000, blocks of 64.
// CHECK-LABEL: tile.program @program
// CHECK-SAME: attributes {programs = 256 : i64}
tile.program @program(%x: !tile.array<f32, [1000, 1000], strides [1000, 1], align 16>,
                      %y: !tile.array<f32, [1000, 1000], strides [1000, 1], align 16>,
                      %out: !tile.array<f32, [1000, 1000], strides [1000, 1], align 16>) attributes {programs = 256 : i64} {
  %zero = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %size = arith.constant 1000 : index
  %block = arith.constant 64 : index
  %id = tile.program_id
  // CHECK: tile.map_program %{{.*}} into [16, 16] {group = 4 : i64} : index, index
  %i, %j = tile.map_program %id into [16, 16] {group = 4} : index, index
  %i0 = arith.muli %i, %block : index
  %j0 = arith.muli %j, %block : index
  %i_left = arith.subi %size, %i0 : index
  %j_left = arith.subi %size, %j0 : index
  %i_valid = arith.minsi %block, %i_left : index
  %j_valid = arith.minsi %block, %j_left : index
  %init = tile.splat %f0 : f32 -> tensor<64x64xf32>
  %sum = scf.for %k0 = %zero to %size step %block iter_args(%acc = %init) -> tensor<64x64xf32> {
    %k_left = arith.subi %size, %k0 : index
    %k_valid = arith.minsi %block, %k_left : index
    // CHECK: tile.load %{{.*}}[%{{.*}} : 64, %{{.*}} : 64] valid [%{{.*}}, %{{.*}}] : !tile.array<f32, [1000, 1000], strides [1000, 1], align 16> -> tensor<64x64xf32>
    %a = tile.load %x[%i0 : 64, %k0 : 64] valid [%i_valid, %k_valid]
        : !tile.array<f32, [1000, 1000], strides [1000, 1], align 16> -> tensor<64x64xf32>
    %b = tile.load %y[%k0 : 64, %j0 : 64] valid [%k_valid, %j_valid]
        : !tile.array<f32, [1000, 1000], strides [1000, 1], align 16> -> tensor<64x64xf32>
    // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} valid %{{.*}} :
    %next = tile.dot %a, %b, %acc valid %k_valid : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %iota = tile.iota %i0 : tensor<64xi32>
  // CHECK: tile.reduce add %{{.*}} dims [0] : tensor<64x64xf32> -> tensor<64xf32> valid [%{{.*}}, _]
  %column = tile.reduce add %sum dims [0] : tensor<64x64xf32> -> tensor<64xf32> valid [%i_valid, _]
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}} : 64, %{{.*}} : 64] valid [%{{.*}}, %{{.*}}] :
  tile.store %sum, %out[%i0 : 64, %j0 : 64] valid [%i_valid, %j_valid]
      : tensor<64x64xf32>, !tile.array<f32, [1000, 1000], strides [1000, 1], align 16>
  tile.return
}
