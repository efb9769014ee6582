// The way of a kernel from tile IR to code: the one list of everything that happens, in order.
#pragma once

#include "backends/cpu/jit.h"
#include "config/config_spec.h"
#include "driver/cpu_options.h"
#include "driver/triton_options.h"
#include "ir/guard.h"
#include "ir/tile_dialect.h"
#include "runtime/launch_plan.h"
#include "schedule/pin_sizes.h"
#include "tilewright/config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// What of a kernel a person can look at.
enum class Stage { Tile, Program, Loops, Llvm, Asm, Triton };

/// From "tile", "program", "loops", "llvm", "asm", "triton".
std::optional<Stage> parse_stage(std::string_view name);

/// Once per specialisation: pins the recorded kernel to its arguments' layouts and tidies it. `sizes` are those of the
/// call, s0, s1, ...; what holds of them and the kernel takes for granted is appended to `guards`. Throws Error on the
/// user's line, as all of these do.
void prepare_kernel(KernelOp kernel, llvm::ArrayRef<ArrayLayout> layouts, llvm::ArrayRef<int64_t> sizes,
                    std::vector<Guard>& guards);

/// Code for a prepared kernel. `config` is complete (config/normalise.h).
struct CompiledKernel {
  LaunchPlan plan;
  size_t instruction_count = 0; // of LLVM IR, after optimisation
};
CompiledKernel compile_kernel(KernelOp prepared, const Config& config, const cpu::CpuTarget& target);

/// Triton's Python for a prepared kernel: one file, with its launcher, that needs no Tilewright. The user's lines are
/// its comments.
std::string triton_source(KernelOp prepared, const Config& config, const triton::GpuTarget& target);

/// The text of one stage, with the user's lines as comments. On the way to Triton the stages are tile, program and
/// triton, on that to the CPU all others.
std::string stage_text(KernelOp prepared, const Config& config, const triton::GpuTarget& target, Stage stage);
std::string stage_text(KernelOp prepared, const Config& config, const cpu::CpuTarget& target, Stage stage);

} // namespace tilewright
