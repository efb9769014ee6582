// build/bin/tilewright-fuzz: random kernels through everything that can run them. docs/fuzzing.md
#include "fuzz/session.h"

#include "support/planted_bug.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#ifdef TILEWRIGHT_PLANTED_BUGS
namespace tilewright {
PlantedBug planted_bug = PlantedBug::none;
}

// `--plant NAME`, of tilewright-fuzz-planted alone: false where there is no such bug. `--plant list` names them all.
static bool plant(std::string_view name) {
#define FUZZ_PLANT(bug)                                                                                                \
  if (name == #bug) return tilewright::planted_bug = tilewright::PlantedBug::bug, true;
  TILEWRIGHT_FOR_EACH_PLANTED_BUG(FUZZ_PLANT)
#undef FUZZ_PLANT
#define FUZZ_LIST(bug) fmt::print("{}\n", #bug);
  if (name == "list") {
    TILEWRIGHT_FOR_EACH_PLANTED_BUG(FUZZ_LIST)
    std::exit(0);
  }
#undef FUZZ_LIST
  return false;
}
#else
static bool plant(std::string_view) { return false; }
#endif

static constexpr const char* kUsage = R"(usage: tilewright-fuzz [--seconds N | --kernels N] [--seed S] [options]

Makes random kernels, runs each through the interpreter on tile IR, the interpreter on program IR and the CPU backend,
with random configs, and compares. A failure is made smaller and printed as a C++ test.

  --seconds N       for so long
  --kernels N       so many kernels
  --seed S          of everything (1)
  --configs N       tried for each kernel (3)
  --first N         number of the first kernel, to see one again
  --failures N      end after so many (5)
  --print           print every kernel
)";

int main(int argc, char** argv) {
  tilewright::fuzz::SessionOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if (name == "--print") {
      options.print_kernels = true;
      continue;
    }
    if (name == "--plant" && i + 1 < argc && plant(argv[i + 1])) {
      ++i;
      continue;
    }
    char* end = nullptr;
    double number = i + 1 < argc ? std::strtod(argv[i + 1], &end) : -1;
    if (number < 0 || !end || *end != '\0') {
      fmt::print(stderr, "{}", kUsage);
      return name == "--help" ? 0 : 2;
    }
    ++i;
    auto whole = static_cast<int64_t>(number);
    if (name == "--seconds")
      options.seconds = number;
    else if (name == "--kernels")
      options.kernels = whole;
    else if (name == "--seed")
      options.seed = static_cast<uint64_t>(whole);
    else if (name == "--configs")
      options.configs = static_cast<int>(whole);
    else if (name == "--first")
      options.first = whole;
    else if (name == "--failures")
      options.most_failures = static_cast<int>(whole);
    else {
      fmt::print(stderr, "{}", kUsage);
      return 2;
    }
  }
  if (!options.seconds && !options.kernels) options.seconds = 60;
  return tilewright::fuzz::run_session(options);
}
