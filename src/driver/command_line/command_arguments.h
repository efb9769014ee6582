// What a user asked for, as plain values: made by parse_arguments(), acted on by the commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

/// Which kernel, on what. Names and numbers are still as they were typed.
struct KernelArguments {
  std::string kernel;
  std::string case_name;          // empty: the first
  std::vector<std::string> sizes; // "m=1024" or "m=1024,n=333"; they change the case's own
  std::string dtype;              // empty: the first
  uint64_t seed = 0;
};

struct ListArguments {
  std::vector<std::string> kernels; // none: all
};

struct TuneArguments {
  KernelArguments kernel;
  double budget_seconds = 25;
  std::string effort = "full";
};

struct RunArguments {
  KernelArguments kernel;
  std::string config; // JSON, "default", or empty: the best known
  // Compare with the reference. Nothing: where there is one.
  std::optional<bool> check;
};

struct ShowArguments {
  KernelArguments kernel;
  std::string backend = "cpu";
  std::string stage;  // empty: "tile", or the text that the backend makes
  std::string config; // as in RunArguments
};

struct BenchArguments {
  std::vector<std::string> kernels; // "matmul", or "matmul:1024" for one case; none: all
  std::string case_name;            // empty: all cases
  std::vector<std::string> sizes;   // as in KernelArguments; then only the first case is measured
  std::vector<std::string> dtypes;  // none: each kernel's first
  std::string backend = "cpu";
  // Nothing: the best known config; 0: the default config alone.
  std::optional<double> tune_seconds;
  bool peers = false;
  std::string json_file; // empty: none
  uint64_t seed = 0;
};

struct CompileBenchArguments {
  KernelArguments kernel;
  int configs = 200;
};

using CommandArguments =
    std::variant<ListArguments, TuneArguments, RunArguments, ShowArguments, BenchArguments, CompileBenchArguments>;

} // namespace tilewright
