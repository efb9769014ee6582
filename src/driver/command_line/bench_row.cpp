#include "driver/command_line/bench_row.h"

#include "autotune/tuning_log.h"
#include "runtime/cpu_info.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewright {

using nlohmann::ordered_json;

template <class T> static ordered_json json_of(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

static ordered_json json_of(const BenchRow& row) {
  return {{"kernel", row.kernel},
          {"case", row.case_name},
          {"backend", row.backend},
          {"dtype", row.dtype},
          {"us", row.microseconds},
          {"gflops", row.gflops},
          {"gbps", row.gbps},
          {"limit_fraction", row.limit.fraction},
          {"peer", json_of(row.peer)},
          {"peer_us", json_of(row.peer_microseconds)},
          {"speedup", json_of(row.speedup)},
          {"max_rel_err", json_of(row.max_relative_error)},
          {"config", ordered_json::parse(row.config.to_json())}};
}

std::string rows_to_json(const MachineLimits& limits, std::span<const BenchRow> rows) {
  ordered_json machine = {{"cpu", cpu_info().model},
                          {"vector_features", cpu_info().vector_features},
                          {"threads", limits.threads},
                          {"float32_gflops", limits.float32_gflops},
                          {"float64_gflops", limits.float64_gflops},
                          {"copy_gbps", limits.copy_gbps}};
  ordered_json list = ordered_json::array();
  for (const BenchRow& row : rows) list.push_back(json_of(row));
  return ordered_json{{"machine", machine}, {"rows", list}}.dump(2) + "\n";
}

std::string machine_text(const MachineLimits& limits) {
  return fmt::format("{}, {} threads: {:.1f} GFLOP/s of float32 multiply-adds, {:.1f} of float64, copies {:.1f} GB/s",
                     cpu_info().model, limits.threads, limits.float32_gflops, limits.float64_gflops, limits.copy_gbps);
}

static std::vector<std::string> cells_of(const BenchRow& row) {
  bool arithmetic = row.limit.bound == Bound::arithmetic;
  return {row.kernel,
          row.case_name,
          row.dtype,
          time_text(row.default_microseconds),
          time_text(row.microseconds),
          arithmetic ? fmt::format("{:.1f} GFLOP/s", row.gflops) : fmt::format("{:.2f} GB/s", row.gbps),
          fmt::format("{:.0f}% of {}", row.limit.fraction * 100, arithmetic ? "FMA" : "copy"),
          row.peer ? fmt::format("{} {}", *row.peer, time_text(*row.peer_microseconds)) : "-",
          row.peer ? fmt::format("{:.2f}x", *row.speedup) : "-",
          row.max_relative_error ? fmt::format("{:.1e}", *row.max_relative_error) : "-",
          row.right ? "" : "WRONG"};
}

std::string rows_to_table(std::span<const BenchRow> rows) {
  std::vector<std::vector<std::string>> lines = {
      {"kernel", "case", "dtype", "default", "tuned", "rate", "limit", "peer", "speedup", "error", ""}};
  for (const BenchRow& row : rows) lines.push_back(cells_of(row));
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    std::string line_text;
    for (size_t i = 0; i < line.size(); ++i)
      line_text += i < 3 ? fmt::format("{:<{}}  ", line[i], widths[i]) : fmt::format("{:>{}}  ", line[i], widths[i]);
    text += line_text.substr(0, line_text.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

} // namespace tilewright
