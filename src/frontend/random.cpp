// Random numbers on the device, in integer arithmetic and exact floating point, so that every backend makes the same
// bits. They are those of Array::rand, randn and randint (runtime/array_random.cpp) for stream 0.
#include "frontend/expression.h"
#include "runtime/normal_series.h"
#include "runtime/philox.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <cmath>
#include <numbers>

using namespace mlir;

namespace tilewright {

namespace {

/// A 32-bit word: known while recording, or an i32 that is one for all lanes, or one for each.
struct Word {
  std::optional<uint32_t> constant;
  Value value;
};

class Philox {
public:
  explicit Philox(Builder& builder) : builder_(builder), ir_(builder.ir), location_(builder.location()) {}

  /// philox4x32_10 of runtime/philox.h.
  std::array<Word, 4> words(std::array<Word, 4> counter, std::array<Word, 2> key) {
    for (int round = 0; round < 10; ++round) {
      auto [high0, low0] = product(kPhiloxMultipliers[0], counter[0]);
      auto [high1, low1] = product(kPhiloxMultipliers[1], counter[2]);
      counter = {combined<arith::XOrIOp>(combined<arith::XOrIOp>(high1, counter[1]), key[0]), low1,
                 combined<arith::XOrIOp>(combined<arith::XOrIOp>(high0, counter[3]), key[1]), low0};
      key[0] = combined<arith::AddIOp>(key[0], {kPhiloxKeySteps[0], {}});
      key[1] = combined<arith::AddIOp>(key[1], {kPhiloxKeySteps[1], {}});
    }
    return counter;
  }

  /// The low and the high word of an int64.
  std::array<Word, 2> halves(Value value) {
    Value high = make<arith::ShRUIOp>(value, like(32, value));
    return {Word{{}, truncated(value)}, Word{{}, truncated(high)}};
  }

  Value as_value(const Word& word) {
    if (!word.constant) return word.value;
    return builder_.constant(ir_.getI32IntegerAttr(static_cast<int32_t>(*word.constant)));
  }

private:
  template <class Op> Value make(Value a, Value b) {
    SmallVector<Dim> dims = dims_of(a).empty() ? dims_of(b) : dims_of(a);
    return ir_.create<Op>(location_, builder_.broadcast(a, dims), builder_.broadcast(b, dims));
  }
  template <class Op> Value converted(Value value, Type element) {
    return ir_.create<Op>(location_, value_type(element, dims_of(value)), value);
  }
  Value truncated(Value value) { return converted<arith::TruncIOp>(value, ir_.getI32Type()); }
  Value like(int64_t number, Value other) {
    TypedAttr attribute = ir_.getIntegerAttr(element_type(other.getType()), number);
    return builder_.broadcast(builder_.constant(attribute), dims_of(other));
  }

  template <class Op> Word combined(const Word& a, const Word& b) {
    constexpr bool adds = std::is_same_v<Op, arith::AddIOp>;
    if (a.constant && b.constant) return {adds ? *a.constant + *b.constant : *a.constant ^ *b.constant, {}};
    if (a.constant == 0u) return b;
    if (b.constant == 0u) return a;
    return {{}, make<Op>(as_value(a), as_value(b))};
  }
  // The high and the low word of a * b.
  std::pair<Word, Word> product(uint32_t a, const Word& b) {
    if (b.constant) {
      uint64_t wide = uint64_t(a) * *b.constant;
      return {{static_cast<uint32_t>(wide >> 32), {}}, {static_cast<uint32_t>(wide), {}}};
    }
    Value extended = converted<arith::ExtUIOp>(b.value, ir_.getI64Type());
    Value wide = make<arith::MulIOp>(extended, like(a, extended));
    auto [low, high] = halves(wide);
    return {high, low};
  }

  Builder& builder_;
  OpBuilder& ir_;
  Location location_;
};

} // namespace

// The four words of each element: [index, stream] are the counter, the seed is the key.
static std::array<Value, 4> random_words(Builder& builder, Value index, std::optional<int64_t> most, const Term& seed,
                                         uint32_t stream) {
  if (builder.rank(seed) != 0 || is_floating_point(builder.dtype(seed)))
    builder.fail("a seed is a whole number or a scalar of integers, found {}", builder.describe(seed));
  Philox philox(builder);
  std::array<Word, 2> key;
  if (seed.is_literal())
    key = {Word{static_cast<uint32_t>(seed.integer), {}},
           Word{static_cast<uint32_t>(static_cast<uint64_t>(seed.integer) >> 32), {}}};
  else
    key = philox.halves(builder.cast(seed, DType::int64));
  auto [low, high] = philox.halves(index);
  if (most && *most <= std::numeric_limits<uint32_t>::max()) high = Word{0, {}};
  // An own constant for each call, which number_streams() finds.
  mlir::Operation* number = builder.ir.create<arith::ConstantOp>(
      builder.location(), builder.ir.getI32IntegerAttr(static_cast<int32_t>(stream)));
  number->setAttr("tile.stream", builder.ir.getUnitAttr());
  auto words = philox.words({low, high, Word{{}, number->getResult(0)}, Word{0, {}}}, key);
  std::array<Value, 4> values;
  for (int i = 0; i < 4; ++i) values[i] = builder.broadcast(philox.as_value(words[i]), dims_of(index));
  return values;
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

namespace {

Expression shifted_right(Expression x, int by) {
  Expression amount = x.like(by);
  return x.make<arith::ShRUIOp>(x.value, amount.value);
}
Expression shifted_left(Expression x, int by) {
  Expression amount = x.like(by);
  return x.make<arith::ShLIOp>(x.value, amount.value);
}
Expression either_bits(Expression a, Expression b) { return a.make<arith::OrIOp>(a.value, b.value); }
// x's bits as another type of the same width.
Expression bits_as(Expression x, Type element) {
  return x.make<arith::BitcastOp>(value_type(element, dims_of(x.value)), x.value);
}
// An int64 that is known while recording: more than a double holds.
Expression bits_like(Expression x, int64_t number) {
  Builder& builder = *x.builder;
  return {&builder, builder.broadcast(builder.constant(builder.ir.getI64IntegerAttr(number)), dims_of(x.value))};
}
Expression unsigned_to_int64(Expression word) {
  return word.make<arith::ExtUIOp>(value_type(word.builder->ir.getI64Type(), dims_of(word.value)), word.value);
}
// A word of two, the upper one first.
Expression word64(Expression high, Expression low) {
  return either_bits(shifted_left(unsigned_to_int64(high), 32), unsigned_to_int64(low));
}
Expression to_float(Expression natural, Type element) {
  return natural.make<arith::SIToFPOp>(value_type(element, dims_of(natural.value)), natural.value);
}

// The value at x of the polynomial with these coefficients, the constant first.
template <size_t N> Expression polynomial(const std::array<double, N>& coefficients, Expression x) {
  Expression value = x.like(coefficients[N - 1]);
  for (size_t i = N - 1; i-- > 0;) value = rounded(value * x) + coefficients[i];
  return value;
}

// The natural logarithm of u in [2^-53, 1].
Expression logarithm(Expression u) {
  Type f64 = u.element(), i64 = u.builder->ir.getI64Type();
  Expression bits = bits_as(u, i64);
  Expression exponent = shifted_right(bits, 52) - 1022.0;
  Expression m = bits_as(either_bits(bits & bits_like(bits, 0x000fffffffffffff), bits_like(bits, 0x3fe0000000000000)),
                         f64); // [1/2, 1)
  Expression small = m < std::numbers::sqrt2 / 2;
  m = select(small, rounded(m * 2.0), m);
  exponent = select(small, exponent - 1.0, exponent);
  Expression s = (m - 1.0) / (m + 1.0);
  Expression square = rounded(s * s);
  Expression tail = rounded(rounded(s * square) * polynomial(kAtanhTail, square));
  return rounded(to_float(exponent, f64) * std::numbers::ln2) + rounded((s + tail) * 2.0);
}

// cos(2 pi u) for u in [0, 1).
Expression cosine_of_turns(Expression u) {
  Type i64 = u.builder->ir.getI64Type();
  Expression turned = rounded(u * 4.0) + 0.5;
  Expression quarter = turned.make<arith::FPToSIOp>(value_type(i64, dims_of(u.value)), turned.value);
  Expression angle = rounded((u - rounded(to_float(quarter, u.element()) * 0.25)) * (2 * std::numbers::pi));
  Expression square = rounded(angle * angle);
  Expression sine = rounded(angle * polynomial(kSineOverX, square));
  Expression odd = (quarter & quarter.like(1)) != 0.0;
  Expression value = select(odd, sine, polynomial(kCosine, square));
  Expression is_one = quarter == 1.0, is_two = quarter == 2.0;
  return select(either_bits(is_one, is_two), -value, value);
}

} // namespace

Value Builder::random(Distribution distribution, Value index, std::optional<int64_t> most, const Term& seed,
                      uint32_t stream, DType dtype) {
  const char* name = distribution == Distribution::uniform ? "tw::rand" : "tw::randn";
  if (!is_floating_point(dtype)) fail("{} makes floating-point numbers, not {}", name, tilewright::name(dtype));
  std::array<Value, 4> values = random_words(*this, index, most, seed, stream);
  Expression words[4] = {{this, values[0]}, {this, values[1]}, {this, values[2]}, {this, values[3]}};
  Type f32 = ir.getF32Type(), f64 = ir.getF64Type();
  if (distribution == Distribution::normal) {
    // Box and Muller's transform, as Array::randn does it.
    Expression u = rounded(to_float(shifted_right(word64(words[0], words[1]), 11) + 1.0, f64) * 0x1p-53); // (0, 1]
    Expression v = rounded(to_float(shifted_right(word64(words[2], words[3]), 11), f64) * 0x1p-53);       // [0, 1)
    Expression normal = rounded(sqrt(rounded(logarithm(u) * -2.0)) * cosine_of_turns(v));
    if (dtype == DType::float64) return normal.value;
    return cast(cast(normal.value, DType::float32), dtype);
  }
  if (dtype == DType::float64)
    return rounded(to_float(shifted_right(word64(words[0], words[1]), 11), f64) * 0x1p-53).value;
  // As many of the uppermost bits as the dtype has significant ones: exact, and below 1.
  int digits = dtype == DType::float32 ? 24 : dtype == DType::float16 ? 11 : 8;
  Expression fraction = to_float(shifted_right(words[0], 32 - digits), f32) * std::ldexp(1.0, -digits);
  return cast(rounded(fraction).value, dtype);
}

Value Builder::random_integers(int64_t low, uint64_t range, Value index, std::optional<int64_t> most, const Term& seed,
                               uint32_t stream, DType dtype) {
  std::array<Value, 4> values = random_words(*this, index, most, seed, stream);
  Expression w0 = unsigned_to_int64({this, values[0]}), w1 = unsigned_to_int64({this, values[1]});
  // The upper 64 bits of the product of (w0, w1) and the range, in 32-bit digits: no partial sum overflows.
  auto digit = [&](uint64_t number) { return bits_like(w0, static_cast<int64_t>(number)); };
  Expression r0 = digit(range & 0xffffffff), carry = shifted_right(w1 * r0, 32);
  Expression middle = w0 * r0 + carry;
  Expression high = shifted_right(middle, 32);
  if (range >> 32 != 0) {
    Expression r1 = digit(range >> 32);
    Expression other = w1 * r1 + (middle & digit(0xffffffff));
    high = w0 * r1 + high + shifted_right(other, 32);
  }
  return cast((high + bits_like(high, low)).value, dtype);
}

SmallVector<Value> Builder::random_4x(Value index, std::optional<int64_t> most, const Term& seed, uint32_t stream) {
  SmallVector<Value> results;
  for (Value word : random_words(*this, index, most, seed, stream)) {
    Expression fraction = to_float(shifted_right({this, word}, 8), ir.getF32Type()) * 0x1p-24;
    results.push_back(rounded(fraction).value);
  }
  return results;
}

} // namespace tilewright
