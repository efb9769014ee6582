#include "fuzz/forms.h"

#include <algorithm>
#include <iterator>

namespace tilewright::fuzz {

const std::vector<const Form*>& forms() {
  static const std::vector<const Form*> all = [] {
    std::vector<const Form*> list;
    for (const std::vector<Form>* table :
         {&memory_forms(), &atomic_forms(), &pointwise_forms(), &reduction_forms(), &combiner_forms(), &matrix_forms(),
          &shape_forms(), &joining_forms(), &sorting_forms(), &creation_forms(), &loop_forms(), &control_forms()})
      for (const Form& form : *table) list.push_back(&form);
    return list;
  }();
  return all;
}

const Form* find_form(std::string_view name) {
  for (const Form* form : forms())
    if (name == form->name) return form;
  return nullptr;
}

std::string numbered(char letter, int64_t number) {
  std::string text = std::to_string(number);
  text.insert(text.begin(), letter);
  return text;
}

const char* name(Layout layout) {
  const char* names[] = {"contiguous", "transposed", "strided", "expanded"};
  return names[static_cast<int>(layout)];
}

const char* name(Contents contents) {
  const char* names[] = {"whole_numbers", "fractions", "special"};
  return names[static_cast<int>(contents)];
}

const char* name(const FuzzSubscript& subscript) {
  bool moved = subscript.kind == FuzzSubscript::Kind::tile && (subscript.shift != 0 || subscript.value >= 0);
  if (moved) return subscript.value >= 0 ? "tile moved by a scalar" : "tile moved by a number";
  const char* names[] = {"tile", "whole", "value", "constant", "none", "slice", "slice_from"};
  static_assert(std::size(names) == kSubscriptKindCount);
  return names[static_cast<int>(subscript.kind)];
}

int64_t DerivedExtent::length(const std::vector<int64_t>& extents) const {
  int64_t own = (a < 0 ? 0 : scale * extents.at(a)) + plus;
  return kind == Kind::sum ? own + extents.at(b) : kind == Kind::product ? own * extents.at(b) : own;
}

void update_extents(FuzzKernel& kernel) {
  for (const DerivedExtent& each : kernel.derived) kernel.extents.at(each.extent) = each.length(kernel.extents);
}

bool is_derived(const FuzzKernel& kernel, int extent) {
  return std::any_of(kernel.derived.begin(), kernel.derived.end(),
                     [&](const DerivedExtent& each) { return each.extent == extent; });
}

} // namespace tilewright::fuzz
