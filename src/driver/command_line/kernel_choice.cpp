#include "driver/command_line/kernel_choice.h"

#include "config/nearest_name.h"
#include "support/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tilewright {

std::string no_such(std::string_view kind, std::string_view name, std::span<const std::string> known) {
  if (std::optional<std::string> nearest = nearest_name(name, known))
    return fmt::format("there is no {} \"{}\"; did you mean {}?", kind, name, *nearest);
  if (known.empty()) return fmt::format("there is no {} \"{}\", for there are none", kind, name);
  return fmt::format("there is no {} \"{}\"; there are {}", kind, name, fmt::join(known, ", "));
}

const RegisteredKernel& find_kernel(const std::string& name) {
  if (const RegisteredKernel* kernel = find_registered_kernel(name)) return *kernel;
  std::vector<std::string> known;
  for (const RegisteredKernel* kernel : registered_kernels()) known.push_back(kernel->name);
  fail("{}", no_such("kernel", name, known));
}

const KernelCase& find_case(const RegisteredKernel& kernel, const std::string& name) {
  if (name.empty()) return kernel.cases.front();
  std::vector<std::string> known;
  for (const KernelCase& one : kernel.cases) {
    if (one.name == name) return one;
    known.push_back(one.name);
  }
  fail("{}: {}", kernel.name, no_such("case", name, known));
}

DType find_dtype(const RegisteredKernel& kernel, const std::string& text) {
  if (text.empty()) return kernel.dtypes.front();
  std::vector<std::string> known;
  for (DType dtype : kernel.dtypes) known.emplace_back(name(dtype));
  std::optional<DType> dtype = dtype_from_name(text);
  if (!dtype) fail("{}: {}", kernel.name, no_such("dtype", text, known));
  if (std::ranges::find(kernel.dtypes, *dtype) == kernel.dtypes.end())
    fail("{} does not take {}; it takes {}", kernel.name, text, fmt::join(known, ", "));
  return *dtype;
}

static void set_size(Instance& instance, const RegisteredKernel& kernel, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [name, value] : instance.sizes()) known.push_back(name);
  std::string_view name = text.substr(0, text.find('='));
  if (name.size() == text.size() || name.empty())
    fail("\"{}\" is no size; write --size {}=1000", text, known.empty() ? "n" : known.front());
  if (std::ranges::find(known, name) == known.end()) fail("{}: {}", kernel.name, no_such("size", name, known));
  std::string_view number = text.substr(name.size() + 1);
  int64_t value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || value < 0)
    fail("size {} is \"{}\"; it must be a whole number, 0 or above", name, number);
  instance.set(name, value);
}

void set_sizes(Instance& instance, const RegisteredKernel& kernel, std::span<const std::string> texts) {
  for (std::string_view text : texts)
    for (;;) {
      size_t comma = std::min(text.find(','), text.size());
      set_size(instance, kernel, text.substr(0, comma));
      if (comma == text.size()) break;
      text.remove_prefix(comma + 1);
    }
}

// What the user gave, in the order that the kernel names its sizes.
static std::string sizes_text(const Instance& instance) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : instance.sizes()) texts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(texts, ","));
}

// As RegisteredKernel::make_arguments, but for the elements.
static std::vector<AnyArgument> unset_arguments(const RegisteredKernel& kernel, const Instance& instance) {
  std::vector<AnyArgument> made;
  for (const ArgumentSpec& spec : kernel.specs()) {
    DType dtype = spec.dtype.value_or(instance.dtype());
    if (!spec.sizes) {
      if (is_floating_point(dtype))
        made.emplace_back(spec.value);
      else
        made.emplace_back(static_cast<int64_t>(spec.value));
      continue;
    }
    std::vector<int64_t> sizes;
    for (const std::string& size : *spec.sizes) {
      int64_t number = 0;
      auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
      sizes.push_back(error == std::errc() && end == size.data() + size.size() ? number : instance[size]);
    }
    made.emplace_back(Array::empty(sizes, dtype));
  }
  return made;
}

ChosenCall choose_call(const KernelArguments& arguments, Values values) {
  const RegisteredKernel& kernel = find_kernel(arguments.kernel);
  const KernelCase& one = find_case(kernel, arguments.case_name);
  Instance instance(one.sizes, find_dtype(kernel, arguments.dtype));
  set_sizes(instance, kernel, arguments.sizes);
  std::string case_name = arguments.sizes.empty() ? one.name : sizes_text(instance);
  std::vector<AnyArgument> made =
      values == Values::Random ? kernel.make_arguments(instance, arguments.seed) : unset_arguments(kernel, instance);
  BoundCall call = kernel.bind(made);
  return {&kernel, std::move(instance), std::move(case_name), std::move(made), std::move(call)};
}

ChosenConfig config_for(const PreparedCall& call, const std::string& text) {
  if (text.empty()) {
    if (std::optional<Config> known = call.known_config()) return {*known, "found by tuning"};
    return {default_config(call.spec()), "default"};
  }
  if (text == "default") return {default_config(call.spec()), "default"};
  return {call.complete(Config::from_json(text)), "as given"};
}

} // namespace tilewright
