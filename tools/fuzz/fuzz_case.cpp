#include "fuzz/fuzz_case.h"

#include "fuzz/forms.h"
#include "fuzz/inputs.h"
#include "fuzz/larger_sizes.h"

#include "config/normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright::fuzz {

std::optional<FuzzCase> with_default_config(const FuzzKernel& kernel) {
  try {
    RecordedCall call(kernel, inputs_of(kernel));
    return FuzzCase{kernel, default_config(CallChecker(call.definition(), call.call()).specialisation().spec)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<CheckReport> check_larger(const FuzzKernel& kernel, const RecordedCall& call, const CallChecker& checker,
                                        const Config& config) {
  std::optional<FuzzKernel> larger = kernel.run_time_sizes ? with_larger_sizes(kernel) : std::nullopt;
  if (!larger) return std::nullopt;
  RecordedCall other(*larger, inputs_of(*larger));
  if (!serves_too(checker.specialisation(), call.call(), other.call())) return std::nullopt;
  CheckReport report = CallChecker(checker.specialisation(), other.call()).check(config, kernel.seed);
  // A number in the kernel's text may have been an index in range because of the sizes.
  if (report.stage == "interpreter" && report.message.find("reaches element") != std::string::npos)
    report.outcome = CheckReport::Outcome::not_defined;
  return report;
}

bool needs_static_shapes(const FuzzKernel& kernel, const std::exception& error) {
  return kernel.run_time_sizes && std::string_view(error.what()).find("use static shapes") != std::string_view::npos;
}

CheckReport run_case(const FuzzCase& fuzz_case) {
  CheckReport report;
  try {
    RecordedCall call(fuzz_case.kernel, inputs_of(fuzz_case.kernel));
    CallChecker checker(call.definition(), call.call());
    Config complete = normalise(checker.specialisation().spec, fuzz_case.config).config;
    report = checker.check(complete, fuzz_case.kernel.seed);
    if (report.outcome != CheckReport::Outcome::agreed) return report;
    return check_larger(fuzz_case.kernel, call, checker, complete).value_or(report);
  } catch (const std::exception& error) { // Error, or out_of_range for a kernel that shrinking has broken
    report.outcome = CheckReport::Outcome::failed;
    report.stage = "record";
    report.message = error.what();
  }
  return report;
}

// `outcome stage message`, through a pipe.
static void write_report(int to, const CheckReport& report) {
  std::string text = fmt::format("{} {} {}", static_cast<int>(report.outcome), report.stage, report.message);
  text.resize(std::min<size_t>(text.size(), 3000)); // less than a pipe holds
  if (write(to, text.data(), text.size()) < 0) _exit(1);
}

static CheckReport read_report(const std::string& text) {
  CheckReport report;
  size_t first = text.find(' '), second = text.find(' ', first + 1);
  report.outcome = static_cast<CheckReport::Outcome>(text[0] - '0');
  report.stage = text.substr(first + 1, second - first - 1);
  report.message = text.substr(second + 1);
  return report;
}

CheckReport run_isolated(const FuzzCase& fuzz_case, unsigned most_seconds) {
  int ends[2];
  CheckReport crash;
  crash.outcome = CheckReport::Outcome::failed;
  crash.stage = "crash";
  if (pipe(ends) != 0) {
    crash.message = "no pipe";
    return crash;
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    rlimit limit{most_seconds, most_seconds};
    setrlimit(RLIMIT_CPU, &limit);
    rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    write_report(ends[1], run_case(fuzz_case));
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) text.append(buffer, count);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text.empty()) return read_report(text);
  crash.message = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the process ended";
  return crash;
}

std::vector<int> block_variables(const FuzzKernel& kernel) {
  std::vector<int> variables;
  for (size_t i = 0; i < kernel.blocks.size(); ++i) variables.push_back(-1 - static_cast<int>(i));
  for_each_statement(kernel.body, [&](const Statement& statement) {
    std::string_view form = statement.form->name;
    if (!form.starts_with("tile") || form.starts_with("tile.")) return;
    for (size_t i = 0; i < statement.variables.size(); ++i)
      if (form == "tile bounded by a tile" || statement.numbers.at(1 + i) == 0)
        variables.push_back(statement.variables[i]);
  });
  return variables;
}

std::optional<Config> adapt_config(const Config& config, const FuzzKernel& before, const FuzzKernel& after,
                                   const ConfigSpec& spec) {
  Config adapted;
  for (const ConfigOption& option : config.options()) {
    const ConfigOptionSpec* now = spec.find(option.name);
    if (!now) continue;
    if (option.name == "block_sizes") {
      // Where the kernel had loops that recording found to be idle, it is not known whose blocks these are.
      std::vector<int> old = block_variables(before);
      const ConfigValue::List& blocks = option.value.as_list();
      if (blocks.size() != old.size()) continue;
      ConfigValue::List kept;
      for (int variable : block_variables(after))
        kept.push_back(blocks[std::find(old.begin(), old.end(), variable) - old.begin()]);
      if (kept.size() == now->entries.size()) adapted.set(option.name, kept);
    } else if (option.value.is_list()) {
      ConfigValue::List list = option.value.as_list();
      if (list.size() > now->entries.size()) list.resize(now->entries.size(), ConfigValue(nullptr));
      adapted.set(option.name, list);
    } else {
      adapted.set(option.name, option.value);
    }
  }
  for (int attempt = 0; attempt < 8; ++attempt) { // what does not fit any more takes its default
    try {
      return normalise(spec, adapted).config;
    } catch (const Error& error) {
      bool erased = false;
      for (const ConfigOptionSpec& option : spec.options) {
        if (option.name == "block_sizes" || !adapted.has(option.name)) continue;
        if (std::string_view(error.what()).find(option.name) == std::string_view::npos) continue;
        adapted.erase(option.name);
        erased = true;
        break;
      }
      if (!erased) return std::nullopt;
    }
  }
  return std::nullopt;
}

} // namespace tilewright::fuzz
