// Numbers that depend on the sizes of a call's arrays, for those who evaluate them at each launch. Where the sizes are
// known while compiling, they are constants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tilewright {

/// A polynomial over s0, s1, ..., the sizes of a call's arrays, all of them in order.
class SizeFormula {
public:
  struct Term {
    int64_t coefficient;
    std::vector<uint32_t> sizes; // the numbers of the sizes that it multiplies; none: a constant
  };

  SizeFormula(int64_t constant = 0) {
    if (constant != 0) terms_.push_back({constant, {}});
  }
  explicit SizeFormula(std::vector<Term> terms) : terms_(std::move(terms)) {}

  /// The value where it depends on no size.
  std::optional<int64_t> constant() const {
    if (terms_.empty()) return 0;
    return terms_.size() == 1 && terms_[0].sizes.empty() ? std::optional(terms_[0].coefficient) : std::nullopt;
  }
  int64_t evaluate(std::span<const int64_t> sizes) const {
    int64_t sum = 0;
    for (const Term& term : terms_) {
      int64_t product = term.coefficient;
      for (uint32_t size : term.sizes) product *= sizes[size];
      sum += product;
    }
    return sum;
  }

private:
  std::vector<Term> terms_; // each product of sizes once, none with coefficient 0
};

inline constexpr int64_t kNoResult = INT64_MIN;

/// What is done with two numbers. Comparisons, which come first, give 0 or 1.
enum class SizeOperation : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Quotient, // as C++ divides
  Remainder,
  CeilQuotient, // of a left number that is not negative and a right one above 0
  PowerOfTwo,   // the least one that is the left number or more
};

/// kNoResult where the numbers have none: where something is divided by 0.
int64_t evaluate(SizeOperation operation, int64_t left, int64_t right);

/// What must hold of sizes: that an operation on two numbers gives this.
struct SizeCondition {
  SizeOperation operation;
  SizeFormula left, right;
  int64_t result;

  bool holds(std::span<const int64_t> sizes) const {
    return evaluate(operation, left.evaluate(sizes), right.evaluate(sizes)) == result;
  }
};

/// A number that code is told beside its arguments: a size or a stride of one of them.
struct RunTimeNumber {
  enum class Kind : uint8_t { Size, Stride } kind;
  unsigned argument; // an array
  unsigned dim;      // of it
  unsigned symbol;   // of a size: its number, of s0, s1, ...
};

} // namespace tilewright
