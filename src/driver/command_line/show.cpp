#include "driver/command_line/commands.h"
#include "driver/command_line/kernel_choice.h"
#include "support/error.h"

#include <fmt/ostream.h>

#include <algorithm>

namespace tilewright {

// As the stage's own language writes them.
static std::string_view comment_sign(const std::string& stage) {
  if (stage == "llvm") return ";";
  return stage == "asm" || stage == "triton" ? "#" : "//";
}

int show_command(const ShowArguments& arguments, Terminal& terminal) {
  const std::string backends[] = {"cpu", "triton"};
  std::optional<Backend> backend = parse_backend(arguments.backend);
  if (!backend) fail("{}", no_such("backend", arguments.backend, backends));
  const std::string stage = !arguments.stage.empty()   ? arguments.stage
                            : *backend == Backend::Cpu ? "tile"
                                                       : std::string(stage_names(*backend).back());
  std::vector<std::string> stages(stage_names(*backend).begin(), stage_names(*backend).end());
  stages.push_back("spec");
  if (std::ranges::find(stages, stage) == stages.end()) fail("{}", no_such("stage", stage, stages));
  ChosenCall chosen = choose_call(arguments.kernel, Values::Unset);
  PreparedCall call(chosen.call, *backend);
  if (stage == "spec") {
    terminal.out << to_json(call.spec()) << std::endl;
    return 0;
  }
  ChosenConfig config = config_for(call, arguments.config);
  std::string text = call.stage_text(stage, config.config);
  std::string_view sign = comment_sign(stage);
  fmt::print(terminal.out, "{} {}\n", sign, call.description());
  if (stage != "tile") fmt::print(terminal.out, "{} config ({}): {}\n", sign, config.source, config.config.to_json());
  terminal.out << text;
  if (!text.ends_with('\n')) terminal.out << '\n';
  terminal.out.flush();
  return 0;
}

} // namespace tilewright
