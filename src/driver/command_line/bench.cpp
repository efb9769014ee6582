#include "driver/command_line/bench_row.h"
#include "driver/command_line/check_results.h"
#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"
#include "driver/command_line/peers.h"
#include "driver/command_line/time_in_turns.h"
#include "support/error.h"
#include "support/files.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace tilewright {
namespace {

// OpenBLAS's threads spin for 2^26 cycles after a call, on cores that the next contestant needs.
constexpr std::chrono::milliseconds kPeerRest(40);

// Where a median is this much above the least, others used the machine.
constexpr double kNoise = 1.2;

//===----------------------------------------------------------------------===//
// What is to be measured
//===----------------------------------------------------------------------===//

bool takes(const RegisteredKernel& kernel, const std::string& dtype) {
  return std::ranges::find(kernel.dtypes, dtype_from_name(dtype)) != kernel.dtypes.end();
}

bool has_case(const RegisteredKernel& kernel, const std::string& name) {
  return std::ranges::any_of(kernel.cases, [&](const KernelCase& one) { return one.name == name; });
}

/// The rows of one kernel. `case_name` empty: all its cases.
void add_rows(std::vector<KernelArguments>& rows, const RegisteredKernel& kernel, const std::string& case_name,
              const BenchArguments& arguments) {
  std::vector<std::string> cases = {find_case(kernel, case_name).name};
  if (case_name.empty() && arguments.sizes.empty())
    for (size_t i = 1; i < kernel.cases.size(); ++i) cases.push_back(kernel.cases[i].name);
  std::vector<std::string> dtypes = arguments.dtypes;
  if (dtypes.empty()) dtypes = {""};
  for (const std::string& one : cases)
    for (const std::string& dtype : dtypes) rows.push_back({kernel.name, one, arguments.sizes, dtype, arguments.seed});
}

/// Kernels that are named must have the case and the dtypes; of all kernels, those are taken that have them.
std::vector<KernelArguments> choose_rows(const BenchArguments& arguments) {
  std::vector<KernelArguments> rows;
  for (const std::string& text : arguments.kernels) {
    size_t colon = std::min(text.find(':'), text.size());
    const RegisteredKernel& kernel = find_kernel(text.substr(0, colon));
    for (const std::string& dtype : arguments.dtypes) find_dtype(kernel, dtype);
    add_rows(rows, kernel, colon < text.size() ? text.substr(colon + 1) : arguments.case_name, arguments);
  }
  if (!arguments.kernels.empty()) return rows;
  for (const RegisteredKernel* kernel : registered_kernels()) {
    if (!arguments.case_name.empty() && !has_case(*kernel, arguments.case_name)) continue;
    BenchArguments own = arguments;
    std::erase_if(own.dtypes, [&](const std::string& dtype) { return !takes(*kernel, dtype); });
    if (own.dtypes.empty() && !arguments.dtypes.empty()) continue;
    add_rows(rows, *kernel, arguments.case_name, own);
  }
  if (rows.empty()) fail("no kernel of this program has that case and dtype");
  return rows;
}

//===----------------------------------------------------------------------===//
// Measuring a row
//===----------------------------------------------------------------------===//

MachineLimits larger(const MachineLimits& a, const MachineLimits& b) {
  return {std::max(a.float32_gflops, b.float32_gflops), std::max(a.float64_gflops, b.float64_gflops),
          std::max(a.copy_gbps, b.copy_gbps), a.threads};
}

bool is_noisy(std::span<const Timing> timings) {
  return std::ranges::any_of(
      timings, [](const Timing& timing) { return timing.microseconds > kNoise * timing.least_microseconds; });
}

class Bench {
public:
  Bench(const BenchArguments& arguments, Terminal& terminal) : arguments_(arguments), terminal_(terminal) {}

  BenchRow measure(const KernelArguments& what);
  /// The best that was seen of the machine.
  const MachineLimits& limits() const { return limits_; }

private:
  Config choose(const PreparedCall& call, const Config& default_config) const;
  std::optional<Peer> find_peer(const ChosenCall& chosen);
  void check(BenchRow& row, const ChosenCall& chosen, std::span<const ReadyLaunch* const> launches,
             const std::optional<Peer>& peer);

  const BenchArguments& arguments_;
  Terminal& terminal_;
  MachineLimits limits_;
  bool has_described_peer_ = false;
};

Config Bench::choose(const PreparedCall& call, const Config& default_config) const {
  if (!arguments_.tune_seconds) return call.known_config().value_or(default_config);
  if (*arguments_.tune_seconds == 0) return default_config;
  return call.tune(AutotuneEffort::full, *arguments_.tune_seconds).best;
}

std::optional<Peer> Bench::find_peer(const ChosenCall& chosen) {
  if (!arguments_.peers) return std::nullopt;
  try {
    std::optional<Peer> peer = make_peer(*chosen.kernel, chosen.arguments);
    if (peer && !has_described_peer_) fmt::print(terminal_.err, "peer {}: {}\n", peer->name, peer->description);
    has_described_peer_ |= peer.has_value();
    return peer;
  } catch (const Error& error) {
    fmt::print(terminal_.err, "warning: {} is measured without its peer: {}\n", chosen.kernel->name, error.what());
    return std::nullopt;
  }
}

/// All of `launches` and the peer have run once.
void Bench::check(BenchRow& row, const ChosenCall& chosen, std::span<const ReadyLaunch* const> launches,
                  const std::optional<Peer>& peer) {
  const RegisteredKernel& kernel = *chosen.kernel;
  if (!kernel.reference) {
    fmt::print(terminal_.err, "warning: {} has no reference to check its results with\n", kernel.name);
    return;
  }
  DType dtype = chosen.instance.dtype();
  std::vector<Array> reference = reference_results(kernel, chosen.arguments);
  row.max_relative_error = 0;
  for (const ReadyLaunch* launch : launches) {
    ResultCheck check = check_results(kernel, dtype, chosen.arguments, launch->results, reference);
    row.max_relative_error = std::max(*row.max_relative_error, check.error);
    if (check.right()) continue;
    row.right = false;
    fmt::print(terminal_.err, "WRONG: {} is {:.1e} from its reference, where up to {:.1e} is rounding\n", kernel.name,
               check.error, check.allowed);
  }
  if (peer && !check_results(kernel, dtype, chosen.arguments, {&peer->result, 1}, reference).right())
    fmt::print(terminal_.err, "warning: the result of {} differs from the reference\n", peer->name);
}

BenchRow Bench::measure(const KernelArguments& what) {
  ChosenCall chosen = choose_call(what);
  PreparedCall call(chosen.call);
  fmt::print(terminal_.err, "{}\n", call.description());
  BenchRow row{chosen.kernel->name, chosen.case_name, arguments_.backend, std::string(name(chosen.instance.dtype()))};

  Config default_config = tilewright::default_config(call.spec());
  row.config = choose(call, default_config);
  ReadyLaunch by_default = call.ready(default_config), best;
  std::vector<const ReadyLaunch*> launches = {&by_default};
  if (row.config != default_config) {
    best = call.ready(row.config);
    launches.push_back(&best);
  }
  std::optional<Peer> peer = find_peer(chosen);
  for (const ReadyLaunch* launch : launches) launch->run();
  if (peer) peer->run();
  check(row, chosen, launches, peer);

  Work work = work_of(*chosen.kernel, chosen.instance, chosen.arguments, by_default.results);
  MachineLimits limits = measure_machine_limits();
  limits_ = larger(limits, limits_);
  row.limit.bound = bound_of(work, chosen.instance.dtype(), limits);
  Limit limit = limit_for(work, row.limit.bound, chosen.instance.dtype());

  // In this order in every round, so that what is to be compared is measured next to each other.
  std::vector<std::function<void()>> contestants;
  if (launches.size() > 1) contestants.push_back(by_default.run);
  contestants.push_back(limit.work.run);
  contestants.push_back(launches.back()->run);
  if (peer) contestants.push_back(peer->run);
  TurnPolicy policy;
  if (peer) policy.rest = [] { std::this_thread::sleep_for(kPeerRest); };
  SteadyClock clock;
  std::vector<Timing> timings = time_in_turns(contestants, clock, policy);
  if (is_noisy(timings))
    fmt::print(terminal_.err, "warning: the machine was not quiet: times of {} varied\n", row.kernel);

  const Timing &of_limit = timings[launches.size() - 1], &own = timings[launches.size()];
  row.microseconds = own.microseconds;
  row.default_microseconds = launches.size() > 1 ? timings.front().microseconds : own.microseconds;
  row.limit.fraction = limit.share * median_ratio(of_limit, own);
  if (peer) {
    row.peer = peer->name;
    row.peer_microseconds = timings.back().microseconds;
    row.speedup = median_ratio(timings.back(), own);
  }
  row.gflops = work.gflops(row.microseconds);
  row.gbps = work.gbps(row.microseconds);
  return row;
}

} // namespace

int bench_command(const BenchArguments& arguments, Terminal& terminal) {
  if (arguments.backend != "cpu") fail("there is no backend \"{}\"; there is cpu", arguments.backend);
  if (arguments.tune_seconds && !(*arguments.tune_seconds >= 0 && std::isfinite(*arguments.tune_seconds)))
    fail("--tune is {} seconds; it must be 0 or above", *arguments.tune_seconds);
  std::vector<KernelArguments> chosen = choose_rows(arguments);
  Bench bench(arguments, terminal);
  std::vector<BenchRow> rows;
  bool all_right = true;
  for (const KernelArguments& what : chosen) {
    try {
      rows.push_back(bench.measure(what));
      all_right &= rows.back().right;
    } catch (const Error& error) { // the others are still worth measuring
      fmt::print(terminal.err, "error: {}: {}\n", what.kernel, error.what());
      all_right = false;
    }
  }
  if (!rows.empty()) fmt::print(terminal.out, "{}\n{}", machine_text(bench.limits()), rows_to_table(rows));
  terminal.out.flush();
  if (!arguments.json_file.empty()) write_file_atomically(arguments.json_file, rows_to_json(bench.limits(), rows));
  return all_right ? 0 : 1;
}

} // namespace tilewright
