#include "tilewright/command_line.h"

#include "driver/command_line/commands.h"
#include "driver/command_line/parse_arguments.h"
#include "tilewright/device.h"

#include <exception>
#include <iostream>
#include <vector>

namespace tilewright {
namespace {

struct RunCommand {
  Terminal& terminal;

  int operator()(const ListArguments& arguments) const { return list_command(arguments, terminal); }
  int operator()(const TuneArguments& arguments) const { return tune_command(arguments, terminal); }
  int operator()(const RunArguments& arguments) const { return run_command(arguments, terminal); }
  int operator()(const ShowArguments& arguments) const { return show_command(arguments, terminal); }
  int operator()(const BenchArguments& arguments) const { return bench_command(arguments, terminal); }
  int operator()(const CompileBenchArguments& arguments) const { return compile_bench_command(arguments, terminal); }
};

} // namespace

int run_command_line(std::span<const std::string> arguments, Terminal& terminal) {
  try {
    std::expected<ParsedArguments, int> parsed = parse_arguments(arguments, terminal);
    if (!parsed) return parsed.error();
    if (parsed->threads != 0) set_num_threads(parsed->threads, {});
    return std::visit(RunCommand{terminal}, parsed->command);
  } catch (const std::exception& error) {
    terminal.err << "error: " << error.what() << std::endl;
    return 1;
  }
}

int command_line(int argc, char** argv) {
  Terminal terminal{std::cout, std::cerr};
  return run_command_line(std::vector<std::string>(argv, argv + argc), terminal);
}

} // namespace tilewright
