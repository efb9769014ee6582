#include "fuzz/print_kernel.h"

#include "fuzz/forms.h"
#include "fuzz/larger_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tilewright::fuzz {

std::string braced(std::span<const int64_t> values) { return fmt::format("{{{}}}", fmt::join(values, ", ")); }

static std::string literal(const FuzzOperand& operand) {
  switch (operand.kind) {
  case FuzzOperand::Kind::integer: return fmt::format("{}", static_cast<int64_t>(operand.number));
  case FuzzOperand::Kind::boolean: return operand.number != 0 ? "true" : "false";
  default: break;
  }
  if (std::isinf(operand.number)) return operand.number > 0 ? "HUGE_VAL" : "-HUGE_VAL";
  std::string text = fmt::format("{}", operand.number);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string Printer::operand(const FuzzOperand& operand) const {
  if (operand.kind == FuzzOperand::Kind::value) return numbered('v', operand.value);
  if (operand.kind == FuzzOperand::Kind::extent) return size(static_cast<int>(operand.number));
  return literal(operand);
}

std::string Printer::operands(const Statement& statement) const {
  std::vector<std::string> texts;
  for (const FuzzOperand& each : statement.operands) texts.push_back(operand(each));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string Printer::access(const Statement& statement) const {
  std::vector<std::string> texts;
  for (const FuzzSubscript& subscript : statement.subscripts) texts.push_back(this->subscript(subscript));
  return fmt::format("x{}[{}]", statement.tensor, fmt::join(texts, ", "));
}

std::string Printer::place(const Statement& statement) const {
  std::vector<std::string> texts;
  for (const FuzzSubscript& subscript : statement.subscripts) texts.push_back(this->subscript(subscript));
  return fmt::format("x{}, {{{}}}", statement.tensor, fmt::join(texts, ", "));
}

std::string Printer::subscript(const FuzzSubscript& subscript) const {
  std::string value = numbered('v', subscript.value);
  auto bound = [](int64_t at) { return at == 0 ? "tw::none" : std::to_string(at); };
  switch (subscript.kind) {
  case FuzzSubscript::Kind::tile:
    if (subscript.value >= 0) return variable(subscript.index) + " + " + value;
    if (subscript.shift == 0) return variable(subscript.index);
    return fmt::format("{} {} {}", variable(subscript.index), subscript.shift < 0 ? '-' : '+',
                       std::abs(subscript.shift));
  case FuzzSubscript::Kind::value: return value;
  case FuzzSubscript::Kind::constant: return std::to_string(subscript.index);
  case FuzzSubscript::Kind::none: return "tw::none";
  case FuzzSubscript::Kind::slice:
    return fmt::format("tw::slice({}, {}, {})", bound(subscript.first), bound(-subscript.tail), subscript.step);
  case FuzzSubscript::Kind::slice_from: return fmt::format("tw::slice_from({}, {})", value, size(subscript.index));
  case FuzzSubscript::Kind::whole: break;
  }
  return "tw::_";
}

std::string Printer::shape(const std::vector<Axis>& axes) const {
  std::vector<std::string> texts;
  for (const Axis& axis : axes)
    texts.push_back(axis.kind == Axis::Kind::tile    ? variable(axis.index)
                    : axis.kind == Axis::Kind::whole ? size(axis.index)
                    : axis.kind == Axis::Kind::block ? block_size(axis.index)
                                                     : "1");
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

void Printer::define(const Statement& statement, const std::string& expression) {
  line(fmt::format("tw::Value v{} = {};", statement.result, expression));
}

void Printer::block(const std::string& head, const std::vector<Statement>& body, const char* end) {
  line(head + " {");
  block_body(body);
  line(end);
}

void Printer::block_body(const std::vector<Statement>& body) {
  ++depth_;
  print(body);
  --depth_;
}

void Printer::print(const std::vector<Statement>& block) {
  for (const Statement& statement : block) statement.form->print(*this, statement);
}

// Only the extents that something names.
void Printer::print_sizes() {
  for (size_t extent = 0; extent < kernel_.extents.size(); ++extent) {
    std::string from = std::to_string(kernel_.extents[extent]);
    bool used = false;
    for (size_t t = kernel_.tensors.size(); t-- > 0;) {
      const FuzzTensor& tensor = kernel_.tensors[t];
      for (size_t dim = 0; dim < tensor.extents.size(); ++dim) {
        if (tensor.extents[dim] != static_cast<int>(extent)) continue;
        used |= tensor.allocated;
        if (!tensor.allocated) from = fmt::format("x{}.size({})", t, dim);
      }
    }
    auto names = [&](const Axis& axis) {
      return axis.kind == Axis::Kind::whole && axis.index == static_cast<int>(extent);
    };
    for_each_statement(kernel_.body, [&](const Statement& statement) {
      for (const FuzzOperand& operand : statement.operands)
        used |= operand.kind == FuzzOperand::Kind::extent && operand.number == static_cast<double>(extent);
      for (const FuzzSubscript& subscript : statement.subscripts)
        used |= subscript.kind == FuzzSubscript::Kind::slice_from && subscript.index == static_cast<int>(extent);
      if (statement.tensor < 0)
        for (const Axis& axis : statement.type.axes) used |= names(axis);
    });
    used |= std::find(kernel_.blocks.begin(), kernel_.blocks.end(), extent) != kernel_.blocks.end();
    if (used) line(fmt::format("[[maybe_unused]] const tw::Size n{} = {};", extent, from));
  }
}

void Printer::print_allocations() {
  for (size_t t = 0; t < kernel_.tensors.size(); ++t) {
    const FuzzTensor& tensor = kernel_.tensors[t];
    if (!tensor.allocated) continue;
    std::vector<std::string> sizes;
    for (int extent : tensor.extents) sizes.push_back(size(extent));
    line(fmt::format("tw::Tensor x{} = tw::empty({{{}}}, tw::{}){};", t, fmt::join(sizes, ", "),
                     tensor.dtype == boolean ? "boolean" : tilewright::name(tensor.dtype),
                     tensor.fill ? fmt::format(".fill({})", *tensor.fill) : ""));
  }
  for (size_t i = 0; i < kernel_.blocks.size(); ++i)
    line(fmt::format("const auto {} = tw::register_block_size({});", block_size(static_cast<int>(i)),
                     size(kernel_.blocks[i])));
}

void Printer::print_results() {
  std::vector<std::string> results;
  for (size_t t = 0; t < kernel_.tensors.size(); ++t)
    if (kernel_.tensors[t].allocated) results.push_back(numbered('x', static_cast<int64_t>(t)));
  if (results.size() == 1) line(fmt::format("return {};", results[0]));
  if (results.size() > 1) line(fmt::format("return std::make_tuple({});", fmt::join(results, ", ")));
}

static const char* cpp_type(DType dtype) {
  switch (dtype) {
  case float32: return "float";
  case float64: return "double";
  case int32: return "int32_t";
  case int64: return "int64_t";
  default: return "bool";
  }
}

std::string Printer::kernel_text() {
  text_.clear();
  std::vector<std::string> names, parameters;
  for (size_t t = 0; t < kernel_.tensors.size(); ++t) {
    if (kernel_.tensors[t].allocated) continue;
    names.push_back(fmt::format("\"x{}\"", t));
    parameters.push_back(fmt::format("tw::Tensor x{}", t));
  }
  for (size_t s = 0; s < kernel_.numbers.size(); ++s) {
    names.push_back(fmt::format("\"s{}\"", s));
    parameters.push_back(fmt::format("tw::Scalar<{}> s{}", cpp_type(kernel_.numbers[s].dtype), s));
  }
  line(fmt::format("tw::kernel(\"fuzzed\", {{{}}}, []({}) {{", fmt::join(names, ", "), fmt::join(parameters, ", ")));
  ++depth_;
  print_sizes();
  print_allocations();
  print(kernel_.body);
  print_results();
  --depth_;
  line("})");
  text_.pop_back();
  return text_;
}

// With commas between.
static std::string arguments_of(const FuzzKernel& kernel) {
  std::vector<std::string> arguments;
  for (size_t t = 0; t < kernel.tensors.size(); ++t) {
    const FuzzTensor& tensor = kernel.tensors[t];
    if (tensor.allocated) continue;
    std::vector<int64_t> sizes;
    for (int extent : tensor.extents) sizes.push_back(kernel.extents[extent]);
    arguments.push_back(fmt::format("input({}, tw::{}, Layout::{}, Contents::{}, {}, {})", braced(sizes),
                                    tensor.dtype == boolean ? "boolean" : tilewright::name(tensor.dtype),
                                    fuzz::name(tensor.layout), fuzz::name(tensor.contents), tensor.aligned,
                                    kernel.seed + t));
  }
  for (const FuzzNumber& number : kernel.numbers)
    arguments.push_back(fmt::format("{}({})", cpp_type(number.dtype), number.value));
  return fmt::format("{}", fmt::join(arguments, ", "));
}

std::string test_source(const FuzzKernel& kernel, const Config& config, const std::string& name,
                        const std::string& what) {
  std::string text =
      "#include \"fuzz/check_call.h\"\n#include \"fuzz/inputs.h\"\n#include \"tilewright/tilewright.h\"\n\n"
      "#include <gtest/gtest.h>\n\nnamespace tw = tilewright;\nusing namespace tilewright::fuzz;\n\n";
  for (size_t begin = 0; begin < what.size();) {
    size_t end = std::min(what.find('\n', begin), what.size());
    text += "// " + what.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  text += fmt::format("TEST(fuzz, {}) {{\n  const auto kernel = ", name);
  for (char c : Printer(kernel).kernel_text()) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  const char* with = kernel.run_time_sizes ? ".with(run_time_sizes())" : "";
  text += fmt::format(";\n  auto call = kernel.bind({}){};\n  EXPECT_EQ(check(call, {}), \"\");\n",
                      arguments_of(kernel), with, config.to_cpp());
  if (std::optional<FuzzKernel> larger = kernel.run_time_sizes ? with_larger_sizes(kernel) : std::nullopt)
    text += fmt::format("  auto larger = kernel.bind({}){};\n  EXPECT_EQ(check_other(call, larger, {}), \"\");\n",
                        arguments_of(*larger), with, config.to_cpp());
  return text + "}\n";
}

} // namespace tilewright::fuzz
