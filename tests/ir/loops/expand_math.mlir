// RUN: tilewright-opt %s -expand-math | FileCheck %s
// RUN: tilewright-opt %s -expand-math=scaling | FileCheck %s --check-prefix=SCALING

// exp: clamped, reduced by a multiple of ln 2, a polynomial, and two powers of two.
// CHECK-LABEL: func.func @exp_of_a_vector
// CHECK-NOT: math.exp
// CHECK: arith.cmpf ogt, %arg0
// CHECK: %[[SHIFTED:.*]] = math.fma
// CHECK: %[[N:.*]] = arith.subf %[[SHIFTED]]
// CHECK-COUNT-2: math.fma %[[N]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SHIFTED]] : vector<16xf32> to vector<16xi32>
// CHECK-COUNT-6: math.fma
// CHECK: arith.shrui %[[BITS]]
// CHECK-COUNT-2: arith.shli
// CHECK: arith.mulf
// CHECK: %[[RESULT:.*]] = arith.mulf
// CHECK: return %[[RESULT]] : vector<16xf32>
//
// Where the CPU can scale, one product with a power of two instead.
// SCALING-LABEL: func.func @exp_of_a_vector
// SCALING: %[[N:.*]] = arith.subf
// SCALING-NOT: arith.shli
// SCALING: %[[POWER:.*]] = math.exp2 %[[N]] {tile.integral}
// SCALING: arith.mulf %{{.*}}, %[[POWER]]
func.func @exp_of_a_vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// Scalars of float64 take the same way in their own precision.
// CHECK-LABEL: func.func @log_of_a_scalar
// CHECK-NOT: math.log
// CHECK: arith.bitcast %{{.*}} : f64 to i64
// CHECK: arith.divf %{{.*}} : f64
func.func @log_of_a_scalar(%x: f64) -> f64 {
  %y = math.log %x : f64
  return %y : f64
}

// Lanes too large for the reduction of sin go through the runtime, if there are any.
// CHECK-LABEL: func.func @sin_branches_for_large_lanes
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[LARGE]] : vector<8xi1> into i1
// CHECK: scf.if %[[ANY]]
// CHECK-NEXT: math.sin %arg0 {tile.runtime} : vector<8xf32>
// CHECK-NEXT: arith.select %[[LARGE]]
// CHECK: } else {
func.func @sin_branches_for_large_lanes(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sin %x : vector<8xf32>
  return %y : vector<8xf32>
}

// Below zero a sigmoid is e^x over 1 + e^x. Composites that the runtime table has stay.
// CHECK-LABEL: func.func @composites
// CHECK-NOT: tile.composite sigmoid
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %arg0
// CHECK: %[[NUMERATOR:.*]] = arith.select %[[BELOW]]
// CHECK: %[[SIGMOID:.*]] = arith.divf %[[NUMERATOR]]
// CHECK: tile.composite erfc %[[SIGMOID]] : vector<8xf32>
func.func @composites(%x: vector<8xf32>) -> vector<8xf32> {
  %y = tile.composite sigmoid %x : vector<8xf32>
  %z = tile.composite erfc %y : vector<8xf32>
  return %z : vector<8xf32>
}

// What has instructions, or no expansion, stays.
// CHECK-LABEL: func.func @others_stay
// CHECK: math.sqrt
// CHECK: math.sinh
// CHECK: math.exp %{{.*}} : f16
// CHECK: math.exp %{{.*}} : vector<2x4xf32>
func.func @others_stay(%x: f32, %h: f16, %v: vector<2x4xf32>) -> (f32, f16, vector<2x4xf32>) {
  %a = math.sqrt %x : f32
  %b = math.sinh %a : f32
  %c = math.exp %h : f16
  %d = math.exp %v : vector<2x4xf32>
  return %b, %c, %d : f32, f16, vector<2x4xf32>
}
