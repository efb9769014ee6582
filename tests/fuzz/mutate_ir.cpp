#include "mutate_ir.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace tilewright::fuzz {
namespace {

using Words = std::vector<std::string>;

size_t below(size_t limit, std::mt19937& random) { return random() % std::max<size_t>(limit, 1); }

enum class Kind { number, value, symbol, name, blank, other };

Kind kind_of(const std::string& word) {
  unsigned char first = word[0];
  if (std::isdigit(first)) return Kind::number;
  if (first == '%') return Kind::value;
  if (first == '#' || first == '!' || first == '@' || first == '^') return Kind::symbol;
  if (std::isalpha(first) || first == '_') return Kind::name;
  return std::isspace(first) ? Kind::blank : Kind::other;
}

Words words_of(std::string_view text) {
  Words words;
  for (size_t at = 0; at < text.size();) {
    auto part_of_word = [&](char c) { return std::isalnum((unsigned char)c) || c == '_' || c == '.'; };
    size_t end = at + 1;
    if (std::isdigit((unsigned char)text[at]))
      while (end < text.size() && std::isdigit((unsigned char)text[end])) ++end;
    else if (part_of_word(text[at]) || std::string_view("%#!@^").find(text[at]) != std::string_view::npos)
      while (end < text.size() && part_of_word(text[end])) ++end;
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

Words lines_of(std::string_view text) {
  Words lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string joined(const Words& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

const char* const kNumbers[] = {"0",
                                "1",
                                "2",
                                "3",
                                "7",
                                "8",
                                "16",
                                "64",
                                "255",
                                "1024",
                                "4096",
                                "2147483647",
                                "4294967296",
                                "9223372036854775807",
                                "9223372036854775808",
                                "99999999999999999999"};
const char* const kNames[] = {"f32", "f64", "bf16", "f16",   "i1", "i8", "i32", "i64", "index", "add",   "mul",   "max",
                              "min", "any", "true", "false", "b0", "b1", "r0",  "s0",  "whole", "valid", "tensor"};
const char* const kPunctuation[] = {"-", "*", "?", "_", ",", ":", "x",  "[", "]",
                                    "{", "}", "(", ")", "<", ">", "[]", "<>"};

template <size_t N> std::string one_of(const char* const (&list)[N], std::mt19937& random) {
  return list[below(N, random)];
}

// Another word that could stand where this one does: often one of the text itself.
std::string other_word(const Words& words, const std::string& word, std::mt19937& random) {
  Kind kind = kind_of(word);
  if (random() % 3 == 0) {
    if (kind == Kind::number) return one_of(kNumbers, random);
    if (kind == Kind::name) return one_of(kNames, random);
    if (kind == Kind::other) return one_of(kPunctuation, random);
  }
  Words same;
  for (const std::string& each : words)
    if (kind_of(each) == kind) same.push_back(each);
  return same[below(same.size(), random)];
}

std::string change_word(std::string_view text, std::mt19937& random) {
  Words words = words_of(text);
  if (words.empty()) return std::string(text);
  size_t at = below(words.size(), random);
  while (at + 1 < words.size() && kind_of(words[at]) == Kind::blank) ++at;
  switch (random() % 8) {
  case 0: words[at].clear(); break;
  case 1: words[at] += words[at]; break;
  default: words[at] = other_word(words, words[at], random);
  }
  return joined(words);
}

// Every `from` becomes a `to`, as in a type that is used throughout.
std::string change_all(std::string_view text, std::mt19937& random) {
  Words words = words_of(text);
  if (words.empty()) return std::string(text);
  std::string from = words[below(words.size(), random)];
  if (kind_of(from) == Kind::blank || kind_of(from) == Kind::other) return change_word(text, random);
  std::string to = other_word(words, from, random);
  std::replace(words.begin(), words.end(), from, to);
  return joined(words);
}

std::string change_lines(std::string_view text, std::mt19937& random) {
  Words lines = lines_of(text);
  if (lines.empty()) return std::string(text);
  size_t a = below(lines.size(), random), b = below(lines.size(), random);
  switch (random() % 3) {
  case 0: lines.erase(lines.begin() + a); break;
  case 1: lines.insert(lines.begin() + b, std::string(lines[a])); break;
  default: std::swap(lines[a], lines[b]);
  }
  return joined(lines);
}

} // namespace

std::string mutate_ir(std::string_view text, std::mt19937& random) {
  std::string result(text);
  for (size_t i = 0, count = 1 + below(3, random); i < count; ++i) {
    size_t choice = random() % 8;
    result = choice < 4   ? change_word(result, random)
             : choice < 6 ? change_all(result, random)
                          : change_lines(result, random);
  }
  return result;
}

std::string cross_ir(std::string_view text, std::string_view other, std::mt19937& random) {
  Words lines = lines_of(text), given = lines_of(other);
  if (given.empty()) return std::string(text);
  size_t from = below(given.size(), random), count = std::min(1 + below(4, random), given.size() - from);
  lines.insert(lines.begin() + below(lines.size() + 1, random), given.begin() + from, given.begin() + from + count);
  return joined(lines);
}

} // namespace tilewright::fuzz
