// A search proposes configs and learns how fast they are. It knows nothing of kernels, clocks or compilers.
#pragma once

#include "autotune/candidate.h"
#include "tilewright/config.h"

#include <span>
#include <string>
#include <vector>

namespace tilewright {

struct Trial {
  Config config;
  Outcome outcome = Outcome::skipped;
  double microseconds = 0; // the time if measured, a lower bound if too slow
};

/// Where a search stands after it has learned a batch: what the tuning log prints of it.
struct SearchProgress {
  std::string step;               // "generation 3"
  size_t replaced = 0;            // members of the population that gave way to faster ones
  std::vector<double> times = {}; // of the population's members that were measured, in microseconds, in any order
};

class Search {
public:
  virtual ~Search() = default;

  /// The algorithm and its parameters, on one line.
  virtual std::string description() const = 0;

  /// The next batch, all of which may be measured in any order: different legal configs, none of them proposed before.
  /// Empty: the search is at its end, and why_finished() says why.
  virtual std::vector<Config> propose() = 0;

  /// What became of the batch: as many trials as were proposed, in their order. Skipped ones tell nothing.
  virtual void learn(std::span<const Trial> trials) = 0;

  virtual SearchProgress progress() const = 0;

  /// "20 generations are done"
  virtual std::string why_finished() const = 0;
};

} // namespace tilewright
