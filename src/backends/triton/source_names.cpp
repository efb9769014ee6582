#include "backends/triton/source_names.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace tilewright::triton {

static bool is_word(char c) { return llvm::isAlnum(c) || c == '_'; }

// The identifier that ends a text; empty where it ends with something else.
static StringRef last_word(StringRef text) {
  text = text.rtrim();
  size_t start = text.size();
  while (start > 0 && is_word(text[start - 1])) --start;
  StringRef word = text.drop_front(start);
  // A member or a qualified name is not the line's own.
  bool is_part = start > 0 && (text[start - 1] == '.' || text[start - 1] == ':' || text[start - 1] == '>');
  return word.empty() || llvm::isDigit(word[0]) || is_part ? StringRef() : word;
}

// "a", "[a, b]", "(a, b)" or "a, b" at the end of a text.
static std::vector<std::string> names_at_end(StringRef text) {
  text = text.rtrim();
  if (text.consume_back("]") || text.consume_back(")")) {
    size_t open = text.find_last_of("[(");
    if (open == StringRef::npos) return {};
    if (open > 0 && is_word(text.rtrim()[open - 1])) return {}; // a subscript or a call
    text = text.drop_front(open + 1);
    llvm::SmallVector<StringRef> parts;
    text.split(parts, ',');
    std::vector<std::string> names;
    for (StringRef part : parts) {
      StringRef word = last_word(part);
      if (word.empty() || word.size() != part.trim().size()) return {};
      names.push_back(word.str());
    }
    return names;
  }
  std::vector<std::string> names;
  for (;;) {
    StringRef word = last_word(text);
    if (word.empty()) return {};
    names.insert(names.begin(), word.str());
    text = text.rtrim().drop_back(word.size()).rtrim();
    if (!text.consume_back(",")) return names;
  }
}

std::vector<std::string> loop_variables(StringRef line) {
  size_t start = line.find("for ");
  if (start == StringRef::npos || (start > 0 && is_word(line[start - 1]))) return {};
  StringRef rest = line.drop_front(start + 4);
  if (size_t in = rest.find(" in "); in != StringRef::npos) return names_at_end(rest.take_front(in));
  for (size_t i = 0; i < rest.size(); ++i)
    if (rest[i] == ':' && (i == 0 || rest[i - 1] != ':') && (i + 1 == rest.size() || rest[i + 1] != ':'))
      return names_at_end(rest.take_front(i));
  return {};
}

std::vector<std::string> assigned_names(StringRef line) {
  if (size_t comment = line.find("//"); comment != StringRef::npos) line = line.take_front(comment);
  std::vector<std::string> names;
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != '=' || depth != 0) continue;
    char before = i > 0 ? line[i - 1] : ' ', after = i + 1 < line.size() ? line[i + 1] : ' ';
    if (after == '=' || before == '=' || before == '!' || before == '<' || before == '>') continue;
    StringRef target = line.take_front(i);
    if (StringRef("+-*/|&^%").contains(before)) target = target.drop_back();
    if (std::vector<std::string> found = names_at_end(target); !found.empty())
      names = found;
    else
      return {};
  }
  if (names.empty()) names = loop_variables(line);
  return names;
}

} // namespace tilewright::triton
