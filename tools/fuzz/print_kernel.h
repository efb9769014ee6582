// Prints a FuzzKernel as C++: the lambda, and a complete GoogleTest around it.
#pragma once

#include "fuzz/fuzz_kernel.h"
#include "tilewright/config.h"

#include <span>
#include <string>

namespace tilewright::fuzz {

class Printer {
public:
  explicit Printer(const FuzzKernel& kernel) : kernel_(kernel) {}

  /// `tw::kernel("fuzzed", {...}, [](...) { ... })`
  std::string kernel_text();

  void print(const std::vector<Statement>& block);
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }
  /// `tw::Value v3 = expression;`
  void define(const Statement& statement, const std::string& expression);
  /// `head {`, the body, `end`
  void block(const std::string& head, const std::vector<Statement>& body, const char* end = "}");

  void block_body(const std::vector<Statement>& body);

  std::string operand(const FuzzOperand& operand) const;
  std::string operand(const Statement& statement, size_t i) const { return this->operand(statement.operands.at(i)); }
  std::string operands(const Statement& statement) const; // with commas between
  std::string access(const Statement& statement) const;   // x0[t0, tw::_]
  std::string place(const Statement& statement) const;    // x0, {t0, tw::_}
  std::string subscript(const FuzzSubscript& subscript) const;
  std::string shape(const std::vector<Axis>& axes) const; // {t0, 1, n2}
  std::string variable(int variable) const { return numbered('t', variable); }
  std::string size(int extent) const { return numbered('n', extent); }
  std::string block_size(int block) const { return numbered('b', block); }

private:
  void print_sizes();
  void print_allocations();
  void print_results();

  const FuzzKernel& kernel_;
  std::string text_;
  int depth_ = 0;
};

/// The values with commas between, in braces: {1, -1}
std::string braced(std::span<const int64_t> values);

/// A test that fails as the kernel did: the whole text of a file under tests/unit/fuzz.
std::string test_source(const FuzzKernel& kernel, const Config& config, const std::string& name,
                        const std::string& what);

} // namespace tilewright::fuzz
