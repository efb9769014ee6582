// The words of the tuning log. Pure functions: what happened in, lines out.
//
//   tuning matmul(float32[1024, 1024], float32[1024, 1024]) for at most 25 s; Ctrl-C keeps the best so far
//   DifferentialEvolutionSearch: population 40, generations 20, crossover rate 0.8, seed 0
//   883200 configs to choose from; compiling on 2 threads, measuring alone
//   default config: {"block_sizes": [48, 64, 64], "pid_type": "flat"}; below, what differs from it
//   [   2.1 s] first population: failed  3, replaced  0; fastest 13.2 ms, median 31.0 ms, slowest  210 ms; best {...}
//   [   4.4 s] generation 1:     failed  0, replaced 12; fastest 12.9 ms, median 24.2 ms, slowest 98.1 ms; best {...}
//   ...
//   [  25.0 s] matmul(...) takes 12.1 ms with the best config and 41.3 ms with the default one, 3.41 times as long
//   312 configs searched: 298 measured, 10 too slow, 4 failed; stopped because the budget of 25 s is used
//     3 x wrong result: ...
//   To have this config without tuning:
//     tw::Config{{"block_sizes", {96, 256, 128}}, {"pid_type", "flat"}}
#pragma once

#include "autotune/autotune.h"

namespace tilewright {

/// Three digits and a unit: "13.2 ms", "845 us", "1.20 s".
std::string time_text(double microseconds);

std::string start_text(const TuningSubject& subject, double budget_seconds);
/// `beside`: candidates are measured while others compile.
std::string space_text(double space_size, unsigned compile_threads, bool beside);
std::string default_text(const Config& default_config);

/// A generation's line. The best config is given by the options in which it differs from the default, which normalise()
/// completes to the same config: a line is short enough to be read.
std::string step_text(double seconds, const SearchProgress& progress, size_t failed, const Config& best,
                      const Config& default_config);

/// The lines at the end; `finished` is the search's own reason, for the stop reason search_finished.
std::vector<std::string> end_texts(const TuningSubject& subject, const TuningResult& result, double budget_seconds,
                                   const std::string& finished, const std::string& paste);

/// The message when every candidate failed.
std::string all_failed_text(const TuningSubject& subject, const TuningResult& result);

} // namespace tilewright
