#include "fuzz/operations.h"

#include <algorithm>
#include <cctype>

namespace tilewright::fuzz {
namespace {

std::string call_source(const char* name, int arity) {
  std::string text = std::string("tw::") + name + "(";
  for (int i = 0; i < arity; ++i) text += (i ? ", $" : "$") + std::to_string(i);
  return text + ")";
}

// The spelling of a variant has the parameters a, b and c: `div(a, b, "floor")`.
[[maybe_unused]] std::string variant_source(const std::string& spelling) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '"'; };
  std::string text = "tw::";
  for (size_t i = 0; i < spelling.size(); ++i) {
    bool alone = (i == 0 || !is_word(spelling[i - 1])) && (i + 1 == spelling.size() || !is_word(spelling[i + 1]));
    if (alone && spelling[i] >= 'a' && spelling[i] <= 'c')
      text += std::string("$") + static_cast<char>('0' + spelling[i] - 'a');
    else
      text += spelling[i];
  }
  return text;
}

// The operands of a variant, by the names that its spelling uses.
#define FUZZ_OPERANDS [[maybe_unused]] const Operand &a = o[0], &b = o[1], &c = o[2]

const Operation kNamed[] = {
#define TILEWRIGHT_UNARY(name, ...)                                                                                    \
  {#name, 1, [](const Operand* o) -> Value { return tilewright::name(o[0]); }, call_source(#name, 1)},
#define TILEWRIGHT_UNARY_1(name, ...) TILEWRIGHT_UNARY(name)
#define TILEWRIGHT_UNARY_2(name, ...) TILEWRIGHT_UNARY(name)
#define TILEWRIGHT_BINARY(name, ...)                                                                                   \
  {#name, 2, [](const Operand* o) -> Value { return tilewright::name(o[0], o[1]); }, call_source(#name, 2)},
#define TILEWRIGHT_TERNARY(name, ...)                                                                                  \
  {#name, 3, [](const Operand* o) -> Value { return tilewright::name(o[0], o[1], o[2]); }, call_source(#name, 3)},
#define TILEWRIGHT_TERNARY_1(name, ...) TILEWRIGHT_TERNARY(name)
#define TILEWRIGHT_VARIANT(name, spelling, operands, ...)                                                              \
  {#name, operands,                                                                                                    \
   [](const Operand* o) -> Value {                                                                                     \
     FUZZ_OPERANDS;                                                                                                    \
     return tilewright::spelling;                                                                                      \
   },                                                                                                                  \
   variant_source(#spelling)},
#include "tilewright/operations.inc"
};

// The operators of tw::Value are forms of C++, and not among the functions.
const Operation kOperators[] = {
#define FUZZ_INFIX(op) {"operator " #op, 2, [](const Operand* o) -> Value { return o[0] op o[1]; }, "$0 " #op " $1"},
    FUZZ_INFIX(+) FUZZ_INFIX(-) FUZZ_INFIX(*) FUZZ_INFIX(/) FUZZ_INFIX(%) FUZZ_INFIX(&) FUZZ_INFIX(|) FUZZ_INFIX(^)
        FUZZ_INFIX(==) FUZZ_INFIX(!=) FUZZ_INFIX(<) FUZZ_INFIX(<=) FUZZ_INFIX(>) FUZZ_INFIX(>=)
#undef FUZZ_INFIX
            {"operator unary -", 1, [](const Operand* o) -> Value { return -o[0]; }, "-$0"},
    {"operator ~", 1, [](const Operand* o) -> Value { return ~o[0]; }, "~$0"},
};

} // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> list(std::begin(kNamed), std::end(kNamed));
    list.insert(list.end(), std::begin(kOperators), std::end(kOperators));
    return list;
  }();
  return all;
}

std::string expression(const Operation& operation, std::span<const std::string> operands) {
  std::string text;
  for (size_t i = 0; i < operation.source.size(); ++i) {
    if (operation.source[i] == '$')
      text += operands[operation.source[++i] - '0'];
    else
      text += operation.source[i];
  }
  return text;
}

} // namespace tilewright::fuzz
