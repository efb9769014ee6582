#include "schedule/choose_accesses.h"

#include "ir/kernel_accesses.h"

using namespace mlir;

namespace tilewright {

// The next one of a list; nothing past its end.
static std::optional<StringRef> next(ArrayRef<std::string>& list) {
  if (list.empty()) return std::nullopt;
  StringRef first = list.front();
  list = list.drop_front();
  return first;
}

template <typename Op>
static LogicalResult choose(Op access, ArrayRef<std::string>& indexing, ArrayRef<std::string>& evictions) {
  if (std::optional<StringRef> name = next(indexing)) {
    std::optional<Access> kind = symbolizeAccess(*name);
    if (!kind) return access.emitError() << "there is no indexing '" << *name << "'";
    access.setAccess(*kind);
  }
  if (std::optional<StringRef> name = next(evictions); name && !name->empty()) {
    std::optional<Eviction> eviction = symbolizeEviction(*name);
    if (!eviction) return access.emitError() << "there is no eviction policy '" << *name << "'";
    access.setEviction(*eviction);
  }
  return success();
}

LogicalResult choose_accesses(KernelOp kernel, ArrayRef<std::string> indexing, ArrayRef<std::string> load_evictions,
                              ArrayRef<std::string> store_evictions) {
  for (Operation* op : loads_and_stores(kernel)) {
    auto load = dyn_cast<LoadOp>(op);
    if (failed(load ? choose(load, indexing, load_evictions) : choose(cast<StoreOp>(op), indexing, store_evictions)))
      return failure();
  }
  return success();
}

} // namespace tilewright
