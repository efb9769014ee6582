// Configs as points of a discrete space: how searches see them, without knowing what any option means.
//
// A point has one number per entry of the spec, in the spec's order: the entry's proposal. Every function here that
// returns a point returns one that keeps the spec's element and resource limits, the blocks that walk inside others,
// and the dependences.
#pragma once

#include "config/config_spec.h"
#include "config/random.h"

#include <cstdint>
#include <vector>

namespace tilewright {

using ConfigPoint = std::vector<int64_t>;

/// The proposals nearest to a normalised config. Exact only if all its values are proposals.
ConfigPoint encode(const ConfigSpec& spec, const Config& config);

/// The whole config of a point; normalise() leaves it as it is.
Config decode(const ConfigSpec& spec, const ConfigPoint& point);

ConfigPoint default_point(const ConfigSpec& spec);

/// Each entry uniform over its proposals.
ConfigPoint random_point(const ConfigSpec& spec, Random& random);

/// Differential evolution's trial: entries of `parent`, each replaced with probability `crossover_rate` (one at least)
/// by a + weight * (b - c).
ConfigPoint evolve(const ConfigSpec& spec, const ConfigPoint& parent, const ConfigPoint& a, const ConfigPoint& b,
                   const ConfigPoint& c, double weight, double crossover_rate, Random& random);

/// A few random steps (at least one) from a point, each to a neighbour.
ConfigPoint mutate(const ConfigSpec& spec, const ConfigPoint& point, Random& random);

/// All points one step away in one entry.
std::vector<ConfigPoint> neighbours(const ConfigSpec& spec, const ConfigPoint& point);

} // namespace tilewright
