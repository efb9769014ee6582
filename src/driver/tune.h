// Finding the config of a specialisation: what the caller set, what is known, or what tuning finds.
#pragma once

#include "driver/arguments.h"
#include "driver/tune_candidates.h"
#include "driver/variants.h"
#include "tilewright/settings.h"

namespace tilewright {

/// tune_candidates() with code for this machine's CPU, on copies of the arguments. The result's config is one of the
/// variants' base(): Variants::fit() makes of it what is run.
TuningResult tune(Variants& variants, const detail::Call& call, const TuneRequest& request);

/// What the database knows for these arguments, then for their neighbours, complete. Configs found for other shapes or
/// machines may not be legal here; those are passed over.
std::vector<Config> known_configs(const Specialisation& specialisation, size_t count);

/// The settings with what is not set in them taken from the environment. Throws Error on a value that is none.
Settings with_environment(const Settings& settings);

/// The config that a call runs with, complete. A first call has `search` tune, within a small budget, and says so in
/// one line; a new shape of a kernel known from before takes the nearest config at once. Without `search` what is not
/// known has the default. `search` gives a config of the variants' base().
Variants::Choice choose_config(Variants& variants, const Settings& settings,
                               const std::function<Config(const TuneRequest&)>& search);
/// Tunes on copies of the call's arguments.
Variants::Choice choose_config(Variants& variants, const detail::Call& call);

/// The process's database, under the user's cache directory.
TuningDatabase& tuning_database();

} // namespace tilewright
