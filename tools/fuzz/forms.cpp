#include "fuzz/forms.h"

namespace tilewright::fuzz {

const std::vector<const Form*>& forms() {
  static const std::vector<const Form*> all = [] {
    std::vector<const Form*> list;
    for (const std::vector<Form>* table : {&memory_forms(), &pointwise_forms(), &reduction_forms(), &matrix_forms(),
                                           &shape_forms(), &creation_forms(), &loop_forms(), &control_forms()})
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

} // namespace tilewright::fuzz
