// tilewright: lists, tunes, runs, shows and measures the example kernels; see --help.
#include "tilewright/command_line.h"

int main(int argc, char** argv) { return tilewright::command_line(argc, argv); }
