// What the fuzzer's kernels were made of, counted; so that nothing is left out unnoticed.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include "config/config_spec.h"
#include "tilewright/config.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::fuzz {

class Coverage {
public:
  /// Everything there is to use: operations, forms, dtypes, layouts, contents, and the options of configs; with the
  /// functions of tilewright/operations.inc that have no form yet.
  static Coverage of_all(const std::vector<DType>& dtypes, const std::vector<std::string>& options);

  void add(const FuzzKernel& kernel);
  /// Counts the options that differ from their defaults.
  void add(const Config& config, const Config& defaults);
  void add(const std::string& kind, const std::string& name, int64_t times = 1) { counts_[{kind, name}] += times; }
  void add(const Coverage& other);

  /// "kind name" of what was not used.
  std::vector<std::string> unused() const;
  /// A table for people.
  std::string report() const;

  /// One line for each that was counted, for a pipe: `kind\tname\tcount`
  std::string lines() const;
  void add_line(const std::string& line);

private:
  std::map<std::pair<std::string, std::string>, int64_t> counts_;
};

} // namespace tilewright::fuzz
