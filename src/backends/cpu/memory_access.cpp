#include "backends/cpu/memory_access.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright::cpu {

std::optional<MemoryAccess> memory_access(Operation* op) {
  using Access = std::optional<MemoryAccess>;
  return llvm::TypeSwitch<Operation*, Access>(op)
      .Case([](memref::LoadOp load) { return Access({&load.getMemrefMutable(), false}); })
      .Case([](memref::StoreOp store) { return Access({&store.getMemrefMutable(), true}); })
      .Case([](memref::PrefetchOp prefetch) { return Access({&prefetch.getMemrefMutable(), false}); })
      .Case<vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(
          [](auto load) { return Access({&load.getBaseMutable(), false}); })
      .Case<vector::StoreOp, vector::MaskedStoreOp, vector::ScatterOp>(
          [](auto store) { return Access({&store.getBaseMutable(), true}); })
      .Default([](Operation*) { return Access(); });
}

} // namespace tilewright::cpu
