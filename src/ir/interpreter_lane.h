// One lane's number, and the one place where the interpreter rounds.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>

namespace tilewright {

/// What is computed from several lanes has the last of their states.
enum class LaneState : uint8_t {
  Exists,
  Undefined, ///< it exists, but its number is not defined: 1 / 0 in integers
  Missing,   ///< past the end of a tile
};

/// A number of a floating-point type is in `real`, which holds all of them exactly. One of an integer type is in
/// `integer`, sign-extended from the type's width; an i1 is 0 or 1.
struct Lane {
  double real = 0;
  int64_t integer = 0;
  LaneState state = LaneState::Exists;
  double error = 0; ///< how far off another right implementation may be (interpreter_bounds.h)

  static Lane missing() { return {.state = LaneState::Missing}; }
  static Lane undefined() { return {.state = LaneState::Undefined}; }
};

inline bool is_real(mlir::Type element) { return mlir::isa<mlir::FloatType>(element); }

/// Width in bits of an integer type or index.
unsigned integer_width(mlir::Type element);

/// While one that is `on` lives, floating-point lanes of this thread are rounded to double and no further: the wide
/// mode of the interpreter.
class UnroundedLanes {
public:
  explicit UnroundedLanes(bool on);
  ~UnroundedLanes();
  UnroundedLanes(const UnroundedLanes&) = delete;
  UnroundedLanes& operator=(const UnroundedLanes&) = delete;

private:
  bool before_;
};

/// `exact` rounded to a floating-point type, to nearest even, once.
Lane real_lane(long double exact, mlir::Type element);

/// `exact` wrapped around to the width of an integer type.
Lane integer_lane(int64_t exact, mlir::Type element);

/// An integer rounded to a floating-point type, to nearest even, once.
Lane real_lane_from_integer(int64_t value, bool is_signed, mlir::Type element);

/// The bits of a lane as a two's complement or as an unsigned number: of an i1, -1 or 1.
int64_t as_signed(const Lane& lane, mlir::Type element);
uint64_t as_unsigned(const Lane& lane, mlir::Type element);

/// A lane's bit pattern in its type, in the low bits, and back.
uint64_t lane_bits(const Lane& lane, mlir::Type element);
Lane lane_from_bits(uint64_t bits, mlir::Type element);

} // namespace tilewright
