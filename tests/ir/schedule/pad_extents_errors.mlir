// RUN: not tilewright-opt %s -tile-pad-extents 2>&1 | FileCheck %s

!rows = !tile.array<f32, [4, 100], strides [100, 1]>

// CHECK: error: merges or splits a dimension of 100, which is no power of two
tile.program @merged(%x: !rows) attributes {programs = 1 : i64} {
  %v = tile.load %x[:, :] : !rows -> tensor<4x100xf32>
  %m = tile.reshape %v : tensor<4x100xf32> -> tensor<400xf32>
  %s = tile.reduce add %m dims [0] : tensor<400xf32> -> f32
  %b = tile.splat %s : f32 -> tensor<4x100xf32>
  tile.store %b, %x[:, :] : tensor<4x100xf32>, !rows
  tile.return
}
