#include "schedule/kernels.h"

#include <algorithm>
#include <regex>
#include <stdexcept>

namespace {

const char* const kAdd = R"(
tile.kernel @kernel(%x: A<s0> {tile.name = "x"}, %y: A<s1> {tile.name = "y"}) -> A<s0> {
  %zero = arith.constant 0 : index
  %n = tile.extent <s0>
  %out = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %a = tile.load %x[%t] : A<s0> -> T<b0> tiles(t<b0>)
    %b = tile.load %y[%t] : A<s1> -> T<b0> tiles(t<b0>)
    %c = arith.addf %a, %b : T<b0>
    tile.store %c, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %out : A<s0>
})";

const char* const kMatmul = R"(
tile.kernel @kernel(%x: A<s0 s1> {tile.name = "x"}, %y: A<s2 s3> {tile.name = "y"}) -> A<s0 s3> {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %k = tile.extent <s1>
  %k2 = tile.extent <s2>
  %n = tile.extent <s3>
  %same = arith.cmpi eq, %k, %k2 : index
  tile.check %same, "inner sizes differ: {} and {}"(%k, %k2)
  %out = tile.empty : A<s0 s3>
  tile.for (%tm: b0, %tn: b1) = (%zero, %zero) to (%m, %n) parallel {
    %f0 = arith.constant 0.0 : f32
    %init = tile.full %f0 tiles(%tm, %tn : t<b0>, t<b1>) at [0, 1] : f32 -> T<b0 b1>
    %sum = tile.for (%tk: b2) = (%zero) to (%k) carry(%acc = %init) : T<b0 b1> {
      %a = tile.load %x[%tm, %tk] : A<s0 s1> -> T<b0 b2> tiles(t<b0>, t<b2>)
      %b = tile.load %y[%tk, %tn] : A<s2 s3> -> T<b2 b1> tiles(t<b2>, t<b1>)
      %next = tile.dot %a, %b, %acc : T<b0 b2>, T<b2 b1>, T<b0 b1>
      tile.yield %next : T<b0 b1>
    }
    tile.store %sum, %out[%tm, %tn] : T<b0 b1>, A<s0 s3> tiles(t<b0>, t<b1>)
  }
  tile.return %out : A<s0 s3>
})";

const char* const kSoftmax = R"(
tile.kernel @kernel(%x: A<s0 s1> {tile.name = "x"}) -> A<s0 s1> attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %out = tile.empty : A<s0 s1>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t, :] : A<s0 s1> -> T<b0 r0> tiles(t<b0>)
    %max = tile.reduce max %v dims [1] : T<b0 r0> -> T<b0>
    %max1 = tile.expand_dims %max dim 1 : T<b0> -> T<b0 1>
    %max2 = tile.broadcast %max1 : T<b0 1> -> T<b0 r0>
    %d = arith.subf %v, %max2 : T<b0 r0>
    %e = math.exp %d : T<b0 r0>
    %sum = tile.reduce add %e dims [1] : T<b0 r0> -> T<b0>
    %sum1 = tile.expand_dims %sum dim 1 : T<b0> -> T<b0 1>
    %sum2 = tile.broadcast %sum1 : T<b0 1> -> T<b0 r0>
    %q = arith.divf %e, %sum2 : T<b0 r0>
    tile.store %q, %out[%t, :] : T<b0 r0>, A<s0 s1> tiles(t<b0>)
  }
  tile.return %out : A<s0 s1>
})";

// Subtracts the mean, divides by the largest square, scales by a number.
const char* const kNormalize = R"(
tile.kernel @kernel(%x: A<s0 s1>, %scale: f32) -> (A<s0 s1>, A<s0>) attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %out = tile.empty : A<s0 s1>
  %means = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t, :] : A<s0 s1> -> T<b0 r0> tiles(t<b0>)
    %sum = tile.reduce add %v dims [1] : T<b0 r0> -> T<b0>
    %lanes = tile.lane_count %v dims [1] : T<b0 r0>
    %lanes32 = arith.index_cast %lanes : index to i32
    %lanesf = arith.sitofp %lanes32 : i32 to f32
    %count = tile.splat %lanesf : f32 -> T<b0>
    %mean = arith.divf %sum, %count : T<b0>
    tile.store %mean, %means[%t] : T<b0>, A<s0> tiles(t<b0>)
    %square = arith.mulf %v, %v : T<b0 r0>
    %most = tile.reduce max %square dims [1] : T<b0 r0> -> T<b0>
    %least = tile.reduce min %v dims [1] : T<b0 r0> -> T<b0>
    %shift = arith.subf %most, %least : T<b0>
    %shift1 = tile.expand_dims %shift dim 1 : T<b0> -> T<b0 1>
    %shift2 = tile.broadcast %shift1 : T<b0 1> -> T<b0 r0>
    %moved = arith.subf %v, %shift2 : T<b0 r0>
    %factor = tile.splat %scale : f32 -> T<b0 r0>
    %r = arith.mulf %moved, %factor : T<b0 r0>
    tile.store %r, %out[%t, :] : T<b0 r0>, A<s0 s1> tiles(t<b0>)
  }
  tile.return %out, %means : A<s0 s1>, A<s0>
})";

// Stores to the array that it loads from.
const char* const kInPlace = R"(
tile.kernel @kernel(%x: A<s0 s1>) -> A<s0 s1> attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t, :] : A<s0 s1> -> T<b0 r0> tiles(t<b0>)
    %max = tile.reduce max %v dims [1] : T<b0 r0> -> T<b0>
    %max1 = tile.expand_dims %max dim 1 : T<b0> -> T<b0 1>
    %max2 = tile.broadcast %max1 : T<b0 1> -> T<b0 r0>
    %d = arith.subf %v, %max2 : T<b0 r0>
    tile.store %d, %x[%t, :] : T<b0 r0>, A<s0 s1> tiles(t<b0>)
    %again = tile.load %x[%t, :] : A<s0 s1> -> T<b0 r0> tiles(t<b0>)
    %sum = tile.reduce add %again dims [1] : T<b0 r0> -> T<b0>
    %sum1 = tile.expand_dims %sum dim 1 : T<b0> -> T<b0 1>
    %sum2 = tile.broadcast %sum1 : T<b0 1> -> T<b0 r0>
    %r = arith.addf %again, %sum2 : T<b0 r0>
    tile.store %r, %x[%t, :] : T<b0 r0>, A<s0 s1> tiles(t<b0>)
  }
  tile.return %x : A<s0 s1>
})";

// Two whole dimensions, of which one is reduced over the other's result.
const char* const kTwoWholes = R"(
tile.kernel @kernel(%x: A<s0 s1 s2>, %bias: A<s3>) -> (A<s0>, A<s0 s1 s2>) attributes {whole = #tile.dims<[s1, s2]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %out = tile.empty : A<s0>
  %rest = tile.empty : A<s0 s1 s2>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t, :, :] : A<s0 s1 s2> -> T<b0 r0 r1> tiles(t<b0>)
    %w = tile.load %bias[:] : A<s3> -> T<r1>
    %w1 = tile.expand_dims %w dim 0 : T<r1> -> T<1 r1>
    %w2 = tile.expand_dims %w1 dim 0 : T<1 r1> -> T<1 1 r1>
    %w3 = tile.broadcast %w2 : T<1 1 r1> -> T<b0 r0 r1>
    %s = arith.addf %v, %w3 : T<b0 r0 r1>
    %rows = tile.reduce add %s dims [2] : T<b0 r0 r1> -> T<b0 r0>
    %most = tile.reduce max %rows dims [1] : T<b0 r0> -> T<b0>
    tile.store %most, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
    %rows1 = tile.expand_dims %rows dim 2 : T<b0 r0> -> T<b0 r0 1>
    %rows2 = tile.broadcast %rows1 : T<b0 r0 1> -> T<b0 r0 r1>
    %d = arith.subf %s, %rows2 : T<b0 r0 r1>
    tile.store %d, %rest[%t, :, :] : T<b0 r0 r1>, A<s0 s1 s2> tiles(t<b0>)
  }
  tile.return %out, %rest : A<s0>, A<s0 s1 s2>
})";

// Sums over everything at once, of transposed values; a scalar result.
const char* const kTransposed = R"(
tile.kernel @kernel(%x: A<s0 s1>) -> (A<s1>, A<s1>) attributes {whole = #tile.dims<[s0]>} {
  %zero = arith.constant 0 : index
  %n = tile.extent <s1>
  %out = tile.empty : A<s1>
  %total = tile.empty : A<s1>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %v = tile.load %x[:, %t] : A<s0 s1> -> T<r0 b0> tiles(t<b0>)
    %tr = tile.transpose %v [1, 0] : T<r0 b0> -> T<b0 r0>
    %sum = tile.reduce add %tr dims [1] : T<b0 r0> -> T<b0>
    tile.store %sum, %out[%t] : T<b0>, A<s1> tiles(t<b0>)
    %first = tile.begin %t : t<b0>
    %column = tile.load %x[:, at %first] : A<s0 s1> -> T<r0>
    %all = tile.reduce add %column dims [0] : T<r0> -> f32
    %ones = tile.splat %all : f32 -> T<b0>
    %zeros = arith.subf %sum, %sum : T<b0>
    %r = arith.addf %zeros, %ones : T<b0>
    tile.store %r, %total[%t] : T<b0>, A<s1> tiles(t<b0>)
  }
  tile.return %out, %total : A<s1>, A<s1>
})";

// Each row up to its own number: an inner loop that ends where the outer tile ends.
const char* const kCausal = R"(
tile.kernel @kernel(%x: A<s0 s1>) -> A<s0> {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %out = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
    %init = tile.full %f0 tiles(%t : t<b0>) at [0] : f32 -> T<b0>
    %end = tile.end %t : t<b0>
    %rows = tile.index %t : t<b0> -> I<b0>
    %rows1 = tile.expand_dims %rows dim 1 : I<b0> -> I<b0 1>
    %rows2 = tile.broadcast %rows1 : I<b0 1> -> I<b0 b1>
    %sum = tile.for (%u: b1) = (%zero) to (%end) carry(%acc = %init) : T<b0> {
      %columns = tile.index %u : t<b1> -> I<b1>
      %columns1 = tile.expand_dims %columns dim 0 : I<b1> -> I<1 b1>
      %columns2 = tile.broadcast %columns1 : I<1 b1> -> I<b0 b1>
      %before = arith.cmpi sle, %columns2, %rows2 : I<b0 b1>
      %v = tile.load %x[%t, %u] : A<s0 s1> -> T<b0 b1> tiles(t<b0>, t<b1>)
      %nothing = tile.splat %f0 : f32 -> T<b0 b1>
      %kept = arith.select %before, %v, %nothing : B<b0 b1>, T<b0 b1>
      %part = tile.reduce add %kept dims [1] : T<b0 b1> -> T<b0>
      %next = arith.addf %acc, %part : T<b0>
      tile.yield %next : T<b0>
    }
    tile.store %sum, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %out : A<s0>
})";

// A tile that walks in another one, carrying scalars; numbers of tiles; a range that does not begin at 0.
const char* const kNested = R"(
tile.kernel @kernel(%x: A<s0>, %y: A<s1>) -> A<s0> {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %n = tile.extent <s0>
  %out = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%n) parallel {
    %f0 = arith.constant 0.0 : f32
    %begin = tile.begin %t : t<b0>
    %end = tile.end %t : t<b0>
    %total, %most = tile.for (%u: b1) = (%begin) to (%end) carry(%sum = %f0, %max = %f0) : f32, f32 {
      %v = tile.load %x[%u] : A<s0> -> T<b1> tiles(t<b1>)
      %s = tile.reduce add %v dims [0] : T<b1> -> f32
      %m = tile.reduce max %v dims [0] : T<b1> -> f32
      %sum2 = arith.addf %sum, %s : f32
      %max2 = arith.maximumf %max, %m : f32
      tile.yield %sum2, %max2 : f32, f32
    }
    %m = tile.extent <s1>
    %other = tile.for (%w: b2) = (%three) to (%m) carry(%sum = %total) : f32 {
      %v = tile.load %y[%w] : A<s1> -> T<b2> tiles(t<b2>)
      %s = tile.reduce add %v dims [0] : T<b2> -> f32
      %sum2 = arith.addf %sum, %s : f32
      tile.yield %sum2 : f32
    }
    %both = arith.addf %other, %most : f32
    %id = tile.id %t : t<b0>
    %count = tile.count %t : t<b0>
    %number = arith.addi %id, %count : index
    %number32 = arith.index_cast %number : index to i32
    %numberf = arith.sitofp %number32 : i32 to f32
    %sum3 = arith.addf %both, %numberf : f32
    %all = tile.splat %sum3 : f32 -> T<b0>
    tile.store %all, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %out : A<s0>
})";

// Grids, whose variables are numbers, around and inside.
const char* const kGrid = R"(
tile.kernel @kernel(%x: A<s0 s1 s2>) -> A<s0 s1> attributes {whole = #tile.dims<[s2]>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %out = tile.empty : A<s0 s1>
  tile.for (%i: grid, %t: b0) = (%zero, %zero) to (%m, %n) parallel {
    %begin = tile.begin %t : t<b0>
    %end = tile.end %t : t<b0>
    tile.for (%j: grid) = (%begin) to (%end) {
      %v = tile.load %x[at %i, at %j, :] : A<s0 s1 s2> -> T<r0>
      %s = tile.reduce add %v dims [0] : T<r0> -> f32
      tile.store %s, %out[at %i, at %j] : f32, A<s0 s1>
    }
  }
  tile.return %out : A<s0 s1>
})";

// A sequential loop of two dimensions, once with a sum and once with stores; then one that never runs.
const char* const kPlanes = R"(
tile.kernel @kernel(%x: A<s0 s1 s2>) -> (A<s0>, A<s0 s1 s2>) {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %k = tile.extent <s2>
  %out = tile.empty : A<s0>
  %twice = tile.empty : A<s0 s1 s2>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
    %init = tile.full %f0 tiles(%t : t<b0>) at [0] : f32 -> T<b0>
    %sum = tile.for (%u: b1, %w: b2) = (%zero, %zero) to (%n, %k) carry(%acc = %init) : T<b0> {
      %v = tile.load %x[%t, %u, %w] : A<s0 s1 s2> -> T<b0 b1 b2> tiles(t<b0>, t<b1>, t<b2>)
      %part = tile.reduce add %v dims [1, 2] : T<b0 b1 b2> -> T<b0>
      %next = arith.addf %acc, %part : T<b0>
      tile.yield %next : T<b0>
    }
    tile.for (%u: b3, %w: b4) = (%zero, %zero) to (%n, %k) {
      %v = tile.load %x[%t, %u, %w] : A<s0 s1 s2> -> T<b0 b3 b4> tiles(t<b0>, t<b3>, t<b4>)
      %d = arith.addf %v, %v : T<b0 b3 b4>
      tile.store %d, %twice[%t, %u, %w] : T<b0 b3 b4>, A<s0 s1 s2> tiles(t<b0>, t<b3>, t<b4>)
    }
    %same = tile.for (%u: b5) = (%n) to (%n) carry(%acc = %sum) : T<b0> {
      %v = tile.load %x[%t, %u, at %zero] : A<s0 s1 s2> -> T<b0 b5> tiles(t<b0>, t<b5>)
      %part = tile.reduce add %v dims [1] : T<b0 b5> -> T<b0>
      tile.yield %part : T<b0>
    }
    tile.store %same, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %out, %twice : A<s0>, A<s0 s1 s2>
})";

// A reduction over a whole dimension in each iteration of an inner loop, with a wide value from outside of it, one that
// is made by full and one that is a mere repetition.
const char* const kWholeInLoop = R"(
tile.kernel @kernel(%x: A<s0 s1 s2>, %bias: A<s3>) -> A<s0> attributes {whole = #tile.dims<[s2]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %out = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
    %f1 = arith.constant 1.0 : f32
    %init = tile.full %f0 tiles(%t : t<b0>) at [0] : f32 -> T<b0>
    %w = tile.load %bias[:] : A<s3> -> T<r0>
    %ones = tile.full %f1 at [] : f32 -> T<r0>
    %w0 = arith.addf %w, %ones : T<r0>
    %w1 = tile.expand_dims %w0 dim 0 : T<r0> -> T<1 r0>
    %w2 = tile.expand_dims %w1 dim 0 : T<1 r0> -> T<1 1 r0>
    %sum = tile.for (%u: b1) = (%zero) to (%n) carry(%acc = %init) : T<b0> {
      %v = tile.load %x[%t, %u, :] : A<s0 s1 s2> -> T<b0 b1 r0> tiles(t<b0>, t<b1>)
      %w3 = tile.broadcast %w2 : T<1 1 r0> -> T<b0 b1 r0>
      %s = arith.addf %v, %w3 : T<b0 b1 r0>
      %most = tile.reduce max %s dims [2] : T<b0 b1 r0> -> T<b0 b1>
      %same = tile.splat %f1 : f32 -> T<b0 b1 r0>
      %lanes = tile.reduce add %same dims [2] : T<b0 b1 r0> -> T<b0 b1>
      %both = arith.addf %most, %lanes : T<b0 b1>
      %part = tile.reduce add %both dims [1] : T<b0 b1> -> T<b0>
      %next = arith.addf %acc, %part : T<b0>
      tile.yield %next : T<b0>
    }
    tile.store %sum, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %out : A<s0>
})";

// Rows against all keys, tile by tile, with a running maximum; a dot whose operand is transposed.
const char* const kAttention = R"(
tile.kernel @kernel(%q: A<s0 s1 s2>, %k: A<s3 s4 s5>, %v: A<s6 s7 s8>) -> A<s0 s1 s2>
    attributes {whole = #tile.dims<[s2]>} {
  %zero = arith.constant 0 : index
  %heads = tile.extent <s0>
  %m = tile.extent <s1>
  %n = tile.extent <s4>
  %out = tile.empty : A<s0 s1 s2>
  tile.for (%h: grid, %t: b0) = (%zero, %zero) to (%heads, %m) parallel {
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant -1000.0 : f32
    %a = tile.load %q[at %h, %t, :] : A<s0 s1 s2> -> T<b0 r0> tiles(t<b0>)
    %acc0 = tile.full %f0 tiles(%t : t<b0>) at [0] : f32 -> T<b0 r0>
    %max0 = tile.full %low tiles(%t : t<b0>) at [0] : f32 -> T<b0>
    %two = arith.constant 2.0 : f32
    %max, %acc = tile.for (%u: b1) = (%zero) to (%n) carry(%m0 = %max0, %o0 = %acc0) : T<b0>, T<b0 r0> {
      %twos = tile.splat %two : f32 -> T<b0 r0>
      %scaled = arith.mulf %a, %twos : T<b0 r0>
      %b = tile.load %k[at %h, %u, :] : A<s3 s4 s5> -> T<b1 r0> tiles(t<b1>)
      %bt = tile.transpose %b [1, 0] : T<b1 r0> -> T<r0 b1>
      %none = tile.full %f0 tiles(%t, %u : t<b0>, t<b1>) at [0, 1] : f32 -> T<b0 b1>
      %s = tile.dot %scaled, %bt, %none : T<b0 r0>, T<r0 b1>, T<b0 b1>
      %most = tile.reduce max %s dims [1] : T<b0 b1> -> T<b0>
      %m1 = arith.maximumf %m0, %most : T<b0>
      %c = tile.load %v[at %h, %u, :] : A<s6 s7 s8> -> T<b1 r0> tiles(t<b1>)
      %o1 = tile.dot %s, %c, %o0 : T<b0 b1>, T<b1 r0>, T<b0 r0>
      tile.yield %m1, %o1 : T<b0>, T<b0 r0>
    }
    %max1 = tile.expand_dims %max dim 1 : T<b0> -> T<b0 1>
    %max2 = tile.broadcast %max1 : T<b0 1> -> T<b0 r0>
    %r = arith.subf %acc, %max2 : T<b0 r0>
    tile.store %r, %out[at %h, %t, :] : T<b0 r0>, A<s0 s1 s2> tiles(t<b0>)
  }
  tile.return %out : A<s0 s1 s2>
})";

// The second argument is one column wide: a tile over it repeats it.
const char* const kColumn = R"(
tile.kernel @kernel(%x: A<s0 s1>, %y: A<s2 1>) -> (A<s0 s1>, A<s0 1>) attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %out = tile.empty : A<s0 s1>
  %copy = tile.empty : A<s0 1>
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %a = tile.load %x[%t, %u] : A<s0 s1> -> T<b0 b1> tiles(t<b0>, t<b1>)
    %b = tile.load %y[%t, %u] : A<s2 1> -> T<b0 1> tiles(t<b0>, t<b1>)
    %b2 = tile.broadcast %b : T<b0 1> -> T<b0 b1>
    %c = arith.addf %a, %b2 : T<b0 b1>
    tile.store %c, %out[%t, %u] : T<b0 b1>, A<s0 s1> tiles(t<b0>, t<b1>)
    tile.store %b, %copy[%t, %u] : T<b0 1>, A<s0 1> tiles(t<b0>, t<b1>)
  }
  tile.return %out, %copy : A<s0 s1>, A<s0 1>
})";

// A value that is stored, loaded again and reduced; whether any element is large, in i1.
const char* const kStoreLoad = R"(
tile.kernel @kernel(%x: A<s0 s1>) -> (A<s0 s1>, A<s0>) attributes {whole = #tile.dims<[s1]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %buffer = tile.empty : A<s0 s1>
  %out = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %v = tile.load %x[%t, :] : A<s0 s1> -> T<b0 r0> tiles(t<b0>)
    %twice = arith.addf %v, %v : T<b0 r0>
    tile.store %twice, %buffer[%t, :] : T<b0 r0>, A<s0 s1> tiles(t<b0>)
    %begin = tile.begin %t : t<b0>
    %first = tile.load %buffer[at %begin, at %zero] : A<s0 s1> -> f32
    %w = tile.load %buffer[%t, :] : A<s0 s1> -> T<b0 r0> tiles(t<b0>)
    %sum = tile.reduce add %w dims [1] : T<b0 r0> -> T<b0>
    %f3 = arith.constant 3.0 : f32
    %threes = tile.splat %f3 : f32 -> T<b0 r0>
    %large = arith.cmpf ogt, %w, %threes : T<b0 r0>
    %any = tile.reduce or %large dims [1] : B<b0 r0> -> B<b0>
    %firsts = tile.splat %first : f32 -> T<b0>
    %r = arith.select %any, %sum, %firsts : B<b0>, T<b0>
    tile.store %r, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %buffer, %out : A<s0 s1>, A<s0>
})";

// A range whose end is data, and may come before its beginning.
const char* const kJagged = R"(
tile.kernel @kernel(%x: A<s0 s1>, %ends: J<s2>) -> A<s0> {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %out = tile.empty : A<s0>
  tile.for (%i: grid) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
    %end32 = tile.load %ends[at %i] : J<s2> -> i32
    %end = arith.index_cast %end32 : i32 to index
    %sum = tile.for (%u: b0) = (%zero) to (%end) carry(%acc = %f0) : f32 {
      %v = tile.load %x[at %i, %u] : A<s0 s1> -> T<b0> tiles(t<b0>)
      %part = tile.reduce add %v dims [0] : T<b0> -> f32
      %count = tile.count %u : t<b0>
      %lanes = tile.lane_count %v dims [0] : T<b0>
      %both = arith.addi %count, %lanes : index
      %both32 = arith.index_cast %both : index to i32
      %bothf = arith.sitofp %both32 : i32 to f32
      %some = arith.addf %part, %bothf : f32
      %next = arith.addf %acc, %some : f32
      tile.yield %next : f32
    }
    tile.store %sum, %out[at %i] : f32, A<s0>
  }
  tile.return %out : A<s0>
})";

// Two dimensions that are one in memory, with a value that is made on the device and one that is there for all.
const char* const kElementwise = R"(
tile.kernel @kernel(%x: A<s0 s1>, %scale: f32) -> A<s0 s1> {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %out = tile.empty : A<s0 s1>
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %f1 = arith.constant 1.0 : f32
    %ones = tile.full %f1 tiles(%t, %u : t<b0>, t<b1>) at [0, 1] : f32 -> T<b0 b1>
    %v = tile.load %x[%t, %u] : A<s0 s1> -> T<b0 b1> tiles(t<b0>, t<b1>)
    %factor = tile.splat %scale : f32 -> T<b0 b1>
    %w = arith.mulf %v, %factor : T<b0 b1>
    %r = arith.addf %w, %ones : T<b0 b1>
    tile.store %r, %out[%t, %u] : T<b0 b1>, A<s0 s1> tiles(t<b0>, t<b1>)
  }
  tile.return %out : A<s0 s1>
})";

// Rows of a tensor of three dimensions, the first two of which are one in memory; keeps a place in its results' shapes.
const char* const kRows = R"(
tile.kernel @kernel(%x: A<s0 s1 s2>) -> (A<s0 s1 s2>, A<s0 s1>) attributes {whole = #tile.dims<[s2]>} {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %out = tile.empty : A<s0 s1 s2>
  %most = tile.empty : A<s0 s1>
  tile.for (%t: b0, %u: b1) = (%zero, %zero) to (%m, %n) parallel {
    %v = tile.load %x[%t, %u, :] : A<s0 s1 s2> -> T<b0 b1 r0> tiles(t<b0>, t<b1>)
    %max = tile.reduce max %v dims [2] : T<b0 b1 r0> -> T<b0 b1>
    tile.store %max, %most[%t, %u] : T<b0 b1>, A<s0 s1> tiles(t<b0>, t<b1>)
    %max1 = tile.expand_dims %max dim 2 : T<b0 b1> -> T<b0 b1 1>
    %max2 = tile.broadcast %max1 : T<b0 b1 1> -> T<b0 b1 r0>
    %d = arith.subf %v, %max2 : T<b0 b1 r0>
    tile.store %d, %out[%t, %u, :] : T<b0 b1 r0>, A<s0 s1 s2> tiles(t<b0>, t<b1>)
  }
  tile.return %out, %most : A<s0 s1 s2>, A<s0 s1>
})";

// A sum over planes in a sequential loop of two dimensions, over all lanes of both at once.
const char* const kPlaneSums = R"(
tile.kernel @kernel(%x: A<s0 s1 s2>) -> A<s0> {
  %zero = arith.constant 0 : index
  %m = tile.extent <s0>
  %n = tile.extent <s1>
  %k = tile.extent <s2>
  %out = tile.empty : A<s0>
  tile.for (%t: b0) = (%zero) to (%m) parallel {
    %f0 = arith.constant 0.0 : f32
    %init = tile.full %f0 tiles(%t : t<b0>) at [0] : f32 -> T<b0>
    %sum = tile.for (%u: b1, %w: b2) = (%zero, %zero) to (%n, %k) carry(%acc = %init) : T<b0> {
      %v = tile.load %x[%t, %u, %w] : A<s0 s1 s2> -> T<b0 b1 b2> tiles(t<b0>, t<b1>, t<b2>)
      %part = tile.reduce add %v dims [1, 2] : T<b0 b1 b2> -> T<b0>
      %lanes = tile.lane_count %v dims [1, 2] : T<b0 b1 b2>
      %lanes32 = arith.index_cast %lanes : index to i32
      %lanesf = arith.sitofp %lanes32 : i32 to f32
      %counts = tile.splat %lanesf : f32 -> T<b0>
      %both = arith.addf %part, %counts : T<b0>
      %next = arith.addf %acc, %both : T<b0>
      tile.yield %next : T<b0>
    }
    tile.store %sum, %out[%t] : T<b0>, A<s0> tiles(t<b0>)
  }
  tile.return %out : A<s0>
})";

std::vector<TestKernel> make_kernels() {
  return {
      {"add", kAdd, {{{1}, {1}}, {{40}, {40}}, {{0}, {0}}}},
      {"matmul", kMatmul, {{{7, 19}, {19, 11}}, {{16, 16}, {16, 16}}, {{1, 1}, {1, 1}}, {{3, 0}, {0, 4}}}},
      {"softmax", kSoftmax, {{{5, 40}}, {{8, 64}}}, true},
      {"normalize", kNormalize, {{{5, 40}}, {{4, 32}}}},
      {"in_place", kInPlace, {{{5, 40}}, {{4, 32}}}},
      {"two_wholes", kTwoWholes, {{{3, 20, 33}, {33}}, {{2, 32, 64}, {64}}}},
      {"transposed", kTransposed, {{{37, 6}}, {{32, 4}}}},
      {"causal", kCausal, {{{13, 13}}, {{16, 16}}}},
      {"nested", kNested, {{{21}, {17}}, {{16}, {19}}, {{5}, {2}}}},
      {"grid", kGrid, {{{2, 5, 20}}, {{1, 4, 32}}}},
      {"planes", kPlanes, {{{3, 5, 7}}, {{2, 4, 8}}}},
      {"whole_in_loop", kWholeInLoop, {{{3, 5, 20}, {20}}, {{2, 4, 32}, {32}}}},
      {"attention", kAttention, {{{2, 7, 3}, {2, 9, 3}, {2, 9, 3}}, {{1, 4, 4}, {1, 8, 4}, {1, 8, 4}}}},
      {"jagged", kJagged, {{{20, 4}, {20}}}},
      {"column", kColumn, {{{6, 9}, {6, 1}}, {{4, 8}, {4, 1}}}},
      {"elementwise", kElementwise, {{{17, 3}}, {{8, 4}}}},
      {"rows", kRows, {{{5, 3, 20}}, {{4, 2, 32}}}},
      {"plane_sums", kPlaneSums, {{{3, 5, 7}}, {{2, 4, 8}}}},
      {"store_load", kStoreLoad, {{{5, 40}}, {{4, 32}}}},
  };
}

std::string tensor(const std::string& dims, const std::string& element) {
  std::string shape, names;
  static const std::regex word("[^ ]+");
  for (std::sregex_iterator at(dims.begin(), dims.end(), word), end; at != end; ++at) {
    std::string dim = at->str();
    shape += (std::isdigit(dim[0]) ? dim : "?") + "x";
    names += (names.empty() ? "" : ", ") + dim;
  }
  return "tensor<" + shape + element + ", #tile.dims<[" + names + "]>>";
}

std::string type_of(char kind, std::string dims) {
  switch (kind) {
  case 'T': return tensor(dims, "f32");
  case 'I': return tensor(dims, "i32");
  case 'B': return tensor(dims, "i1");
  case 't': return "!tile.tile<" + dims + ">";
  }
  return (kind == 'J' ? "!tile.array<i32, [" : "!tile.array<f32, [") + std::regex_replace(dims, std::regex(" "), ", ") +
         "]>";
}

} // namespace

std::string write_out(std::string_view text) {
  static const std::regex shorthand(R"(\b([AJTIBt])<([^>]*)>)");
  std::string in(text), out;
  auto after = in.cbegin();
  for (std::sregex_iterator at(in.begin(), in.end(), shorthand), end; at != end; ++at) {
    out.append(after, in.cbegin() + at->position());
    out += type_of(at->str(1)[0], at->str(2));
    after = in.cbegin() + at->position() + at->length();
  }
  return out.append(after, in.cend());
}

const std::vector<TestKernel>& test_kernels() {
  static const auto* kernels = new std::vector<TestKernel>(make_kernels());
  return *kernels;
}

const TestKernel& test_kernel(std::string_view name) {
  auto at = std::ranges::find(test_kernels(), name, &TestKernel::name);
  if (at == test_kernels().end()) throw std::invalid_argument("no such kernel: " + std::string(name));
  return *at;
}
