#include "driver/command_line/parse_arguments.h"

#include "config/nearest_name.h"
#include "driver/command_line/kernel_choice.h"
#include "tilewright/device.h"
#include "tilewright/registry.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace tilewright {
namespace {

constexpr int kUsageError = 2;

/// A kernel and a size of it, for examples that can be pasted.
struct Example {
  std::string program, kernel = "KERNEL", case_name = "NAME", dtype = "float32", size = "n";
};

Example make_example(std::string program) {
  Example example{std::move(program)};
  const RegisteredKernel* chosen = nullptr;
  for (const RegisteredKernel* kernel : registered_kernels())
    if (!chosen || (chosen->peer.empty() && !kernel->peer.empty())) chosen = kernel;
  if (!chosen) return example;
  example.kernel = chosen->name;
  example.case_name = chosen->cases.back().name;
  example.dtype = name(chosen->dtypes.back());
  if (!chosen->cases[0].sizes.empty()) example.size = chosen->cases[0].sizes[0].first;
  return example;
}

/// `lines` in fmt's syntax, with {program}, {kernel}, {case_name}, {dtype} and {size}.
std::string examples(const Example& example, std::initializer_list<const char*> lines) {
  std::string text = "Examples:";
  for (const char* line : lines) {
    text += "\n  ";
    text += fmt::format(fmt::runtime(line), fmt::arg("program", example.program), fmt::arg("kernel", example.kernel),
                        fmt::arg("case_name", example.case_name), fmt::arg("dtype", example.dtype),
                        fmt::arg("size", example.size));
  }
  return text + "\n";
}

/// Descriptions stand in the help's right column, where CLI11 keeps line ends and, in its older versions, makes none.
void wrap_descriptions(CLI::App& command) {
  constexpr size_t kWidth = 66;
  for (CLI::Option* option : command.get_options()) {
    std::string text = option->get_description();
    for (size_t line = 0; text.size() - line > kWidth;) {
      size_t space = text.rfind(' ', line + kWidth);
      if (space == std::string::npos || space <= line) break;
      text[space] = '\n';
      line = space + 1;
    }
    option->description(text);
  }
}

//===----------------------------------------------------------------------===//
// Flags that several commands have
//===----------------------------------------------------------------------===//

void add_sizes_flag(CLI::App& command, std::vector<std::string>& sizes) {
  command
      .add_option(
          "--size", sizes,
          "Sizes that differ from the case's own, by the names that `list` shows: m=1000,n=333. May be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
}

void add_kernel_flags(CLI::App& command, KernelArguments& kernel) {
  command.add_option("KERNEL", kernel.kernel, "The kernel's name, as `list` shows it")->required()->type_name("");
  command.add_option("--case", kernel.case_name, "The case, as `list` shows it; by default the first")
      ->type_name("NAME");
  add_sizes_flag(command, kernel.sizes);
  command.add_option("--dtype", kernel.dtype, "What T is: float32, bfloat16, ...; by default the kernel's first")
      ->type_name("DTYPE");
  command.add_option("--seed", kernel.seed, "Of the random arguments")->type_name("NUMBER")->capture_default_str();
}

void add_config_flag(CLI::App& command, std::string& config) {
  command
      .add_option("--config", config,
                  "The config as JSON, where options left out take their defaults; or the word default. Otherwise it "
                  "is the best one that tuning has found before, if there is one")
      ->type_name("JSON");
}

//===----------------------------------------------------------------------===//
// The commands
//===----------------------------------------------------------------------===//

void add_list(CLI::App& command, ListArguments& list, const Example& example) {
  command.add_option("KERNEL", list.kernels, "Only these kernels")->type_name("");
  command.footer(examples(example, {"{program} list", "{program} list {kernel}"}));
}

void add_tune(CLI::App& command, TuneArguments& tune, const Example& example) {
  add_kernel_flags(command, tune.kernel);
  command
      .add_option("--budget", tune.budget_seconds, "The most it may take; Ctrl-C ends it earlier, and keeps the best")
      ->type_name("SECONDS")
      ->capture_default_str();
  command
      .add_option("--effort", tune.effort,
                  "full: differential evolution, until the budget is used; quick: a small search, which may end sooner")
      ->type_name("full|quick")
      ->capture_default_str();
  command.footer(examples(example, {"{program} tune {kernel}", "{program} tune {kernel} --case {case_name} --budget 60",
                                    "{program} tune {kernel} --size {size}=1000 --dtype {dtype}",
                                    "{program} run {kernel} --config \"$({program} tune {kernel} --effort quick)\""}));
}

void add_run(CLI::App& command, RunArguments& run, bool& check, const Example& example) {
  add_kernel_flags(command, run.kernel);
  add_config_flag(command, run.config);
  command.add_flag("--check,!--no-check", check,
                   "Compare the result with the double-precision reference; by default wherever there is one");
  command.footer(examples(example, {"{program} run {kernel}", "{program} run {kernel} --case {case_name} --no-check",
                                    "{program} run {kernel} --size {size}=333 --config default",
                                    "{program} run {kernel} --config '{{\"pid_type\": \"flat\"}}'"}));
}

void add_show(CLI::App& command, ShowArguments& show, const Example& example) {
  add_kernel_flags(command, show.kernel);
  command
      .add_option("--stage", show.stage,
                  "tile: what the kernel computes, before any config. program: one program of it, for this config. "
                  "loops: its vector loops. llvm: LLVM IR, optimised. asm: machine code. triton: the Python of that "
                  "backend. spec: the options that a config of this kernel has, and their legal values, as JSON. By "
                  "default tile, or what another backend than the CPU's makes")
      ->type_name("tile|program|loops|llvm|asm|triton|spec");
  command.add_option("--backend", show.backend, "What the kernel is made for")
      ->type_name("cpu|triton")
      ->capture_default_str();
  add_config_flag(command, show.config);
  command.footer(
      examples(example, {"{program} show {kernel}", "{program} show {kernel} --stage loops --config default",
                         "{program} show {kernel} --stage asm --size {size}=333",
                         "{program} show {kernel} --backend triton", "{program} show {kernel} --stage spec"}));
}

void add_bench(CLI::App& command, BenchArguments& bench, const Example& example) {
  command.add_option("KERNEL", bench.kernels, "Kernels to measure, or KERNEL:CASE for one case; by default all")
      ->type_name("");
  command.add_option("--case", bench.case_name, "Only the case of this name; by default all")->type_name("NAME");
  add_sizes_flag(command, bench.sizes);
  command.add_option("--dtype", bench.dtypes, "What T is: float32,bfloat16; by default each kernel's first")
      ->type_name("DTYPE")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--tune", bench.tune_seconds,
                  "Tune each for so long first; 0: measure the default config alone. Otherwise the best config that "
                  "tuning has found before is measured")
      ->type_name("SECONDS");
  command.add_flag("--peers", bench.peers, "Compare with libraries' routines for the same work: OpenBLAS");
  command.add_option("--json", bench.json_file, "Write the rows to this file too")->type_name("FILE");
  command.add_option("--backend", bench.backend, "What to measure")->type_name("cpu")->capture_default_str();
  command.add_option("--seed", bench.seed, "Of the random arguments")->type_name("NUMBER")->capture_default_str();
  command.footer(examples(example, {"{program} bench", "{program} bench {kernel} --tune 25 --peers",
                                    "{program} bench {kernel}:{case_name} --dtype {dtype} --json rows.json",
                                    "{program} bench --tune 0"}));
}

void add_compile_bench(CLI::App& command, CompileBenchArguments& bench, const Example& example) {
  add_kernel_flags(command, bench.kernel);
  command.add_option("--configs", bench.configs, "How many random configs to compile")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.footer(examples(example, {"{program} compile-bench {kernel}",
                                    "{program} compile-bench {kernel} --case {case_name} --configs 1000"}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// What is wrong, for arguments that a command does not take.
std::string describe_extras(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
  std::string found = command.remaining().empty() ? "" : command.remaining().front();
  std::optional<std::string> nearest = nearest_name(found, flags);
  return fmt::format("{} does not take {}{}", command.get_name(), found,
                     nearest ? fmt::format("; did you mean {}?", *nearest) : "");
}

} // namespace

std::expected<ParsedArguments, int> parse_arguments(std::span<const std::string> arguments, Terminal& terminal) {
  std::string program = arguments.empty() ? "tilewright" : std::filesystem::path(arguments[0]).filename().string();
  Example example = make_example(program);

  CLI::App app("Tunes, runs, shows and measures the kernels of this program.", program);
  app.require_subcommand(1);
  app.footer(examples(example, {"{program} list", "{program} tune {kernel} --budget 25", "{program} run {kernel}",
                                "{program} show {kernel} --stage program", "{program} bench {kernel} --peers"}) +
             fmt::format("`{} COMMAND --help` says more about each.\n", program));

  ListArguments list;
  TuneArguments tune;
  RunArguments run;
  bool check = false;
  ShowArguments show;
  BenchArguments bench;
  CompileBenchArguments compile_bench;
  int threads = 0;
  auto add = [&](const char* name, const char* summary) -> CLI::App& {
    CLI::App& command = *app.add_subcommand(name, summary);
    command.add_option("--threads", threads, "Threads to run on; by default, all CPUs of the process")
        ->type_name("NUMBER")
        ->check(CLI::Range(1, kMaxThreads));
    return command;
  };
  add_list(add("list", "Lists the kernels: their arguments, dtypes and cases"), list, example);
  add_tune(add("tune", "Searches for the fastest config, keeps it for later runs, and prints it"), tune, example);
  CLI::App& run_app = add("run", "Runs a kernel on random arguments, checks the result and prints the time");
  add_run(run_app, run, check, example);
  add_show(add("show", "Prints a kernel as it is at one stage of its way to machine code"), show, example);
  add_bench(add("bench", "Measures kernels against this machine's limits and other libraries"), bench, example);
  add_compile_bench(add("compile-bench", "Measures how long a config takes from tile IR to code, on one core"),
                    compile_bench, example);

  std::vector<std::string> commands;
  for (CLI::App* command : app.get_subcommands({})) {
    commands.push_back(command->get_name());
    wrap_descriptions(*command);
  }
  auto refuse = [&](const std::string& message, const std::string& command) {
    terminal.err << fmt::format("error: {}\n`{} {}--help` says more.\n", message, program, command);
    return std::unexpected(kUsageError);
  };
  if (arguments.size() < 2) {
    terminal.err << app.help();
    return std::unexpected(kUsageError);
  }
  if (const std::string& first = arguments[1];
      !first.starts_with('-') && std::find(commands.begin(), commands.end(), first) == commands.end())
    return refuse(no_such("command", first, commands), "");

  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  try {
    app.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) { // help
      app.exit(error, terminal.out, terminal.err);
      return std::unexpected(0);
    }
    std::vector<CLI::App*> chosen = app.get_subcommands();
    if (chosen.empty()) return refuse(error.what(), "");
    bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return refuse(is_extra ? describe_extras(*chosen[0]) : error.what(), chosen[0]->get_name() + " ");
  }

  if (run_app.count("--check") > 0) run.check = check;
  std::string name = app.get_subcommands()[0]->get_name();
  if (name == "list") return ParsedArguments{list, threads};
  if (name == "tune") return ParsedArguments{tune, threads};
  if (name == "run") return ParsedArguments{run, threads};
  if (name == "show") return ParsedArguments{show, threads};
  if (name == "bench") return ParsedArguments{bench, threads};
  return ParsedArguments{compile_bench, threads};
}

} // namespace tilewright
