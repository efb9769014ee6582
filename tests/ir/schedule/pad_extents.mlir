// RUN: tilewright-opt %s -tile-pad-extents | FileCheck %s

!rows = !tile.array<f32, [64, 100], strides [100, 1]>
!line = !tile.array<f32, [64], strides [1]>

// Whole dimensions become blocks with a bound; so do what is computed from them.
// CHECK-LABEL: tile.program @whole
tile.program @whole(%x: !rows, %y: !rows) attributes {programs = 64 : i64} {
  %id = tile.program_id
  // CHECK: %[[LOADED:.+]] = tile.load %{{.+}}[%{{.+}} : 1, %{{.+}} : 128] valid [_, %[[LANES:.+]]] {{.*}} -> tensor<1x128xf32>
  %v = tile.load %x[%id : 1, :] : !rows -> tensor<1x100xf32>
  // CHECK: tile.reduce max %[[LOADED]] dims [1] : tensor<1x128xf32> -> tensor<1xf32> valid [_, %{{.+}}]
  %m = tile.reduce max %v dims [1] : tensor<1x100xf32> -> tensor<1xf32>
  %e = tile.expand_dims %m dim 1 : tensor<1xf32> -> tensor<1x1xf32>
  // CHECK: tile.broadcast {{.*}} -> tensor<1x128xf32>
  %b = tile.broadcast %e : tensor<1x1xf32> -> tensor<1x100xf32>
  %d = arith.subf %v, %b : tensor<1x100xf32>
  // CHECK: tile.store {{.*}} : 128] valid [_, %{{.+}}] : tensor<1x128xf32>
  tile.store %d, %y[%id : 1, :] : tensor<1x100xf32>, !rows
  tile.return
}

// A bound that is there limits no less; dimensions that are not reduced need none.
// CHECK-LABEL: tile.program @bounded
tile.program @bounded(%x: !rows, %y: !line) attributes {programs = 4 : i64} {
  %zero = arith.constant 0 : index
  %lanes = arith.constant 10 : index
  // CHECK: tile.load {{.*}}[%{{.+}} : 16, %{{.+}} : 128] valid [%[[TEN:.+]], %{{.+}}] {{.*}} -> tensor<16x128xf32>
  %v = tile.load %x[%zero : 12, :] valid [%lanes, _] : !rows -> tensor<12x100xf32>
  // CHECK: tile.reduce add %{{.+}} dims [1] : tensor<16x128xf32> -> tensor<16xf32> valid [_, %{{.+}}]
  %s = tile.reduce add %v dims [1] : tensor<12x100xf32> -> tensor<12xf32>
  // CHECK: tile.store {{.*}} : 16] valid [%{{.+}}] : tensor<16xf32>
  tile.store %s, %y[%zero : 12] : tensor<12xf32>, !line
  tile.return
}

// Powers of two stay as they are.
// CHECK-LABEL: tile.program @powers
tile.program @powers(%x: !line) attributes {programs = 1 : i64} {
  // CHECK: tile.load %{{.+}}[:] : {{.*}} -> tensor<64xf32>
  %v = tile.load %x[:] : !line -> tensor<64xf32>
  // CHECK: tile.store %{{.+}}, %{{.+}}[:] : tensor<64xf32>
  tile.store %v, %x[:] : tensor<64xf32>, !line
  tile.return
}
