#include "autotune/worker_runner.h"

#include "support/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace tilewright {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

namespace {

fs::path make_folder() {
  std::string name = (fs::temp_directory_path() / "tilewright-XXXXXX").string();
  if (!mkdtemp(name.data())) fail("there is no place for temporary files in {}", fs::temp_directory_path().string());
  return name;
}

/// How allocators end a process that has reached its limit; what ended is lower case already.
bool is_about_memory(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr const char* kWords[] = {"out of memory", "bad_alloc", "memoryerror", "cannot allocate memory",
                                    "allocation failed"};
  return std::ranges::any_of(kWords, [&](const char* words) { return text.find(words) != text.npos; });
}

CandidateFailure failure_of_ended(const std::string& how) {
  return {is_about_memory(how) ? Outcome::out_of_memory : Outcome::crashed, how};
}

std::optional<Outcome> failure_kind(std::string_view name) {
  if (name == "compile_failed") return Outcome::compile_failed;
  if (name == "run_failed") return Outcome::run_failed;
  if (name == "wrong_result") return Outcome::wrong_result;
  if (name == "out_of_memory") return Outcome::out_of_memory;
  if (name == "poisoned") return Outcome::poisoned;
  return std::nullopt;
}

/// A worker's answer; a failure where it says so.
std::expected<Json, CandidateFailure> understood(const std::string& text, std::string_view expected) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("outcome") || !json["outcome"].is_string())
    return std::unexpected(CandidateFailure{Outcome::crashed, "a worker answered what is no answer"});
  const std::string outcome = json["outcome"].get<std::string>();
  if (outcome == expected) return json;
  return std::unexpected(
      CandidateFailure{failure_kind(outcome).value_or(Outcome::crashed), json.value("reason", outcome)});
}

/// Nothing where the worker says that it is ready.
std::optional<CandidateFailure> wait_until_ready(WorkerProcess& worker, double seconds) {
  WorkerProcess::Answer answer = worker.receive(seconds);
  switch (answer.kind) {
  case WorkerProcess::Answer::Kind::message: return std::nullopt;
  case WorkerProcess::Answer::Kind::timed_out:
    return CandidateFailure{Outcome::timed_out, fmt::format("a worker was not ready in {:g} s", seconds)};
  case WorkerProcess::Answer::Kind::ended: break;
  }
  return failure_of_ended(answer.text);
}

} // namespace

//===----------------------------------------------------------------------===//
// What is kept of candidates and workers
//===----------------------------------------------------------------------===//

struct WorkerRunner::Candidate final : CompiledCandidate, std::enable_shared_from_this<Candidate> {
  explicit Candidate(fs::path folder) : folder(std::move(folder)) {}
  ~Candidate() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  fs::path folder;
};

struct WorkerRunner::Compiler {
  std::shared_ptr<WorkerProcess> process; // null: to be started
  bool is_ready = false;
};

const fs::path& WorkerRunner::folder_of(const CompiledCandidate& candidate) {
  return static_cast<const Candidate&>(candidate).folder;
}

WorkerRunner::WorkerRunner(Options options)
    : options_(std::move(options)), folder_(make_folder()), limit_(options_.compile_limit) {
  measurer_ = std::make_unique<WorkerProcess>(options_.measurer);
  for (unsigned i = 0; i < std::max(1u, options_.compilers); ++i) {
    compilers_.push_back(std::make_unique<Compiler>());
    compilers_.back()->process = std::make_shared<WorkerProcess>(options_.compiler);
    free_.push_back(compilers_.back().get());
  }
}

WorkerRunner::~WorkerRunner() {
  stop_compiling();
  compilers_.clear();
  measurer_.reset();
  baseline_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

void WorkerRunner::stop_compiling() {
  std::lock_guard lock(mutex_);
  is_stopping_ = true;
  for (const std::unique_ptr<Compiler>& compiler : compilers_)
    if (compiler->process) compiler->process->kill();
  changed_.notify_all();
}

/// Null when the search has ended.
WorkerRunner::Compiler* WorkerRunner::take_compiler() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopping_ || !free_.empty(); });
  if (is_stopping_) return nullptr;
  Compiler* taken = free_.back();
  free_.pop_back();
  return taken;
}

/// Starts it anew where it has ended; null when the search has ended.
std::shared_ptr<WorkerProcess> WorkerRunner::process_of(Compiler& compiler) {
  std::lock_guard lock(mutex_);
  if (is_stopping_) return nullptr;
  if (!compiler.process) {
    compiler.process = std::make_shared<WorkerProcess>(options_.compiler);
    compiler.is_ready = false;
  }
  return compiler.process;
}

std::expected<void, CandidateFailure> WorkerRunner::compile_in(Compiler& compiler, const fs::path& folder) {
  auto lost = [&](CandidateFailure failure) {
    bool stopped = false;
    {
      std::lock_guard lock(mutex_);
      compiler.process.reset();
      stopped = is_stopping_;
    }
    if (stopped) return std::unexpected(CandidateFailure{Outcome::skipped, "the search has ended"});
    process_of(compiler); // gets ready while others work
    return std::unexpected(std::move(failure));
  };
  std::shared_ptr<WorkerProcess> process = process_of(compiler);
  if (!process) return std::unexpected(CandidateFailure{Outcome::skipped, "the search has ended"});
  if (!compiler.is_ready) {
    if (std::optional<CandidateFailure> failure = wait_until_ready(*process, options_.start_seconds))
      return lost(*failure);
    compiler.is_ready = true;
  }
  const double limit = limit_.seconds();
  const Clock::time_point start = Clock::now();
  process->send(Json{{"do", "compile"}, {"folder", folder.string()}}.dump());
  WorkerProcess::Answer answer = process->receive(limit);
  switch (answer.kind) {
  case WorkerProcess::Answer::Kind::timed_out:
    return lost({Outcome::timed_out, fmt::format("took longer than {:.1f} s to compile", limit)});
  case WorkerProcess::Answer::Kind::ended: return lost(failure_of_ended(answer.text));
  case WorkerProcess::Answer::Kind::message: break;
  }
  std::expected<Json, CandidateFailure> json = understood(answer.text, "compiled");
  if (!json) return std::unexpected(json.error());
  limit_.learn(std::chrono::duration<double>(Clock::now() - start).count());
  return {};
}

std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure>
WorkerRunner::compile_candidate(const CandidateJob& job) {
  std::shared_ptr<Candidate> candidate;
  {
    std::lock_guard lock(mutex_);
    candidate = std::make_shared<Candidate>(folder_ / std::to_string(next_number_++));
  }
  fs::create_directory(candidate->folder);
  options_.write_job(job, candidate->folder);
  Compiler* taken = take_compiler();
  if (!taken) return std::unexpected(CandidateFailure{Outcome::skipped, "the search has ended"});
  // Given back whatever happens: where a process cannot be started anew, others still wait for this place.
  auto give_back = [this](Compiler* compiler) {
    std::lock_guard lock(mutex_);
    free_.push_back(compiler);
    changed_.notify_all();
  };
  std::unique_ptr<Compiler, decltype(give_back)> compiler(taken, give_back);
  if (auto compiled = compile_in(*compiler, candidate->folder); !compiled) return std::unexpected(compiled.error());
  return candidate;
}

std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> WorkerRunner::compile(const CandidateJob& job) {
  if (job.config != options_.baseline) return compile_candidate(job);
  auto set = [&](bool is_compiling, std::shared_ptr<CompiledCandidate> compiled) {
    std::lock_guard lock(mutex_);
    baseline_is_compiling_ = is_compiling;
    if (compiled && !baseline_) baseline_ = std::static_pointer_cast<Candidate>(std::move(compiled));
    changed_.notify_all();
  };
  set(true, nullptr);
  try {
    auto compiled = compile_candidate(job);
    set(false, compiled ? *compiled : nullptr);
    return compiled;
  } catch (...) {
    set(false, nullptr);
    throw;
  }
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Starts the worker where there is none, and has it know the right result.
std::expected<void, CandidateFailure> WorkerRunner::ready_to_measure(Candidate& candidate) {
  std::shared_ptr<Candidate> baseline;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !baseline_is_compiling_; });
    baseline = baseline_ ? baseline_ : candidate.shared_from_this();
  }
  for (;;) {
    if (!measurer_) {
      measurer_ = std::make_unique<WorkerProcess>(options_.measurer);
      measurer_is_ready_ = measurer_has_baseline_ = false;
    }
    if (!measurer_is_ready_) {
      if (std::optional<CandidateFailure> failure = wait_until_ready(*measurer_, options_.start_seconds)) {
        measurer_.reset();
        return std::unexpected(std::move(*failure));
      }
      measurer_is_ready_ = true;
    }
    if (measurer_has_baseline_) return {};
    auto made = ask_measurer(Json{{"do", "baseline"}, {"folder", baseline->folder.string()}}.dump());
    if (made) {
      measurer_has_baseline_ = true;
      std::lock_guard lock(mutex_);
      baseline_ = baseline;
      return {};
    }
    // What cannot be run is no baseline: the candidate stands in for it.
    if (baseline.get() == &candidate) return std::unexpected(made.error());
    baseline = candidate.shared_from_this();
    std::lock_guard lock(mutex_);
    baseline_.reset();
  }
}

std::expected<Measurement, CandidateFailure> WorkerRunner::ask_measurer(const std::string& message) {
  measurer_->send(message);
  WorkerProcess::Answer answer = measurer_->receive(options_.measure_seconds);
  switch (answer.kind) {
  case WorkerProcess::Answer::Kind::timed_out:
    measurer_.reset();
    return std::unexpected(
        CandidateFailure{Outcome::timed_out, fmt::format("ran longer than {:g} s", options_.measure_seconds)});
  case WorkerProcess::Answer::Kind::ended: measurer_.reset(); return std::unexpected(failure_of_ended(answer.text));
  case WorkerProcess::Answer::Kind::message: break;
  }
  std::expected<Json, CandidateFailure> json = understood(answer.text, "measured");
  if (!json) {
    if (json.error().kind == Outcome::poisoned || json.error().kind == Outcome::crashed) measurer_.reset();
    return std::unexpected(json.error());
  }
  return Measurement{json->value("microseconds", 0.0), json->value("gave_up", false)};
}

std::expected<Measurement, CandidateFailure> WorkerRunner::measure(CompiledCandidate& compiled, double best) {
  auto& candidate = static_cast<Candidate&>(compiled);
  if (auto ready = ready_to_measure(candidate); !ready) return std::unexpected(ready.error());
  Json message{{"do", "measure"}, {"folder", candidate.folder.string()}, {"best", nullptr}};
  if (std::isfinite(best)) message["best"] = best;
  return ask_measurer(message.dump());
}

std::expected<double, CandidateFailure> WorkerRunner::measure_again(CompiledCandidate& compiled) {
  auto& candidate = static_cast<Candidate&>(compiled);
  if (auto ready = ready_to_measure(candidate); !ready) return std::unexpected(ready.error());
  auto measured = ask_measurer(Json{{"do", "measure_again"}, {"folder", candidate.folder.string()}}.dump());
  if (!measured) return std::unexpected(measured.error());
  return measured->microseconds;
}

} // namespace tilewright
