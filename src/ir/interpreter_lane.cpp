#include "ir/interpreter_lane.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;

namespace tilewright {

static thread_local bool are_unrounded = false;
UnroundedLanes::UnroundedLanes(bool on) : before_(std::exchange(are_unrounded, on)) {}
UnroundedLanes::~UnroundedLanes() { are_unrounded = before_; }

unsigned integer_width(Type element) { return element.isIndex() ? 64 : element.getIntOrFloatBitWidth(); }

// The double from which rounding to a narrower type gives what rounding the exact number would: where double cannot
// hold it, the neighbour with an odd last bit, which is never halfway between two numbers of a narrower type (rounding
// to odd: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
static double round_to_odd(long double exact) {
  double nearest = static_cast<double>(exact);
  long double error = exact - static_cast<long double>(nearest);
  bool odd = std::bit_cast<uint64_t>(nearest) & 1;
  if (odd || std::isnan(error) || error == 0) return nearest;
  return std::nextafter(nearest, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

// As `element` has the number, rounded to nearest even. float8_e4m3fn has no infinity: what is too large for it becomes
// its largest number.
static Lane converted(llvm::APFloat number, Type element) {
  const llvm::fltSemantics& semantics = cast<FloatType>(element).getFloatSemantics();
  const bool was_number = !number.isNaN();
  const bool negative = number.isNegative();
  bool inexact = false;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  if (number.isNaN() && was_number) number = llvm::APFloat::getLargest(semantics, negative);
  return {.real = number.convertToDouble()};
}

Lane real_lane(long double exact, Type element) {
  if (element.isF64() || are_unrounded) return {.real = static_cast<double>(exact)};
  if (element.isF32()) return {.real = static_cast<float>(exact)};
  return converted(llvm::APFloat(round_to_odd(exact)), element);
}

Lane integer_lane(int64_t exact, Type element) {
  unsigned width = integer_width(element);
  return {.integer = width == 1 ? exact & 1 : llvm::SignExtend64(exact, width)};
}

Lane real_lane_from_integer(int64_t value, bool is_signed, Type element) {
  if (element.getIntOrFloatBitWidth() == 8 || are_unrounded) { // whole numbers that these may hold are exact in double
    return real_lane(
        is_signed ? static_cast<long double>(value) : static_cast<long double>(static_cast<uint64_t>(value)), element);
  }
  llvm::APFloat number(cast<FloatType>(element).getFloatSemantics());
  number.convertFromAPInt(llvm::APInt(64, value, is_signed), is_signed, llvm::APFloat::rmNearestTiesToEven);
  return {.real = number.convertToDouble()};
}

int64_t as_signed(const Lane& lane, Type element) { return integer_width(element) == 1 ? -lane.integer : lane.integer; }

uint64_t as_unsigned(const Lane& lane, Type element) {
  return static_cast<uint64_t>(lane.integer) & llvm::maskTrailingOnes<uint64_t>(integer_width(element));
}

uint64_t lane_bits(const Lane& lane, Type element) {
  if (!is_real(element)) return as_unsigned(lane, element);
  llvm::APFloat number(lane.real);
  bool inexact = false;
  number.convert(cast<FloatType>(element).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

Lane lane_from_bits(uint64_t bits, Type element) {
  if (!is_real(element)) return integer_lane(static_cast<int64_t>(bits), element);
  const llvm::fltSemantics& semantics = cast<FloatType>(element).getFloatSemantics();
  llvm::APFloat number(semantics, llvm::APInt(element.getIntOrFloatBitWidth(), bits));
  return {.real = number.convertToDouble()};
}

} // namespace tilewright
