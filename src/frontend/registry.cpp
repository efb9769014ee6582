#include "tilewright/registry.h"

#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>

namespace tilewright {

//===----------------------------------------------------------------------===//
// Sizes by name
//===----------------------------------------------------------------------===//

static const int64_t* find_size(const std::vector<std::pair<std::string, int64_t>>& sizes, std::string_view name) {
  for (const auto& [known, value] : sizes)
    if (known == name) return &value;
  return nullptr;
}

[[noreturn]] static void fail_unknown_size(const Instance& instance, std::string_view name) {
  std::string names;
  for (const auto& [known, value] : instance.sizes()) names += (names.empty() ? "" : ", ") + known;
  fail("there is no size {}; there are {}", name, names.empty() ? "none" : names);
}

int64_t Instance::operator[](std::string_view name) const {
  const int64_t* value = find_size(sizes_, name);
  if (!value) fail_unknown_size(*this, name);
  return *value;
}

void Instance::set(std::string_view name, int64_t value) {
  if (value < 0) fail("size {} cannot be {}", name, value);
  if (!find_size(sizes_, name)) fail_unknown_size(*this, name);
  for (auto& [known, old] : sizes_)
    if (known == name) old = value;
}

//===----------------------------------------------------------------------===//
// Argument texts
//===----------------------------------------------------------------------===//

static std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

static bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

static int64_t to_integer(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

ArgumentSpec ArgumentSpec::parse(std::string_view text) {
  auto refuse = [&](std::string_view why) {
    fail("argument \"{}\": {}; write \"x: float32[m, k]\", \"x: T[m]\" or \"scale: float32 = 0.5\"", text, why);
  };
  ArgumentSpec spec;
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse("there is no \":\" after its name");
  spec.name = trimmed(text.substr(0, colon));
  if (spec.name.empty()) refuse("it has no name");
  std::string_view type = trimmed(text.substr(colon + 1));

  size_t bracket = type.find('['), equals = type.find('=');
  std::string_view dtype = trimmed(type.substr(0, std::min(bracket, equals)));
  if (dtype != "T") {
    spec.dtype = dtype_from_name(dtype);
    if (!spec.dtype) refuse(fmt::format("\"{}\" is no dtype", dtype));
  }
  if (bracket == std::string_view::npos) {
    if (equals == std::string_view::npos) refuse("an array has sizes in [], and a number a value after =");
    std::string number(trimmed(type.substr(equals + 1)));
    char* end = nullptr;
    spec.value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != 0) refuse(fmt::format("\"{}\" is no number", number));
    return spec;
  }
  if (type.back() != ']') refuse("its sizes do not end with ]");
  spec.sizes.emplace();
  std::string_view list = trimmed(type.substr(bracket + 1, type.size() - bracket - 2));
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    std::string_view size = trimmed(list.substr(0, comma));
    if (size.empty()) refuse("a size is missing");
    spec.sizes->emplace_back(size);
    list = trimmed(list.substr(std::min(comma + 1, list.size())));
  }
  return spec;
}

//===----------------------------------------------------------------------===//
// Registered kernels
//===----------------------------------------------------------------------===//

std::vector<ArgumentSpec> RegisteredKernel::specs() const {
  std::vector<ArgumentSpec> specs;
  for (const std::string& text : arguments) specs.push_back(ArgumentSpec::parse(text));
  return specs;
}

Instance RegisteredKernel::default_instance() const { return Instance(cases.front().sizes, dtypes.front()); }

static int64_t size_in(const Instance& instance, const std::string& size) {
  return is_number(size) ? to_integer(size) : instance[size];
}

std::vector<AnyArgument> RegisteredKernel::make_arguments(const Instance& instance, uint64_t seed) const {
  std::vector<AnyArgument> made;
  for (const ArgumentSpec& spec : specs()) {
    DType dtype = spec.dtype.value_or(instance.dtype());
    uint64_t own_seed = seed + 0x9e3779b97f4a7c15u * (made.size() + 1); // every array has other numbers
    if (!spec.sizes) {
      if (is_floating_point(dtype))
        made.emplace_back(spec.value);
      else
        made.emplace_back(static_cast<int64_t>(spec.value));
      continue;
    }
    IndexList sizes;
    for (const std::string& size : *spec.sizes) sizes.push_back(size_in(instance, size));
    if (is_floating_point(dtype))
      made.emplace_back(Array::randn(sizes, own_seed, dtype));
    else
      made.emplace_back(Array::randint(0, dtype == DType::boolean ? 2 : 100, sizes, own_seed, dtype));
  }
  if (prepare) prepare(made, instance);
  return made;
}

void RegisteredKernel::check_arguments(std::span<const AnyArgument> given) const {
  std::vector<ArgumentSpec> expected = specs();
  if (given.size() != expected.size())
    fail("kernel {} takes {} arguments, found {}", name, expected.size(), given.size());
  std::map<std::string, int64_t> sizes;
  std::optional<DType> common; // T
  for (size_t i = 0; i < given.size(); ++i) {
    const ArgumentSpec& spec = expected[i];
    if (given[i].is_array() != spec.sizes.has_value())
      fail("{} of kernel {} is {}, found {}", spec.name, name, spec.sizes ? "an array" : "a number",
           given[i].is_array() ? "an array" : "a number");
    if (!spec.sizes) continue;
    const Array& array = given[i].array();
    if (!spec.dtype && !common) {
      common = array.dtype();
      if (std::find(dtypes.begin(), dtypes.end(), *common) == dtypes.end())
        fail("{} of kernel {} is {}, which it does not take", spec.name, name, tilewright::name(*common));
    }
    DType dtype = spec.dtype ? *spec.dtype : *common;
    if (array.dtype() != dtype)
      fail("{} of kernel {} is {}, found {}", spec.name, name, tilewright::name(dtype),
           tilewright::name(array.dtype()));
    if (array.rank() != static_cast<int>(spec.sizes->size()))
      fail("{} of kernel {} has rank {}, found {}", spec.name, name, spec.sizes->size(), array.rank());
    for (int dim = 0; dim < array.rank(); ++dim) {
      const std::string& size = (*spec.sizes)[dim];
      int64_t known = is_number(size) ? to_integer(size) : sizes.try_emplace(size, array.size(dim)).first->second;
      if (array.size(dim) != known)
        fail("{} of kernel {} has size {} in dimension {}, where {} is {}", spec.name, name, array.size(dim), dim, size,
             known);
    }
  }
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<RegisteredKernel>, std::less<>> kernels;
};

} // namespace

// Made by the first file that registers something, in whatever order files are initialised.
static Registry& registry() {
  static auto* made = new Registry();
  return *made;
}

void register_kernel(RegisteredKernel kernel) {
  if (kernel.cases.empty()) fail("kernel {} is registered without a case, which says its sizes", kernel.name);
  if (kernel.dtypes.empty()) fail("kernel {} is registered without a dtype", kernel.name);
  for (const ArgumentSpec& spec : kernel.specs()) {
    if (!spec.sizes) continue;
    for (const std::string& size : *spec.sizes)
      for (const KernelCase& one : kernel.cases)
        if (!is_number(size) && !find_size(one.sizes, size))
          fail("case {} of kernel {} does not say what {} is", one.name, kernel.name, size);
  }
  std::lock_guard lock(registry().mutex);
  auto [at, added] = registry().kernels.try_emplace(kernel.name);
  if (!added) fail("a kernel named {} is registered already", kernel.name);
  at->second = std::make_unique<RegisteredKernel>(std::move(kernel));
}

std::vector<const RegisteredKernel*> registered_kernels() {
  std::lock_guard lock(registry().mutex);
  std::vector<const RegisteredKernel*> all;
  for (const auto& [name, kernel] : registry().kernels) all.push_back(kernel.get());
  return all;
}

const RegisteredKernel* find_registered_kernel(std::string_view name) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().kernels.find(name);
  return found == registry().kernels.end() ? nullptr : found->second.get();
}

} // namespace tilewright
