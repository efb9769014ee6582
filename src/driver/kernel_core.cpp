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

/// The specialisations of one key. Where shapes are static that is one, else there is one for each outcome of their
/// guards. One that is missing is made by the thread that holds the mutex.
struct Entry {
  using List = std::vector<std::shared_ptr<const CompiledCall>>;
  std::mutex making;
  std::atomic<std::shared_ptr<const List>> compiled; // replaced by a longer one under `making`

  std::shared_ptr<const CompiledCall> find(std::span<const int64_t> sizes) const {
    std::shared_ptr<const List> list = compiled.load();
    if (!list) return nullptr;
    for (const std::shared_ptr<const CompiledCall>& each : *list)
      if (serves(each->specialisation, sizes)) return each;
    return nullptr;
  }
};

class Core final : public detail::KernelCore {
public:
  explicit Core(KernelDefinition definition) : definition_(std::move(definition)) {}

  const KernelDefinition& definition() const override { return definition_; }

  void run(const detail::Call& call, Array* results) override {
    std::shared_ptr<const CompiledCall> compiled = find(call);
    ProgramArguments arguments(compiled->specialisation, call);
    launch(compiled->plan, arguments.sizes(), arguments.pointers());
    for (size_t i = 0; i < call.result_count; ++i) results[i] = arguments.returned(i);
  }

  size_t specialisation_count() const override {
    std::shared_lock lock(mutex_);
    size_t count = 0;
    for (const auto& [key, entry] : entries_)
      if (std::shared_ptr<const Entry::List> list = entry->compiled.load()) count += list->size();
    return count;
  }

private:
  std::shared_ptr<const CompiledCall> find(const detail::Call& call) {
    const bool static_shapes = has_static_shapes(*call.settings);
    llvm::SmallString<256> key;
    key.push_back(static_cast<char>(static_shapes));
    append_specialization_key(call.arguments, static_shapes, key);
    if (call.settings->config) key += call.settings->config->to_json();
    llvm::SmallVector<int64_t, 16> sizes; // that guards are about
    if (!static_shapes) append_sizes(call.arguments, sizes);
    {
      std::shared_lock lock(mutex_);
      auto found = entries_.find(std::string_view(key));
      if (found != entries_.end())
        if (std::shared_ptr<const CompiledCall> compiled = found->second->find(sizes)) return compiled;
    }
    std::shared_ptr<Entry> entry;
    {
      std::unique_lock lock(mutex_);
      std::shared_ptr<Entry>& slot = entries_[std::string(key)];
      if (!slot) slot = std::make_shared<Entry>();
      entry = slot;
    }
    std::unique_lock making(entry->making); // another thread's failure leaves the entry as it was: then this one tries
    if (std::shared_ptr<const CompiledCall> compiled = entry->find(sizes)) return compiled;
    std::shared_ptr<const CompiledCall> made = compile_call(definition_, call);
    std::shared_ptr<const Entry::List> before = entry->compiled.load();
    auto list = before ? std::make_shared<Entry::List>(*before) : std::make_shared<Entry::List>();
    list->push_back(made);
    entry->compiled.store(std::move(list));
    return made;
  }

  const KernelDefinition definition_;
  mutable std::shared_mutex mutex_;
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
