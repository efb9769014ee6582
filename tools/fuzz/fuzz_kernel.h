// A kernel as the fuzzer knows it: a plain value, which is generated, recorded through the DSL, printed as C++ and made
// smaller. What its statements mean is said by their forms (forms.h).
#pragma once

#include "tilewright/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::fuzz {

struct Form;
struct Operation;

/// A value on the device, by number. Its C++ variable is v<number>.
using ValueId = int;

/// One dimension of a value.
struct Axis {
  enum class Kind : uint8_t { one, tile, whole, block } kind = Kind::one;
  int index = 0; // of a tile, its loop variable; of a whole dimension, its extent; of a block, its registered size
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
  enum class Kind : uint8_t {
    tile,       // t0; t0 + shift, or t0 + v1 where there is a value
    whole,      // tw::_
    value,      // v1: a scalar, or a tensor of indices
    constant,   // 3
    none,       // tw::none
    slice,      // tw::slice(first, -tail, step); none for a first or tail of 0
    slice_from, // tw::slice_from(v1, n2)
  } kind = Kind::whole;
  int index = 0; // the tile's loop variable, the constant, or the extent of a slice_from
  ValueId value = -1;
  int64_t shift = 0, first = 0, tail = 0, step = 1;
  bool operator==(const FuzzSubscript&) const = default;

  static FuzzSubscript tile(int variable) { return {Kind::tile, variable}; }
  static FuzzSubscript of(ValueId value) { return {Kind::value, 0, value}; }
};
inline constexpr int kSubscriptKindCount = 7;
/// "tile", ...; "shifted tile" for one that is.
const char* name(const FuzzSubscript& subscript);

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
  bool aligned = true;                        // to 16 bytes
  bool allocated = false;                     // by the kernel, and returned
  std::optional<int64_t> fill = std::nullopt; // of an allocated one: every element when the launch begins
};

/// An extent that others give: scale * extent `a` + `plus`, and times extent `b` or more by it where there is one.
struct DerivedExtent {
  enum class Kind : uint8_t { scaled, sum, product } kind = Kind::scaled;
  int extent = 0; // which of the kernel's extents this is
  int a = -1, b = -1;
  int64_t scale = 1, plus = 0;
  int64_t length(const std::vector<int64_t>& extents) const;
  bool is_like(const DerivedExtent& other) const {
    return kind == other.kind && a == other.a && b == other.b && scale == other.scale && plus == other.plus;
  }
};

struct FuzzNumber {
  DType dtype = float32;
  double value = 0;
};

/// A name in the kernel's C++ text: x3, v12.
std::string numbered(char letter, int64_t number);

struct FuzzKernel {
  bool exact = true;           // on whole numbers, with operations that are exact on them
  uint64_t seed = 0;           // of the tensors' elements
  bool run_time_sizes = false; // static_shapes = false
  std::vector<int64_t> extents;
  std::vector<DerivedExtent> derived; // of some of the extents
  std::vector<int> blocks;            // registered block sizes, of loops over these extents
  std::vector<FuzzTensor> tensors;    // x0, x1, ...
  std::vector<FuzzNumber> numbers;    // s0, s1, ...: tw::Scalar arguments
  std::vector<Statement> body;        // outermost loops, and barriers between them
  int value_count = 0;
  int variable_count = 0; // loop variables t0, t1, ...
};

/// Sets every extent that others give.
void update_extents(FuzzKernel& kernel);
bool is_derived(const FuzzKernel& kernel, int extent);

/// Calls `visit` with each statement, those of a loop's body after the loop's own.
template <class Statements, class Visit> void for_each_statement(Statements& statements, Visit&& visit) {
  for (auto& statement : statements) {
    visit(statement);
    for_each_statement(statement.body, visit);
  }
}

} // namespace tilewright::fuzz
