#include "driver/variants.h"

#include "config/normalise.h"
#include "support/error.h"

namespace tilewright {

// Values settle at once but where a normalised config changes a size that the recording asked for.
constexpr int kMostRounds = 8;

Variants::Variants(const KernelDefinition& definition, const detail::Call& call, Backend backend)
    : definition_(definition), call_(call), backend_(backend) {
  variants_.push_back(std::make_shared<Specialisation>(specialise(definition, call, backend)));
}

std::shared_ptr<const Specialisation> Variants::recorded_for(const Config& config) {
  std::lock_guard lock(mutex_);
  for (const std::shared_ptr<const Specialisation>& variant : variants_)
    if (holds_for(*variant, config)) return variant;
  return variants_.emplace_back(std::make_shared<Specialisation>(specialise(definition_, call_, backend_, &config)));
}

Variants::Choice Variants::complete(const Config& config) {
  Choice choice{recorded_for(config), {}, {}};
  for (int round = 0; round < kMostRounds; ++round) {
    NormalisedConfig normalised =
        normalise(choice.specialisation->spec, round == 0 ? config : choice.config, choice.specialisation->location);
    choice.config = normalised.config;
    choice.warnings.insert(choice.warnings.end(), normalised.warnings.begin(), normalised.warnings.end());
    if (holds_for(*choice.specialisation, choice.config)) return choice;
    choice.specialisation = recorded_for(choice.config);
  }
  fail(definition_.location, "kernel {}: its host part asks for other block sizes each time it is recorded for {}",
       definition_.name, config.to_json());
}

Variants::Choice Variants::fit(const Config& config) {
  if (!depend_on_config()) return {variants_.front(), config, {}};
  std::shared_ptr<const Specialisation> variant = recorded_for(config);
  return complete(tilewright::fit(variant->spec, config));
}

} // namespace tilewright
