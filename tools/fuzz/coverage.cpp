#include "fuzz/coverage.h"

#include "fuzz/forms.h"
#include "fuzz/operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright::fuzz {

// The functions that are no pointwise operations.
static const std::vector<std::string>& listed_functions() {
  static const std::vector<std::string> names{
#define TILEWRIGHT_LISTED(name, ...) #name,
#include "tilewright/operations.inc"
  };
  return names;
}

Coverage Coverage::of_all(const std::vector<DType>& dtypes, const std::vector<std::string>& options) {
  Coverage all;
  for (const Operation& operation : operations()) all.add("operation", operation.name, 0);
  for (const Form* form : forms())
    if (std::string_view(form->name) != "pointwise" && std::string_view(form->name) != "collecting")
      all.add("form", form->name, 0); // these are of other forms
  for (const char* name : {"register_block_size", "fixed block size", "several outermost loops"})
    all.add("form", name, 0);
  for (int kind = 0; kind < kSubscriptKindCount; ++kind)
    all.add("subscript", name(FuzzSubscript{static_cast<FuzzSubscript::Kind>(kind)}), 0);
  FuzzSubscript moved = FuzzSubscript::tile(0);
  moved.shift = 1;
  all.add("subscript", name(moved), 0);
  moved.value = 0;
  all.add("subscript", name(moved), 0);
  for (const std::string& name : listed_functions())
    if (!find_form(name)) all.add("form", name, 0);
  for (DType dtype : dtypes) all.add("dtype", std::string(name(dtype)), 0);
  for (const std::string& option : options) all.add("option", option, 0);
  for (const char* name : {"static", "at run time", "larger ones, of a specialisation"}) all.add("sizes", name, 0);
  for (int i = 0; i < kLayoutCount; ++i) all.add("layout", name(static_cast<Layout>(i)), 0);
  for (int i = 0; i < kContentsCount; ++i) all.add("contents", name(static_cast<Contents>(i)), 0);
  return all;
}

void Coverage::add(const FuzzKernel& kernel) {
  for_each_statement(kernel.body, [&](const Statement& statement) {
    if (statement.operation)
      add("operation", statement.operation->name);
    else
      add("form", statement.form->name);
    for (const FuzzSubscript& subscript : statement.subscripts) add("subscript", name(subscript));
    if (std::string_view(statement.form->name).starts_with("tile") && !statement.variables.empty())
      for (size_t i = 1; i < statement.numbers.size(); ++i)
        if (statement.numbers[i] > 0) add("form", "fixed block size");
  });
  add("sizes", kernel.run_time_sizes ? "at run time" : "static");
  if (!kernel.blocks.empty()) add("form", "register_block_size");
  if (kernel.body.size() > 1) add("form", "several outermost loops");
  for (const FuzzTensor& tensor : kernel.tensors) {
    add("dtype", std::string(name(tensor.dtype)));
    if (tensor.allocated) continue;
    add("layout", name(tensor.layout));
    add("contents", name(tensor.contents));
  }
}

void Coverage::add(const Config& config, const Config& defaults) {
  for (const ConfigOption& option : config.options())
    if (const ConfigValue* usual = defaults.find(option.name); !usual || !(*usual == option.value))
      add("option", option.name);
}

void Coverage::add(const Coverage& other) {
  for (const auto& [key, count] : other.counts_) counts_[key] += count;
}

std::vector<std::string> Coverage::unused() const {
  std::vector<std::string> names;
  for (const auto& [key, count] : counts_)
    if (count == 0) names.push_back(key.first + " " + key.second);
  return names;
}

std::string Coverage::report() const {
  std::string text, kind;
  int column = 0;
  for (const auto& [key, count] : counts_) {
    if (key.first != kind) {
      kind = key.first;
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", kind);
      column = 0;
    } else if (column % 4 == 0) {
      text += "\n";
    }
    text += fmt::format("  {:>7} {:<28}", count, key.second);
    ++column;
  }
  return text + "\n";
}

std::string Coverage::lines() const {
  std::string text;
  for (const auto& [key, count] : counts_) text += fmt::format("{}\t{}\t{}\n", key.first, key.second, count);
  return text;
}

void Coverage::add_line(const std::string& line) {
  size_t first = line.find('\t'), second = line.find('\t', first + 1);
  if (second == std::string::npos) return;
  add(line.substr(0, first), line.substr(first + 1, second - first - 1), std::stoll(line.substr(second + 1)));
}

} // namespace tilewright::fuzz
