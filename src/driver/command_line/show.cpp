#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"
#include "support/error.h"

#include <fmt/ostream.h>

#include <algorithm>

namespace tilewright {

// As the stage's own language writes them.
static std::string_view comment_sign(const std::string& stage) {
  if (stage == "llvm") return ";";
  return stage == "asm" ? "#" : "//";
}

int show_command(const ShowArguments& arguments, Terminal& terminal) {
  std::vector<std::string> stages(stage_names().begin(), stage_names().end());
  stages.push_back("spec");
  if (std::ranges::find(stages, arguments.stage) == stages.end()) fail("{}", no_such("stage", arguments.stage, stages));
  ChosenCall chosen = choose_call(arguments.kernel);
  PreparedCall call(chosen.call);
  if (arguments.stage == "spec") {
    terminal.out << to_json(call.spec()) << std::endl;
    return 0;
  }
  ChosenConfig config = config_for(call, arguments.config);
  std::string text = call.stage_text(arguments.stage, config.config);
  std::string_view sign = comment_sign(arguments.stage);
  fmt::print(terminal.out, "{} {}\n", sign, call.description());
  if (arguments.stage != "tile")
    fmt::print(terminal.out, "{} config ({}): {}\n", sign, config.source, config.config.to_json());
  terminal.out << text;
  if (!text.ends_with('\n')) terminal.out << '\n';
  terminal.out.flush();
  return 0;
}

} // namespace tilewright
