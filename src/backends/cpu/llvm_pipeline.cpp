#include "backends/cpu/llvm_pipeline.h"

#include "support/error.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <mutex>

namespace tilewright::cpu {
namespace {

constexpr const char* kPipeline = "function(early-cse,simplifycfg,loop-mssa(licm),early-cse)";

std::unique_ptr<llvm::TargetMachine> make_target_machine(const CpuTarget& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string message;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(target.triple, message);
  if (!llvm_target) fail("LLVM cannot make code for {}: {}", target.triple, message);
  return std::unique_ptr<llvm::TargetMachine>(llvm_target->createTargetMachine(
      target.triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

// While it lives, code generation pipelines are built without loop strength reduction. That pass takes a fifth to a
// third of the compile time and saves two scalar instructions in a microkernel's loop of thirty; the emitter's
// addresses are already hoisted and share their bases. LLVM has no other switch for it than this option of its command
// line, which is read when a pipeline is built.
class WithoutLoopStrengthReduction {
public:
  WithoutLoopStrengthReduction() : lock_(mutex()) {
    auto& options = llvm::cl::getRegisteredOptions();
    auto found = options.find("disable-lsr");
    if (found == options.end()) return;
    option_ = static_cast<llvm::cl::opt<bool>*>(found->second);
    before_ = option_->getValue();
    option_->setValue(true);
  }
  ~WithoutLoopStrengthReduction() {
    if (option_) option_->setValue(before_);
  }
  WithoutLoopStrengthReduction(const WithoutLoopStrengthReduction&) = delete;

private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> lock_;
  llvm::cl::opt<bool>* option_ = nullptr;
  bool before_ = false;
};

// One thread's means of compiling for one target. Pass managers are made once: that alone costs a millisecond.
class Pipeline {
public:
  explicit Pipeline(const CpuTarget& target)
      : identity_(target.identity()), machine_(make_target_machine(target)), builder_(machine_.get()) {
    builder_.registerModuleAnalyses(module_analyses_);
    builder_.registerCGSCCAnalyses(cgscc_analyses_);
    builder_.registerFunctionAnalyses(function_analyses_);
    builder_.registerLoopAnalyses(loop_analyses_);
    builder_.crossRegisterProxies(loop_analyses_, function_analyses_, cgscc_analyses_, module_analyses_);
    llvm::cantFail(builder_.parsePassPipeline(optimisations_, kPipeline));
    add_code_generation(object_passes_, object_stream_, llvm::CodeGenFileType::ObjectFile);
  }

  const std::string& identity() const { return identity_; }

  void optimise(llvm::Module& module) {
    module.setDataLayout(machine_->createDataLayout());
    optimisations_.run(module, module_analyses_);
    // Analyses hold on to the module.
    module_analyses_.clear();
    cgscc_analyses_.clear();
    function_analyses_.clear();
    loop_analyses_.clear();
  }

  llvm::SmallVector<char, 0> object(llvm::Module& module) {
    object_.clear();
    object_passes_.run(module);
    return object_;
  }

  std::string assembly(llvm::Module& module) {
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    machine_->Options.MCOptions.AsmVerbose = true;
    add_code_generation(passes, stream, llvm::CodeGenFileType::AssemblyFile);
    passes.run(module);
    return text.str().str();
  }

private:
  void add_code_generation(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                           llvm::CodeGenFileType type) {
    WithoutLoopStrengthReduction option;
    if (machine_->addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
      fail("LLVM cannot write code for {}", machine_->getTargetTriple().str());
  }

  std::string identity_;
  std::unique_ptr<llvm::TargetMachine> machine_;

  llvm::LoopAnalysisManager loop_analyses_;
  llvm::FunctionAnalysisManager function_analyses_;
  llvm::CGSCCAnalysisManager cgscc_analyses_;
  llvm::ModuleAnalysisManager module_analyses_;
  llvm::PassBuilder builder_;
  llvm::ModulePassManager optimisations_;

  llvm::SmallVector<char, 0> object_;
  llvm::raw_svector_ostream object_stream_{object_};
  llvm::legacy::PassManager object_passes_;
};

Pipeline& pipeline_for(const CpuTarget& target) {
  thread_local std::vector<std::unique_ptr<Pipeline>> pipelines;
  std::string identity = target.identity();
  for (auto& pipeline : pipelines)
    if (pipeline->identity() == identity) return *pipeline;
  return *pipelines.emplace_back(std::make_unique<Pipeline>(target));
}

} // namespace

void optimise(llvm::Module& module, const CpuTarget& target) { pipeline_for(target).optimise(module); }

llvm::SmallVector<char, 0> generate_object(llvm::Module& module, const CpuTarget& target) {
  return pipeline_for(target).object(module);
}

std::string generate_assembly(llvm::Module& module, const CpuTarget& target) {
  return pipeline_for(target).assembly(module);
}

} // namespace tilewright::cpu
