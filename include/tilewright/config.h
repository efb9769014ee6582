// A config: which of a kernel's many implementations is meant. It is a plain value: named options, JSON in and out.
//
//   tw::Config config{{"block_sizes", {64, 128}}, {"loop_orders", {{1, 0}}}, {"pid_type", "flat"}};
//   tw::Config same = tw::Config::from_json(R"({"block_sizes": [64, 128], "loop_orders": [[1, 0]], "pid_type":
//   "flat"})");
//
// Whether a config fits a kernel is not known here; the kernel says so when it is given one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright {

/// The value of one option: null, a bool, an integer, a string, or a list of these (lists nest).
/// There is no default value on purpose, so that `{}` means the empty list.
class ConfigValue {
public:
  using List = std::vector<ConfigValue>;

  ConfigValue(std::nullptr_t) {}
  ConfigValue(bool value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  ConfigValue(T value) : value_(static_cast<int64_t>(value)) {}
  ConfigValue(const char* value) : value_(std::string(value)) {}
  ConfigValue(std::string value) : value_(std::move(value)) {}
  ConfigValue(std::initializer_list<ConfigValue> values) : value_(List(values)) {}
  ConfigValue(List values) : value_(std::move(values)) {}
  template <class T> ConfigValue(const std::vector<T>& values) : value_(List(values.begin(), values.end())) {}
  template <class T>
  ConfigValue(const std::optional<T>& value) : ConfigValue(value ? ConfigValue(*value) : ConfigValue(nullptr)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }

  /// The content; the caller has asked for the kind first (std::bad_variant_access otherwise).
  bool as_bool() const { return std::get<bool>(value_); }
  int64_t as_int() const { return std::get<int64_t>(value_); }
  const std::string& as_string() const { return std::get<std::string>(value_); }
  const List& as_list() const { return std::get<List>(value_); }

  /// `[64, null, "first"]`
  std::string to_json() const;
  /// The same as the C++ text that builds it: `{64, nullptr, "first"}`
  std::string to_cpp() const;

  bool operator==(const ConfigValue& other) const;

private:
  std::variant<std::monostate, bool, int64_t, std::string, List> value_;
};

struct ConfigOption {
  std::string name;
  ConfigValue value;
};

/// Named options in the order of their names, each name once. Equality, printing and hash depend on nothing else, so
/// they are the same in every process and build.
class Config {
public:
  Config() = default;
  /// Throws Error when a name stands there twice.
  Config(std::initializer_list<ConfigOption> options);

  /// Throws Error naming line and column of what is no JSON, or the option whose value cannot be one.
  static Config from_json(std::string_view text);
  /// One line: `{"block_sizes": [64, 128], "pid_type": "flat"}`
  std::string to_json() const;
  /// The C++ expression that builds this config: `tw::Config{{"block_sizes", {64, 128}}, {"pid_type", "flat"}}`
  std::string to_cpp() const;
  /// Of to_json(): the same in every process and version.
  uint64_t hash() const;

  const std::vector<ConfigOption>& options() const { return options_; }
  bool empty() const { return options_.empty(); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Null when there is no such option.
  const ConfigValue* find(std::string_view name) const;

  /// Adds or replaces an option.
  Config& set(std::string_view name, ConfigValue value);
  /// Does nothing when there is no such option.
  Config& erase(std::string_view name);

  // An option by type. Throws Error naming the option when it is missing or holds something else.
  bool get_bool(std::string_view name) const;
  int64_t get_int(std::string_view name) const;
  const std::string& get_string(std::string_view name) const;
  std::vector<bool> get_bools(std::string_view name) const;
  std::vector<int64_t> get_ints(std::string_view name) const;
  /// For lists such as reduction_loops, whose elements may be null.
  std::vector<std::optional<int64_t>> get_optional_ints(std::string_view name) const;
  /// For lists such as loop_orders.
  std::vector<std::vector<int64_t>> get_int_lists(std::string_view name) const;
  std::vector<std::string> get_strings(std::string_view name) const;

  bool operator==(const Config& other) const;

private:
  const ConfigValue& at(std::string_view name) const;

  std::vector<ConfigOption> options_; // sorted by name
};

std::ostream& operator<<(std::ostream& out, const Config& config);

} // namespace tilewright

template <> struct std::hash<tilewright::Config> {
  std::size_t operator()(const tilewright::Config& config) const { return static_cast<std::size_t>(config.hash()); }
};
