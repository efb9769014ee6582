#include "autotune/clock.h"
#include "config/config_point.h"
#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <set>

namespace tilewright {
namespace {

// So many random points in a row that are all known: the space has hardly any others.
constexpr int kMostRepeats = 1000;

/// Different ones, in random order; fewer than `count` where there are no more.
std::vector<Config> random_configs(const ConfigSpec& spec, int count, uint64_t seed) {
  Random random(seed);
  std::set<std::string> known;
  std::vector<Config> configs;
  for (int repeats = 0; repeats < kMostRepeats && static_cast<int>(configs.size()) < count; ++repeats) {
    Config config = decode(spec, random_point(spec, random));
    if (!known.insert(config.to_json()).second) continue;
    configs.push_back(std::move(config));
    repeats = 0;
  }
  return configs;
}

// What this thread has computed: on a shared machine, time that others take is not the compiler's.
double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

int compile_bench_command(const CompileBenchArguments& arguments, Terminal& terminal) {
  ChosenCall chosen = choose_call(arguments.kernel);
  PreparedCall call(chosen.call);
  std::vector<Config> configs = random_configs(call.spec(), arguments.configs, arguments.kernel.seed);
  call.compile(default_config(call.spec())); // LLVM sets itself up once in a process

  std::vector<double> milliseconds, wall_milliseconds;
  const Config* slowest = nullptr;
  size_t failed = 0;
  SteadyClock clock;
  for (const Config& config : configs) {
    double start = thread_seconds(), wall_start = clock.seconds();
    try {
      call.compile(config);
    } catch (const std::exception& error) {
      fmt::print(terminal.err, "{} cannot be compiled: {}\n", config.to_json(), error.what());
      ++failed;
      continue;
    }
    double taken = (thread_seconds() - start) * 1e3;
    if (milliseconds.empty() || taken > *std::ranges::max_element(milliseconds)) slowest = &config;
    milliseconds.push_back(taken);
    wall_milliseconds.push_back((clock.seconds() - wall_start) * 1e3);
  }

  fmt::print(terminal.out,
             "{}\n{} random configs compiled from tile IR to code on one core, nothing cached; {} failed\n",
             call.description(), configs.size(), failed);
  if (milliseconds.empty()) return 1;
  double average = mean(milliseconds);
  std::vector<double> sorted = milliseconds;
  std::ranges::sort(sorted);
  fmt::print(terminal.out, "ms of CPU per config: mean {:.1f}, median {:.1f}, worst {:.1f}; {:.1f} configs a second\n",
             average, sorted[sorted.size() / 2], sorted.back(), 1000 / average);
  fmt::print(terminal.out, "ms of wall time: mean {:.1f}\nslowest: {}\n", mean(wall_milliseconds), slowest->to_json());
  return failed == 0 ? 0 : 1;
}

} // namespace tilewright
