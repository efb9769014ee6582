#include "driver/tune.h"

#include "autotune/effort.h"
#include "config/normalise.h"
#include "driver/config_warnings.h"
#include "driver/in_process_runner.h"
#include "support/error.h"
#include "support/log.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tilewright {

static constexpr size_t kNeighbours = 4; // known configs that a search begins with, beside those that suit the machine
static constexpr size_t kLookedThrough = 16;
static constexpr uint64_t kSeed = 0;

TuningDatabase& tuning_database() {
  static TuningDatabase database;
  return database;
}

std::vector<Config> known_configs(const Specialisation& specialisation, size_t count) {
  std::vector<Config> configs;
  // Some of them may not be legal here.
  for (const TuningRecord& record : tuning_database().nearest(specialisation.key, count + kLookedThrough)) {
    if (configs.size() == count) break;
    try {
      configs.push_back(normalise(specialisation.spec, record.config, specialisation.location).config);
    } catch (const Error&) {
    }
  }
  return configs;
}

static Effort effort_of(AutotuneEffort effort) {
  switch (effort) {
  case AutotuneEffort::none: return Effort::none;
  case AutotuneEffort::quick: return Effort::quick;
  case AutotuneEffort::full: return Effort::full;
  }
  return Effort::none;
}

TuningResult tune(Variants& variants, const detail::Call& call, const TuneRequest& given) {
  const Specialisation& specialisation = variants.base();
  InProcessRunner runner(variants, call);
  TuneRequest request = given;
  if (!request.paste)
    request.paste = [&](const Config& config) {
      return fmt::format("{}.with({})", specialisation.kernel, variants.fit(config).config.to_cpp());
    };
  if (variants.depend_on_config())
    request.job_for = [&](const Config& config) {
      Variants::Choice choice = variants.fit(config);
      return CandidateJob{choice.specialisation->tile_ir, specialisation.key.shapes, choice.config};
    };
  return tune_candidates(specialisation, runner, request);
}

TuningResult tune_candidates(const Specialisation& specialisation, CandidateRunner& runner,
                             const TuneRequest& request) {
  std::vector<Config> first = known_configs(specialisation, kNeighbours);
  first.insert(first.end(), specialisation.spec.starts.begin(), specialisation.spec.starts.end());
  std::unique_ptr<Search> search = make_search(effort_of(request.effort), specialisation.spec, std::move(first), kSeed);
  TuningSubject subject{specialisation.description, specialisation.tile_ir, specialisation.key.shapes,
                        specialisation.location, request.job_for};
  TuneOptions options;
  options.budget_seconds = request.budget_seconds;
  options.paste = request.paste ? request.paste : [&](const Config& config) {
    return fmt::format("{}.with({})", specialisation.kernel, config.to_cpp());
  };
  if (request.quiet) options.log = [](std::string_view line) { log_debug("{}", line); };
  TuningResult result = autotune(*search, runner, subject, specialisation.spec, options);
  if (std::isfinite(result.microseconds))
    tuning_database().record(specialisation.key, result.best, result.microseconds);
  return result;
}

Settings with_environment(const Settings& settings) {
  Settings result = settings;
  if (const char* text = std::getenv("TILEWRIGHT_AUTOTUNE_EFFORT"); text && !result.autotune_effort) {
    std::optional<Effort> effort = parse_effort(text);
    if (!effort) fail("TILEWRIGHT_AUTOTUNE_EFFORT is \"{}\"; it is none, quick or full", text);
    result.autotune_effort = *effort == Effort::none    ? AutotuneEffort::none
                             : *effort == Effort::quick ? AutotuneEffort::quick
                                                        : AutotuneEffort::full;
  }
  if (const char* text = std::getenv("TILEWRIGHT_AUTOTUNE_BUDGET_SECONDS"); text && !result.autotune_budget_seconds) {
    double seconds = 0;
    auto [end, error] = std::from_chars(text, text + std::strlen(text), seconds);
    if (error != std::errc() || *end != 0 || !(seconds > 0))
      fail("TILEWRIGHT_AUTOTUNE_BUDGET_SECONDS is \"{}\"; it is a number of seconds above 0", text);
    result.autotune_budget_seconds = seconds;
  }
  if (!result.autotune_effort) result.autotune_effort = AutotuneEffort::quick;
  if (!result.autotune_budget_seconds) result.autotune_budget_seconds = 10;
  return result;
}

Variants::Choice choose_config(Variants& variants, const detail::Call& call) {
  return choose_config(variants, *call.settings,
                       [&](const TuneRequest& request) { return tune(variants, call, request).best; });
}

Variants::Choice choose_config(Variants& variants, const Settings& given,
                               const std::function<Config(const TuneRequest&)>& search) {
  const Specialisation& specialisation = variants.base();
  Settings settings = with_environment(given);
  if (settings.config) {
    Variants::Choice choice = variants.complete(*settings.config);
    warn_of_config(specialisation.kernel, choice.warnings);
    return choice;
  }
  if (*settings.autotune_effort == AutotuneEffort::none) return variants.fit(default_config(specialisation.spec));
  if (std::vector<Config> known = known_configs(specialisation, 1); !known.empty()) return variants.fit(known[0]);
  if (!search) return variants.fit(default_config(specialisation.spec));
  log_info("tilewright: first call of {}: tuning for at most {:g} s (to skip: TILEWRIGHT_AUTOTUNE_EFFORT=none, or "
           "a config for it)",
           specialisation.description, *settings.autotune_budget_seconds);
  return variants.fit(search({*settings.autotune_effort, *settings.autotune_budget_seconds, /*quiet=*/true}));
}

} // namespace tilewright
