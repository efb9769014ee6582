// The command line of a program's own kernels: what it registers (tilewright/registry.h) can be listed, tuned, run,
// looked at in every stage and measured.
//
//   int main(int argc, char** argv) { return tilewright::command_line(argc, argv); }
#pragma once

namespace tilewright {

// The commands list, tune, run, show, bench and compile-bench; `--help` after each says what it does. Results go to
// stdout, errors and the tuning log to stderr. Returns what main should: 0, or 1 where a result is wrong or something
// failed, or 2 where the arguments cannot be understood. Throws nothing.
int command_line(int argc, char** argv);

} // namespace tilewright
