// Calls of kernels: the specialisations of one kernel, each compiled once however many ask at once.
#include "driver/arguments.h"
#include "driver/compiled_call.h"
#include "driver/in_process_runner.h"
#include "driver/tune.h"
#include "driver/variants.h"
#include "frontend/traced_kernel.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace tilewright {
namespace {

/// A specialisation that is there, or is being made by the thread that holds the mutex.
struct Entry {
  std::mutex making;
  std::atomic<std::shared_ptr<const CompiledCall>> compiled; // set once, under `making`
};

class Core final : public detail::KernelCore {
public:
  explicit Core(KernelDefinition definition) : definition_(std::move(definition)) {}

  const KernelDefinition& definition() const override { return definition_; }

  void run(const detail::Call& call, Array* results) override {
    std::shared_ptr<const CompiledCall> compiled = find(call);
    ProgramArguments arguments(compiled->specialisation, call);
    launch(compiled->plan, arguments.pointers());
    for (size_t i = 0; i < call.result_count; ++i) results[i] = arguments.returned(i);
  }

private:
  std::shared_ptr<const CompiledCall> find(const detail::Call& call) {
    llvm::SmallString<256> key;
    append_specialization_key(call.arguments, key);
    if (call.settings->config) key += call.settings->config->to_json();
    {
      std::shared_lock lock(mutex_);
      auto found = entries_.find(std::string_view(key));
      if (found != entries_.end())
        if (std::shared_ptr<const CompiledCall> compiled = found->second->compiled.load()) return compiled;
    }
    std::shared_ptr<Entry> entry;
    {
      std::unique_lock lock(mutex_);
      std::shared_ptr<Entry>& slot = entries_[std::string(key)];
      if (!slot) slot = std::make_shared<Entry>();
      entry = slot;
    }
    std::unique_lock making(entry->making); // another thread's failure leaves the entry empty: then this one tries
    if (!entry->compiled.load()) entry->compiled.store(compile_call(definition_, call));
    return entry->compiled.load();
  }

  const KernelDefinition definition_;
  std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
};

} // namespace

std::shared_ptr<const CompiledCall> compile_call(const KernelDefinition& definition, const detail::Call& call) {
  auto compiled = std::make_shared<CompiledCall>();
  Variants variants(definition, call);
  ProgramArguments check(variants.base(), call); // refuses overlaps before anything is tuned
  Variants::Choice choice = choose_config(variants, call);
  compiled->specialisation = *choice.specialisation;
  compiled->config = choice.config;
  compiled->plan = compile_config(compiled->specialisation.tile_ir, compiled->config).plan;
  return compiled;
}

std::shared_ptr<detail::KernelCore> detail::make_kernel_core(KernelDefinition definition) {
  return std::make_shared<Core>(std::move(definition));
}

} // namespace tilewright
