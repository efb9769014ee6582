#include "driver/compile_context.h"

#include "ir/context.h"

#include <memory>
#include <vector>

namespace tilewright {
namespace {

// Configs per context: 20,000 leave 6.5 MiB of types behind, and a new context costs a millisecond.
constexpr int kUsesPerContext = 256;

struct UsedContext {
  std::unique_ptr<mlir::MLIRContext> context;
  int uses = 0;
};

/// A context of this thread for as long as it is needed.
class BorrowedContext {
public:
  BorrowedContext() {
    if (!idle().empty()) {
      borrowed_ = std::move(idle().back());
      idle().pop_back();
    }
    if (!borrowed_.context || borrowed_.uses >= kUsesPerContext) borrowed_ = {make_context(), 0};
    ++borrowed_.uses;
  }
  ~BorrowedContext() { idle().push_back(std::move(borrowed_)); }
  BorrowedContext(const BorrowedContext&) = delete;
  BorrowedContext& operator=(const BorrowedContext&) = delete;

  mlir::MLIRContext* get() { return borrowed_.context.get(); }

private:
  static std::vector<UsedContext>& idle() {
    static thread_local std::vector<UsedContext> contexts;
    return contexts;
  }
  UsedContext borrowed_;
};

} // namespace

std::string serialise_kernel(KernelOp kernel) { return to_text(kernel->getParentOp(), /*locations=*/true); }

void with_kernel(const std::string& text, llvm::function_ref<void(KernelOp)> use) {
  BorrowedContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module = parse_module(text, context.get());
  use(*module->getOps<KernelOp>().begin());
}

} // namespace tilewright
