// A kernel as the fuzzer knows it: a plain value, which is generated, recorded through the DSL, printed as C++ and made
// smaller. What its statements mean is said by their forms (forms.h).
#pragma once

#include "tilewright/dtype.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::fuzz {

struct Form;
struct Operation;

/// A value on the device, by number. Its C++ variable is v<number>.
using ValueId = int;

/// One dimension of a value.
struct Axis {
  enum class Kind : uint8_t { one, tile, whole } kind = Kind::one;
  int index = 0; // of a tile, its loop variable; of a whole dimension, its extent
  bool operator==(const Axis&) const = default;
};

struct Type {
  DType dtype = float32;
  std::vector<Axis> axes;
  bool operator==(const Type&) const = default;
};

/// What an operation is applied to.
struct FuzzOperand {
  enum class Kind : uint8_t { value, integer, real, boolean, extent } kind = Kind::integer;
  ValueId value = -1;
  double number = 0; // of a literal; the index of an extent
  static FuzzOperand of(ValueId value) { return {Kind::value, value, 0}; }
  static FuzzOperand integer(int64_t number) { return {Kind::integer, -1, static_cast<double>(number)}; }
  static FuzzOperand real(double number) { return {Kind::real, -1, number}; }
  static FuzzOperand extent(int index) { return {Kind::extent, -1, static_cast<double>(index)}; }
};

/// One subscript of a tensor.
struct FuzzSubscript {
  enum class Kind : uint8_t { tile, whole, scalar, constant, none } kind = Kind::whole;
  int index = 0; // the tile's loop variable, the scalar's value, or the constant
  bool operator==(const FuzzSubscript&) const = default;
};

/// One statement of the kernel. Most make a value; loops have a body.
struct Statement {
  const Form* form = nullptr;
  ValueId result = -1;
  Type type; // of the result
  const Operation* operation = nullptr;
  std::vector<FuzzOperand> operands;
  int tensor = -1;
  std::vector<FuzzSubscript> subscripts;
  std::vector<int64_t> numbers; // dims, flags: the form knows
  std::vector<int> variables;   // that a loop opens
  std::vector<Statement> body;
};

/// How a tensor lies in memory.
enum class Layout : uint8_t { contiguous, transposed, strided, expanded };
inline constexpr int kLayoutCount = 4;
/// "contiguous", ...
const char* name(Layout layout);

/// What its elements are.
enum class Contents : uint8_t {
  whole_numbers, // from -5 to 5
  fractions,     // between -2.05 and 2.05
  special,       // fractions, and some NaN, infinities, zeros and subnormal numbers
};
inline constexpr int kContentsCount = 3;
const char* name(Contents contents);

struct FuzzTensor {
  DType dtype = float32;
  std::vector<int> extents;
  Layout layout = Layout::contiguous;
  Contents contents = Contents::whole_numbers;
  bool aligned = true;    // to 16 bytes
  bool allocated = false; // by the kernel, and returned
  /// Of a tensor that the kernel stores to: the loop variables of the outermost loop along its dimensions, -1 for the
  /// others. A program touches only the part that is its own.
  std::vector<int> owners;
  bool is_written() const { return !owners.empty(); }
};

struct FuzzNumber {
  DType dtype = float32;
  double value = 0;
};

/// A name in the kernel's C++ text: x3, v12.
std::string numbered(char letter, int64_t number);

struct FuzzKernel {
  bool exact = true; // on whole numbers, with operations that are exact on them
  uint64_t seed = 0; // of the tensors' elements
  std::vector<int64_t> extents;
  std::vector<FuzzTensor> tensors; // x0, x1, ...
  std::vector<FuzzNumber> numbers; // s0, s1, ...: tw::Scalar arguments
  std::vector<Statement> body;     // the one outermost loop
  int value_count = 0;
  int variable_count = 0; // loop variables t0, t1, ...
};

/// Calls `visit` with each statement, those of a loop's body after the loop's own.
template <class Statements, class Visit> void for_each_statement(Statements& statements, Visit&& visit) {
  for (auto& statement : statements) {
    visit(statement);
    for_each_statement(statement.body, visit);
  }
}

} // namespace tilewright::fuzz
