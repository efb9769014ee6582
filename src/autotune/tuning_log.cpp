#include "autotune/tuning_log.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <span>

namespace tilewright {
namespace {

// One bad compiler can give every candidate a reason of its own: the log stays one screen.
constexpr size_t kMostReasons = 8;

std::string stamp(double seconds) { return fmt::format("[{:6.1f} s]", seconds); }

size_t count_of(const TuningResult& result, Outcome outcome) {
  auto at = result.counts.find(outcome);
  return at == result.counts.end() ? 0 : at->second;
}

size_t failed_count(const TuningResult& result) {
  size_t failed = 0;
  for (const auto& [outcome, count] : result.counts)
    if (is_failure(outcome)) failed += count;
  return failed;
}

/// A reason with its numbers taken out: candidates fail for one reason with figures of their own.
std::string without_numbers(std::string_view reason) {
  std::string result;
  for (char c : reason) {
    const bool in_number = (c >= '0' && c <= '9') || (c == '.' && result.ends_with('#'));
    if (!in_number)
      result += c;
    else if (!result.ends_with('#'))
      result += '#';
  }
  return result;
}

struct FailureGroup {
  Outcome kind;
  std::string example; // one line
  size_t count = 0;
};

/// The most frequent first.
std::vector<FailureGroup> group_failures(const TuningResult& result) {
  std::map<std::pair<Outcome, std::string>, FailureGroup> groups;
  for (const auto& [failure, count] : result.failures) {
    const std::string line = failure.second.substr(0, failure.second.find('\n'));
    auto at = groups.try_emplace({failure.first, without_numbers(line)}, FailureGroup{failure.first, line}).first;
    at->second.count += count;
  }
  std::vector<FailureGroup> sorted;
  for (auto& [key, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &FailureGroup::count);
  return sorted;
}

/// `3 x wrong result: ...`
std::vector<std::string> failure_texts(const TuningResult& result) {
  const std::vector<FailureGroup> groups = group_failures(result);
  std::vector<std::string> lines;
  for (const FailureGroup& group : std::span(groups).first(std::min(groups.size(), kMostReasons)))
    lines.push_back(fmt::format("{} x {}: {}", group.count, name(group.kind), group.example));
  if (groups.size() > kMostReasons) lines.push_back(fmt::format("and {} other reasons", groups.size() - kMostReasons));
  return lines;
}

std::string stop_text(const TuningResult& result, double budget_seconds, const std::string& finished) {
  switch (result.stop_reason) {
  case StopReason::budget_used: return fmt::format("the budget of {:g} s is used", budget_seconds);
  case StopReason::interrupted: return "it was interrupted";
  case StopReason::search_finished: break;
  }
  return finished;
}

} // namespace

std::string time_text(double microseconds) {
  double value = microseconds;
  const char* unit = "us";
  if (value >= 999.5e3) {
    value /= 1e6;
    unit = "s";
  } else if (value >= 999.5) {
    value /= 1e3;
    unit = "ms";
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string start_text(const TuningSubject& subject, double budget_seconds) {
  return fmt::format("tuning {} for at most {:g} s; Ctrl-C keeps the best so far", subject.kernel, budget_seconds);
}

std::string space_text(double space_size, unsigned compile_threads, bool beside) {
  return fmt::format(
      "{:g} configs to choose from; compiling {} {}{}, {}", space_size, beside ? "in" : "on", compile_threads,
      beside ? (compile_threads == 1 ? " process" : " processes") : (compile_threads == 1 ? " thread" : " threads"),
      beside ? "measuring meanwhile" : "measuring alone");
}

std::string default_text(const Config& default_config) {
  return fmt::format("default config: {}; below, what differs from it", default_config.to_json());
}

std::string step_text(double seconds, const SearchProgress& progress, size_t failed, const Config& best,
                      const Config& default_config) {
  std::string text = fmt::format("{} {:<17} failed {:2}, replaced {:2}", stamp(seconds), progress.step + ":", failed,
                                 progress.replaced);
  if (progress.times.empty()) return text + "; nothing measured";
  std::vector<double> times = progress.times;
  std::ranges::sort(times);
  Config difference;
  for (const auto& [name, value] : best.options())
    if (const ConfigValue* usual = default_config.find(name); !usual || *usual != value) difference.set(name, value);
  return text + fmt::format("; fastest {:>7}, median {:>7}, slowest {:>7}; best {}", time_text(times.front()),
                            time_text(times[times.size() / 2]), time_text(times.back()), difference.to_json());
}

std::vector<std::string> end_texts(const TuningSubject& subject, const TuningResult& result, double budget_seconds,
                                   const std::string& finished, const std::string& paste) {
  std::vector<std::string> lines;
  if (!std::isfinite(result.microseconds)) {
    lines.push_back(
        fmt::format("{} {}: nothing was measured; the default config is taken", stamp(result.seconds), subject.kernel));
  } else {
    std::string line = fmt::format("{} {} takes {} with the best config", stamp(result.seconds), subject.kernel,
                                   time_text(result.microseconds));
    if (std::isfinite(result.default_microseconds))
      line += fmt::format(" and {} with the default one, {:.2f} times as long", time_text(result.default_microseconds),
                          result.default_microseconds / result.microseconds);
    lines.push_back(std::move(line));
  }
  lines.push_back(fmt::format("{} configs searched: {} measured, {} too slow, {} failed; stopped because {}",
                              result.history.size(), count_of(result, Outcome::measured),
                              count_of(result, Outcome::too_slow), failed_count(result),
                              stop_text(result, budget_seconds, finished)));
  for (const std::string& failure : failure_texts(result)) lines.push_back("  " + failure);
  lines.push_back("To have this config without tuning:");
  lines.push_back("  " + paste);
  return lines;
}

std::string all_failed_text(const TuningSubject& subject, const TuningResult& result) {
  std::string text = fmt::format("tuning {}: all {} candidates failed", subject.kernel, result.history.size());
  for (const std::string& failure : failure_texts(result)) text += "\n  " + failure;
  return text + "\nWhere these come from the kernel, change it as they say; one config is tried with .with(config).";
}

} // namespace tilewright
