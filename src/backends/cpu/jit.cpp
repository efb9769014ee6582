#include "backends/cpu/jit.h"

#include "backends/cpu/llvm_pipeline.h"
#include "support/error.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/Support/Process.h"

#include <optional>

namespace tilewright::cpu {
namespace {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

jitlink::JITLinkMemoryManager& memory_manager() {
  // Never destroyed: code may be freed by the last static objects of a process.
  static auto* manager = new jitlink::InProcessMemoryManager(llvm::sys::Process::getPageSizeEstimate());
  return *manager;
}

class LinkedCode final : public CompiledCode {
public:
  LinkedCode(jitlink::JITLinkMemoryManager::FinalizedAlloc memory, orc::ExecutorAddr entry, size_t code_bytes,
             int64_t scratch_bytes, size_t instruction_count)
      : memory_(std::move(memory)) {
    function_ = entry.toPtr<CpuKernelFunction>();
    code_bytes_ = code_bytes;
    scratch_bytes_ = scratch_bytes;
    instruction_count_ = instruction_count;
  }
  ~LinkedCode() override { llvm::cantFail(memory_manager().deallocate(std::move(memory_))); }

private:
  jitlink::JITLinkMemoryManager::FinalizedAlloc memory_;
};

// What linking one object comes to. A kernel's object is closed: it refers to nothing outside, so it is linked by
// JITLink directly, with no session or symbol tables that would have to be cleaned up with it.
struct LinkResult {
  std::optional<jitlink::JITLinkMemoryManager::FinalizedAlloc> memory;
  orc::ExecutorAddr entry;
  size_t code_bytes = 0;
  std::string error;
};

class LinkContext final : public jitlink::JITLinkContext {
public:
  LinkContext(std::string entry, LinkResult& result)
      : JITLinkContext(nullptr), entry_(std::move(entry)), result_(result) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_manager(); }

  void notifyFailed(llvm::Error error) override { result_.error = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next) override {
    std::string names;
    for (const auto& symbol : symbols) names.append(" ").append(symbol.first.str());
    next->run(llvm::createStringError("undefined symbols:" + names));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (jitlink::Symbol* symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getName() == entry_) result_.entry = symbol->getAddress();
    for (jitlink::Block* block : graph.blocks()) result_.code_bytes += block->getSize();
    return llvm::Error::success();
  }

  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc memory) override {
    result_.memory = std::move(memory);
  }

private:
  std::string entry_;
  LinkResult& result_;
};

LinkResult link(llvm::ArrayRef<char> object, const std::string& entry) {
  LinkResult result;
  llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), entry);
  auto graph = jitlink::createLinkGraphFromObject(buffer);
  if (!graph) fail("the code of kernel {} cannot be linked: {}", entry, llvm::toString(graph.takeError()));
  // In this process linking is done when link() returns.
  jitlink::link(std::move(*graph), std::make_unique<LinkContext>(entry, result));
  if (!result.memory) fail("the code of kernel {} cannot be linked: {}", entry, result.error);
  return result;
}

} // namespace

std::shared_ptr<const CompiledCode> compile(EmittedKernel kernel, const CpuTarget& target) {
  optimise(*kernel.module, target);
  size_t instructions = kernel.module->getInstructionCount();
  llvm::SmallVector<char, 0> object = generate_object(*kernel.module, target);
  LinkResult linked = link(object, kernel.entry);
  return std::make_shared<LinkedCode>(std::move(*linked.memory), linked.entry, linked.code_bytes, kernel.scratch_bytes,
                                      instructions);
}

} // namespace tilewright::cpu
