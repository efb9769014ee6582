// The commands, a file each. They return the exit status: 0, or 1 where a result is wrong. All throw Error on names,
// sizes and configs that are none.
#pragma once

#include "driver/command_line/command_arguments.h"
#include "driver/command_line/terminal.h"

#include <span>
#include <string>

namespace tilewright {

int list_command(const ListArguments& arguments, Terminal& terminal);
int tune_command(const TuneArguments& arguments, Terminal& terminal);
int run_command(const RunArguments& arguments, Terminal& terminal);
int show_command(const ShowArguments& arguments, Terminal& terminal);
int bench_command(const BenchArguments& arguments, Terminal& terminal);
int compile_bench_command(const CompileBenchArguments& arguments, Terminal& terminal);

/// All of command_line(): `arguments[0]` is the program's name. Throws nothing.
int run_command_line(std::span<const std::string> arguments, Terminal& terminal);

} // namespace tilewright
