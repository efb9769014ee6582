// One measured row of `bench`: as JSON for programs, and as a line of a table for people.
#pragma once

#include "driver/command_line/work.h"
#include "runtime/machine_limits.h"
#include "tilewright/config.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct BenchRow {
  std::string kernel, case_name, backend, dtype;
  double microseconds = 0; // with `config`; medians, all of them
  double default_microseconds = 0;
  double gflops = 0, gbps = 0;
  LimitFraction limit = {Bound::memory}; // of the limit measured in turns with the kernel: a median of ratios
  std::optional<std::string> peer = {};
  std::optional<double> peer_microseconds = {};
  std::optional<double> speedup = {};            // the peer's time over the kernel's: a median of ratios too
  std::optional<double> max_relative_error = {}; // nothing where there is no reference
  bool right = true;
  Config config = {};
};

/// {"machine": {...}, "rows": [...]}: what there is none of is null.
std::string rows_to_json(const MachineLimits& limits, std::span<const BenchRow> rows);

/// What the limits are, in one line.
std::string machine_text(const MachineLimits& limits);

/// A header and a line for each row, in columns as wide as they need be.
std::string rows_to_table(std::span<const BenchRow> rows);

} // namespace tilewright
