// From what stands on the command line to what is meant by it.
#pragma once

#include "driver/command_line/command_arguments.h"
#include "driver/command_line/terminal.h"

#include <expected>
#include <span>
#include <string>

namespace tilewright {

struct ParsedArguments {
  CommandArguments command;
  int threads = 0; // 0: as many as there are
};

/// `arguments[0]` is the program's name. Where there is nothing to run, for help was asked for or what is there cannot
/// be understood, that has been printed, and what comes back is the exit status.
std::expected<ParsedArguments, int> parse_arguments(std::span<const std::string> arguments, Terminal& terminal);

} // namespace tilewright
