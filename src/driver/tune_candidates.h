// Tuning a specialisation with whoever compiles and measures its candidates. Nothing of LLVM is seen here.
#pragma once

#include "autotune/autotune.h"
#include "autotune/candidate.h"
#include "driver/specialisation.h"
#include "tilewright/settings.h"

#include <functional>
#include <string>

namespace tilewright {

struct TuneRequest {
  AutotuneEffort effort = AutotuneEffort::quick;
  double budget_seconds = 10;
  bool quiet = false; // the log goes to the debug level
  /// What to write to have a config again, for the log; by default in C++.
  std::function<std::string(const Config&)> paste = {};
  /// As TuningSubject::job_for; by default the specialisation's kernel with the config itself.
  std::function<CandidateJob(const Config&)> job_for = {};
};

/// Searches from what the database knows of neighbours, and records what it finds there.
TuningResult tune_candidates(const Specialisation& specialisation, CandidateRunner& runner, const TuneRequest& request);

} // namespace tilewright
