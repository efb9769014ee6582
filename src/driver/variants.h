// The recordings of one call. A kernel whose host part computes with what the config says (tunables, registered block
// sizes as integers) is another kernel for each of these values: with other allocations, loops, and options. It is
// recorded once for each that is tried. Other kernels have one recording for all configs.
#pragma once

#include "driver/specialisation.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright {

class Variants {
public:
  /// Refers to the call, which must outlive it. Records the call for the default of what its host part asks.
  Variants(const KernelDefinition& definition, const detail::Call& call, Backend backend = Backend::Cpu);

  /// The recording that knows no config: its spec is what a search searches.
  const Specialisation& base() const { return *variants_.front(); }
  bool depend_on_config() const { return !base().asked.empty(); }

  struct Choice {
    std::shared_ptr<const Specialisation> specialisation;
    Config config;                     // complete for it
    std::vector<std::string> warnings; // of a user's config
  };
  /// For what a user wrote. Throws Error on what is not legal.
  Choice complete(const Config& config);
  /// For what a search proposes, from the options of base(): other recordings may have other ones, which get their
  /// defaults. Throws Error where the kernel refuses these values.
  Choice fit(const Config& config);

private:
  std::shared_ptr<const Specialisation> recorded_for(const Config& config);

  const KernelDefinition& definition_;
  const detail::Call& call_;
  const Backend backend_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Specialisation>> variants_;
};

} // namespace tilewright
