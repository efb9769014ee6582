// A kernel from text, pinned and simplified, and what is derived from it for a CPU-like machine.
#pragma once

#include "config/backend_limits.h"
#include "config/config_spec.h"
#include "ir/tile_dialect.h"
#include "schedule/kernels.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Contiguous arrays of these sizes.
class PinnedKernel {
public:
  /// `text` in the shorthand of kernels.h.
  PinnedKernel(std::string_view text, const std::vector<std::vector<int64_t>>& shapes);

  KernelOp kernel();
  mlir::MLIRContext* context() { return context_.get(); }
  ConfigSpec spec();
  /// The program's text for a config of the spec: its default with some options set.
  std::string program_text(const Config& changes);

private:
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

/// Two workers, 8 lanes, a register tile of 6 x 16, and every option that schedule has a meaning for.
BackendLimits test_limits();

} // namespace tilewright
