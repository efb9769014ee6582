// Random configs, all different: to compare other searches with, and to measure compile times on.
#pragma once

#include "autotune/search.h"
#include "config/config_point.h"

namespace tilewright {

/// `count` different configs, each option uniform over what is proposed for it; fewer when the space is smaller.
std::vector<Config> random_configs(const ConfigSpec& spec, size_t count, uint64_t seed);

struct RandomSearchOptions {
  size_t count = 1000;
  size_t batch = 40;
  uint64_t seed = 0;
  std::vector<Config> first = {}; // normalised configs to try after the default
};

/// The default config, the given first ones, then random ones.
class RandomSearch final : public Search {
public:
  RandomSearch(ConfigSpec spec, RandomSearchOptions options);

  std::string description() const override;
  std::vector<Config> propose() override;
  void learn(std::span<const Trial> trials) override;
  SearchProgress progress() const override;
  std::string why_finished() const override;

private:
  const RandomSearchOptions options_;
  std::vector<Config> configs_;
  size_t next_ = 0;
  std::vector<double> times_;
};

} // namespace tilewright
