// One call of a kernel, specialised: what the command line tunes, shows, runs and times. Nothing of LLVM is seen here.
#pragma once

#include "autotune/autotune.h"
#include "config/config_spec.h"
#include "driver/backend.h"
#include "driver/specialisation.h"
#include "tilewright/kernel.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Code for one config, with arguments of its own: whatever it writes are copies and new arrays.
struct ReadyLaunch {
  std::function<void()> run; // one launch
  // What the kernel gives back; where that is nothing, the arguments that it stores to. Written by each run.
  std::vector<Array> results;
  size_t instruction_count = 0; // of LLVM IR
};

class PreparedCall {
public:
  /// Keeps the call. Throws Error on the user's line where it cannot be recorded or its arguments do not go together.
  explicit PreparedCall(const BoundCall& call, Backend backend = Backend::Cpu);
  ~PreparedCall();
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;

  /// "matmul(x: float32[1024, 1024], y: float32[1024, 1024])"
  const std::string& description() const;
  const Specialisation& specialisation() const;
  const ConfigSpec& spec() const;

  /// A user's config with every option in it. Logs what was changed; throws Error on what is not legal.
  Config complete(const Config& config) const;
  /// The best config that the tuning database knows for these arguments or the nearest ones.
  std::optional<Config> known_config() const;
  /// What a config that a search proposes, of spec(), stands for: the kernel as it is recorded for it, and the config
  /// complete for that. Throws Error where the kernel refuses it.
  CandidateJob candidate(const Config& config) const;
  /// Logs to stderr, and records what it finds in the database.
  TuningResult tune(AutotuneEffort effort, double budget_seconds) const;

  /// `config` is complete in all of these.
  ReadyLaunch ready(const Config& config) const;
  /// Schedules and compiles on this thread, and lets go of the code.
  void compile(const Config& config) const;
  /// `stage` is one of the backend's stage_names().
  std::string stage_text(std::string_view stage, const Config& config) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// In the order of the pipeline: "tile", "program", then "loops", "llvm", "asm", or "triton".
std::span<const std::string> stage_names(Backend backend = Backend::Cpu);

} // namespace tilewright
