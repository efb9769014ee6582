// The ops of arith on one lane. Floating-point operands are computed in double, which has more than twice the digits of
// float32 and the 16-bit types, so that rounding its sum, product, quotient or root once more gives the exact one
// rounded once (Figueroa, "When is double rounding innocuous?", 1995); for float64 it is the exact one rounded.
#include "ir/interpreter_pointwise.h"

#include "ir/context.h"
#include "support/error.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// From plain functions to lane functions
//===----------------------------------------------------------------------===//

static LaneFunction real(double (*function)(double)) {
  return [=](ArrayRef<Lane> x, Type, Type to) { return real_lane(function(x[0].real), to); };
}

static LaneFunction real(double (*function)(double, double)) {
  return [=](ArrayRef<Lane> x, Type, Type to) { return real_lane(function(x[0].real, x[1].real), to); };
}

// Bits in, bits out: what carries into higher bits is cut off.
static LaneFunction bits(uint64_t (*function)(uint64_t, uint64_t)) {
  return [=](ArrayRef<Lane> x, Type from, Type to) {
    return integer_lane(static_cast<int64_t>(function(as_unsigned(x[0], from), as_unsigned(x[1], from))), to);
  };
}

using Integer = std::optional<int64_t>; // none: not defined
using Natural = std::optional<uint64_t>;

// A result that the type does not hold, the lowest number divided by -1, is not defined either.
static LaneFunction integer(Integer (*function)(int64_t, int64_t)) {
  return [=](ArrayRef<Lane> x, Type from, Type to) {
    Integer value = function(as_signed(x[0], from), as_signed(x[1], from));
    if (!value) return Lane::undefined();
    Lane lane = integer_lane(*value, to);
    return as_signed(lane, to) == *value ? lane : Lane::undefined();
  };
}

static LaneFunction natural(Natural (*function)(uint64_t, uint64_t)) {
  return [=](ArrayRef<Lane> x, Type from, Type to) {
    Natural value = function(as_unsigned(x[0], from), as_unsigned(x[1], from));
    return value ? integer_lane(static_cast<int64_t>(*value), to) : Lane::undefined();
  };
}

// A shift by the width or more has no result.
static LaneFunction shift(int64_t (*function)(int64_t bits, int64_t by), bool is_signed) {
  return [=](ArrayRef<Lane> x, Type from, Type to) {
    uint64_t by = as_unsigned(x[1], from);
    if (by >= integer_width(from)) return Lane::undefined();
    int64_t value = is_signed ? as_signed(x[0], from) : static_cast<int64_t>(as_unsigned(x[0], from));
    return integer_lane(function(value, static_cast<int64_t>(by)), to);
  };
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

// maximumf and minimumf: a NaN wins, and -0 is less than 0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

static bool divides(int64_t a, int64_t b) {
  bool overflows_64_bits = b == -1 && a == std::numeric_limits<int64_t>::min();
  return b != 0 && !overflows_64_bits;
}
static Integer quotient(int64_t a, int64_t b) { return divides(a, b) ? Integer(a / b) : std::nullopt; }
static Integer remainder(int64_t a, int64_t b) {
  if (b == -1) return 0; // also where the quotient overflows
  return b != 0 ? Integer(a % b) : std::nullopt;
}
static Integer floor_quotient(int64_t a, int64_t b) {
  if (!divides(a, b)) return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static Integer ceil_quotient(int64_t a, int64_t b) {
  if (!divides(a, b)) return std::nullopt;
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

const LaneFunctions& arith_functions() {
  static const LaneFunctions functions{
      {"arith.addf", real([](double a, double b) { return a + b; })},
      {"arith.subf", real([](double a, double b) { return a - b; })},
      {"arith.mulf", real([](double a, double b) { return a * b; })},
      {"arith.divf", real([](double a, double b) { return a / b; })},
      {"arith.remf", real([](double a, double b) { return std::fmod(a, b); })},
      {"arith.negf", real([](double a) { return -a; })},
      {"arith.maximumf", real(maximum)},
      {"arith.minimumf", real(minimum)},
      {"arith.maxnumf", real([](double a, double b) { return std::fmax(a, b); })},
      {"arith.minnumf", real([](double a, double b) { return std::fmin(a, b); })},
      {"arith.extf", real([](double a) { return a; })},

      {"arith.addi", bits([](uint64_t a, uint64_t b) { return a + b; })},
      {"arith.subi", bits([](uint64_t a, uint64_t b) { return a - b; })},
      {"arith.muli", bits([](uint64_t a, uint64_t b) { return a * b; })},
      {"arith.andi", bits([](uint64_t a, uint64_t b) { return a & b; })},
      {"arith.ori", bits([](uint64_t a, uint64_t b) { return a | b; })},
      {"arith.xori", bits([](uint64_t a, uint64_t b) { return a ^ b; })},

      {"arith.divsi", integer(quotient)},
      {"arith.remsi", integer(remainder)},
      {"arith.floordivsi", integer(floor_quotient)},
      {"arith.ceildivsi", integer(ceil_quotient)},
      {"arith.maxsi", integer([](int64_t a, int64_t b) { return Integer(std::max(a, b)); })},
      {"arith.minsi", integer([](int64_t a, int64_t b) { return Integer(std::min(a, b)); })},

      {"arith.divui", natural([](uint64_t a, uint64_t b) { return b ? Natural(a / b) : std::nullopt; })},
      {"arith.remui", natural([](uint64_t a, uint64_t b) { return b ? Natural(a % b) : std::nullopt; })},
      {"arith.ceildivui",
       natural([](uint64_t a, uint64_t b) { return b ? Natural(a / b + (a % b != 0)) : std::nullopt; })},
      {"arith.maxui", natural([](uint64_t a, uint64_t b) { return Natural(std::max(a, b)); })},
      {"arith.minui", natural([](uint64_t a, uint64_t b) { return Natural(std::min(a, b)); })},

      {"arith.shli", shift([](int64_t a, int64_t by) { return static_cast<int64_t>(static_cast<uint64_t>(a) << by); },
                           /*is_signed=*/false)},
      {"arith.shrui", shift([](int64_t a, int64_t by) { return static_cast<int64_t>(static_cast<uint64_t>(a) >> by); },
                            /*is_signed=*/false)},
      {"arith.shrsi", shift([](int64_t a, int64_t by) { return a >> by; }, /*is_signed=*/true)},

      {"arith.extsi", [](ArrayRef<Lane> x, Type from, Type to) { return integer_lane(as_signed(x[0], from), to); }},
      {"arith.extui", [](ArrayRef<Lane> x, Type from,
                         Type to) { return integer_lane(static_cast<int64_t>(as_unsigned(x[0], from)), to); }},
      {"arith.trunci", [](ArrayRef<Lane> x, Type from, Type to) { return integer_lane(as_signed(x[0], from), to); }},
      {"arith.index_cast",
       [](ArrayRef<Lane> x, Type from, Type to) { return integer_lane(as_signed(x[0], from), to); }},
      {"arith.index_castui", [](ArrayRef<Lane> x, Type from,
                                Type to) { return integer_lane(static_cast<int64_t>(as_unsigned(x[0], from)), to); }},
      {"arith.sitofp", [](ArrayRef<Lane> x, Type from,
                          Type to) { return real_lane_from_integer(as_signed(x[0], from), /*is_signed=*/true, to); }},
      {"arith.uitofp",
       [](ArrayRef<Lane> x, Type from, Type to) {
         return real_lane_from_integer(static_cast<int64_t>(as_unsigned(x[0], from)), /*is_signed=*/false, to);
       }},
      {"arith.bitcast", [](ArrayRef<Lane> x, Type from, Type to) { return lane_from_bits(lane_bits(x[0], from), to); }},
  };
  return functions;
}

//===----------------------------------------------------------------------===//
// Ops with attributes
//===----------------------------------------------------------------------===//

static bool compare(arith::CmpIPredicate predicate, const Lane& a, const Lane& b, Type type) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::eq: return a.integer == b.integer;
  case Predicate::ne: return a.integer != b.integer;
  case Predicate::slt: return as_signed(a, type) < as_signed(b, type);
  case Predicate::sle: return as_signed(a, type) <= as_signed(b, type);
  case Predicate::sgt: return as_signed(a, type) > as_signed(b, type);
  case Predicate::sge: return as_signed(a, type) >= as_signed(b, type);
  case Predicate::ult: return as_unsigned(a, type) < as_unsigned(b, type);
  case Predicate::ule: return as_unsigned(a, type) <= as_unsigned(b, type);
  case Predicate::ugt: return as_unsigned(a, type) > as_unsigned(b, type);
  case Predicate::uge: return as_unsigned(a, type) >= as_unsigned(b, type);
  }
  llvm_unreachable("unknown predicate");
}

// o: ordered, false where one is NaN; u: unordered, true there.
static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using Predicate = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case Predicate::AlwaysFalse: return false;
  case Predicate::OEQ: return !unordered && a == b;
  case Predicate::OGT: return !unordered && a > b;
  case Predicate::OGE: return !unordered && a >= b;
  case Predicate::OLT: return !unordered && a < b;
  case Predicate::OLE: return !unordered && a <= b;
  case Predicate::ONE: return !unordered && a != b;
  case Predicate::ORD: return !unordered;
  case Predicate::UEQ: return unordered || a == b;
  case Predicate::UGT: return unordered || a > b;
  case Predicate::UGE: return unordered || a >= b;
  case Predicate::ULT: return unordered || a < b;
  case Predicate::ULE: return unordered || a <= b;
  case Predicate::UNE: return unordered || a != b;
  case Predicate::UNO: return unordered;
  case Predicate::AlwaysTrue: return true;
  }
  llvm_unreachable("unknown predicate");
}

// Towards zero; undefined where the integer type does not hold the result.
static Lane truncate_to_integer(double value, bool is_signed, Type to) {
  llvm::APSInt integer(integer_width(to), /*isUnsigned=*/!is_signed);
  bool exact = false;
  auto status = llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact);
  if (status == llvm::APFloat::opInvalidOp) return Lane::undefined();
  return integer_lane(static_cast<int64_t>(integer.getZExtValue()), to);
}

LaneFunction comparison_or_cast(Operation* op) {
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return [predicate = comparison.getPredicate()](ArrayRef<Lane> x, Type from, Type) {
      return Lane{.integer = compare(predicate, x[0], x[1], from)};
    };
  if (auto comparison = dyn_cast<arith::CmpFOp>(op))
    return [predicate = comparison.getPredicate()](ArrayRef<Lane> x, Type, Type) {
      return Lane{.integer = compare(predicate, x[0].real, x[1].real)};
    };
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return [is_signed = isa<arith::FPToSIOp>(op)](ArrayRef<Lane> x, Type, Type to) {
      return truncate_to_integer(x[0].real, is_signed, to);
    };
  if (auto truncation = dyn_cast<arith::TruncFOp>(op)) {
    auto mode = truncation.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    if (mode != arith::RoundingMode::to_nearest_even)
      fail(source_location(op->getLoc()), "the interpreter does not know arith.truncf with the rounding mode {}",
           arith::stringifyRoundingMode(mode).str());
    return real([](double a) { return a; });
  }
  return {};
}

} // namespace tilewright
