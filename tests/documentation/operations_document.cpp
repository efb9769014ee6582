// docs/operations.md, from tilewright/operations.inc.
//
//   operations_document PATH                     writes it
//   operations_document --check PATH HEADER ...  fails where PATH is not what the list makes, or where one of the
//                                                headers declares an operation that the list does not have
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kHeading = R"(# Operations

Names, promotion and results are those of PyTorch's functions. Each is a function `tw::name(...)`; pointwise operations
and many others are also methods of their first operand: `tw::exp(x)` is `x.exp()`. Operands are device values, numbers
and sizes; numbers do not widen a value's dtype within its kind. Shapes broadcast.

*takes* says which dtypes the operands of a pointwise operation may have: all, numbers (no bool), bits (integers and
bool), integers, or floats. *gives* is the result's dtype: that of the operands (promoted), float (the same, where
integers and bool become float32), or bool. Whatever is computed of 16-bit floats is computed in float32 and rounded
once. The largest errors are tested to be at most twice those of PyTorch on a CPU, or 1 unit in the last place.

This page is written by `build/bin/operations_document docs/operations.md` from
[operations.inc](../include/tilewright/operations.inc).
)";

// What a table of Markdown would take for the end of a cell.
std::string cell(std::string_view text) {
  std::string result;
  for (char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

class Document {
public:
  Document() : text(kHeading) {}

  void group(std::string_view heading) {
    text += "\n## " + std::string(heading) + "\n\n";
    new_group_ = true;
  }
  void pointwise(std::string_view name, std::string_view signature, std::string_view dtypes, std::string_view result,
                 std::string_view meaning) {
    if (new_group_) text += "| operation | takes | gives | meaning |\n| --- | --- | --- | --- |\n";
    std::string_view gives = result == "keep" ? "the same" : result == "floating" ? "float" : "bool";
    row(name, signature, std::string(dtypes) + " | " + std::string(gives) + " | ", meaning);
  }
  void listed(std::string_view name, std::string_view signature, std::string_view meaning) {
    if (new_group_) text += "| operation | meaning |\n| --- | --- |\n";
    row(name, signature, "", meaning);
  }

  std::string text;
  std::set<std::string, std::less<>> names;

private:
  void row(std::string_view name, std::string_view signature, const std::string& columns, std::string_view meaning) {
    new_group_ = false;
    names.emplace(name);
    text += "| `" + cell(signature) + "` | " + columns + cell(meaning) + " |\n";
  }
  bool new_group_ = false;
};

Document document() {
  Document d;
#define TILEWRIGHT_GROUP(heading) d.group(heading);
#define TILEWRIGHT_UNARY(name, dtypes, result, build, reference, meaning)                                              \
  d.pointwise(#name, #name "(x)", #dtypes, #result, meaning);
#define TILEWRIGHT_UNARY_1(name, p, p_default, dtypes, result, build, reference, meaning)                              \
  d.pointwise(#name, #name "(x, " #p " = " #p_default ")", #dtypes, #result, meaning);
#define TILEWRIGHT_UNARY_2(name, p, p_default, q, q_default, dtypes, result, build, reference, meaning)                \
  d.pointwise(#name, #name "(x, " #p " = " #p_default ", " #q " = " #q_default ")", #dtypes, #result, meaning);
#define TILEWRIGHT_BINARY(name, dtypes, result, build, reference, meaning)                                             \
  d.pointwise(#name, #name "(a, b)", #dtypes, #result, meaning);
#define TILEWRIGHT_TERNARY(name, dtypes, result, build, reference, meaning)                                            \
  d.pointwise(#name, #name "(a, b, c)", #dtypes, #result, meaning);
#define TILEWRIGHT_TERNARY_1(name, p, p_default, dtypes, result, build, reference, meaning)                            \
  d.pointwise(#name, #name "(a, b, c, " #p " = " #p_default ")", #dtypes, #result, meaning);
#define TILEWRIGHT_VARIANT(name, spelling, operands, dtypes, result, build, reference, meaning)                        \
  d.pointwise(#name, #spelling, #dtypes, #result, meaning);
#define TILEWRIGHT_LISTED(name, signature, meaning) d.listed(#name, signature, meaning);
#include "tilewright/operations.inc"
  return d;
}

std::string read(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int check_header(const char* header, const Document& document) {
  std::string declarations = read(header);
  if (declarations.empty()) {
    std::cerr << header << " cannot be read\n";
    return 1;
  }
  std::regex declaration(R"(\n(?:(?:Value|void|auto|StaticRange|std::\w+<.*>) (\w+)\(|TILEWRIGHT_ATOMIC\((\w+)\)))");
  int failures = 0;
  for (std::sregex_iterator at(declarations.begin(), declarations.end(), declaration), end; at != end; ++at) {
    std::string name = (*at)[1].matched ? (*at)[1] : (*at)[2];
    if (name.starts_with("record_") || document.names.contains(name)) continue; // those are in namespace detail
    std::cerr << header << " declares " << name << ", which operations.inc does not list\n";
    ++failures;
  }
  return failures;
}

int check(const char* path, std::span<char*> headers) {
  Document expected = document();
  int failures = 0;
  if (read(path) != expected.text) {
    std::cerr << path << " is not what operations.inc makes; run: build/bin/operations_document docs/operations.md\n";
    ++failures;
  }
  for (const char* header : headers) failures += check_header(header, expected);
  return failures;
}

} // namespace

int main(int count, char** arguments) {
  if (count > 3 && std::string_view(arguments[1]) == "--check")
    return check(arguments[2], std::span(arguments + 3, arguments + count));
  if (count != 2) {
    std::cerr << "usage: operations_document PATH | --check PATH HEADER ...\n";
    return 2;
  }
  std::ofstream(arguments[1]) << document().text;
}
