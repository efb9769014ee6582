#include "autotune/tuning_log.h"
#include "driver/command_line/check_results.h"
#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"
#include "driver/command_line/time_in_turns.h"
#include "driver/command_line/work.h"

#include <fmt/ostream.h>

namespace tilewright {

static std::string speed_text(const Work& work, double microseconds) {
  std::string memory = fmt::format("{:.2f} GB/s", work.gbps(microseconds));
  return work.flops > 0 ? fmt::format("{:.1f} GFLOP/s, {}", work.gflops(microseconds), memory) : memory;
}

int run_command(const RunArguments& arguments, Terminal& terminal) {
  ChosenCall chosen = choose_call(arguments.kernel);
  const RegisteredKernel& kernel = *chosen.kernel;
  PreparedCall call(chosen.call);
  ChosenConfig config = config_for(call, arguments.config);
  fmt::print(terminal.out, "{}\n", call.description());
  fmt::print(terminal.out, "config  {} ({})\n", config.config.to_json(), config.source);
  terminal.out.flush();

  ReadyLaunch launch = call.ready(config.config);
  launch.run();
  std::optional<ResultCheck> check; // of the first launch: a kernel may store to what it reads
  if (arguments.check.value_or(static_cast<bool>(kernel.reference)))
    check = check_results(kernel, chosen.instance.dtype(), chosen.arguments, launch.results,
                          reference_results(kernel, chosen.arguments));

  SteadyClock clock;
  Timing timing = time_in_turns({&launch.run, 1}, clock)[0];
  Work work = work_of(kernel, chosen.instance, chosen.arguments, launch.results);
  fmt::print(terminal.out, "time    {}, the median of {} samples; the least is {}\n", time_text(timing.microseconds),
             timing.samples, time_text(timing.least_microseconds));
  fmt::print(terminal.out, "speed   {}\n", speed_text(work, timing.microseconds));
  if (!check) {
    fmt::print(terminal.out, "error   not checked{}\n", kernel.reference ? "" : ": the kernel has no reference");
    return 0;
  }
  fmt::print(terminal.out, "error   {:.1e} of the largest value, against double precision; up to {:.1e} is rounding\n",
             check->error, check->allowed);
  if (!check->right()) fmt::print(terminal.out, "WRONG\n");
  return check->right() ? 0 : 1;
}

} // namespace tilewright
