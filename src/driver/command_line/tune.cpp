#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"
#include "support/error.h"

#include <cmath>

namespace tilewright {

static AutotuneEffort parse_tune_effort(const std::string& text) {
  if (text == "full") return AutotuneEffort::full;
  if (text == "quick") return AutotuneEffort::quick;
  fail("there is no effort \"{}\"; it is full or quick", text);
}

int tune_command(const TuneArguments& arguments, Terminal& terminal) {
  AutotuneEffort effort = parse_tune_effort(arguments.effort);
  if (!(arguments.budget_seconds > 0) || !std::isfinite(arguments.budget_seconds))
    fail("the budget is {} seconds; it must be above 0", arguments.budget_seconds);
  ChosenCall chosen = choose_call(arguments.kernel);
  PreparedCall call(chosen.call);
  TuningResult result = call.tune(effort, arguments.budget_seconds);
  if (!std::isfinite(result.microseconds)) fail("tuning was stopped before any config was measured");
  terminal.out << result.best.to_json() << std::endl;
  return 0;
}

} // namespace tilewright
