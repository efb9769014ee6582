#include "backends/triton/emit_source.h"

#include "backends/triton/kernel_emitter.h"
#include "backends/triton/prepare.h"
#include "ir/context.h"
#include "ir/programs_per_worker.h"
#include "schedule/simplify.h"
#include "support/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

using namespace mlir;

namespace tilewright::triton {
namespace {

std::string torch_type(DType dtype) { return fmt::format("torch.{}", name(dtype)); }

std::string fill_text(const Number& fill, DType dtype) {
  if (dtype == DType::boolean) return fill.integer() != 0 ? "True" : "False";
  if (!is_floating_point(dtype)) return fmt::format("{}", fill.integer());
  const double value = fill.real();
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  return fmt::format("{}", value);
}

std::string list(ArrayRef<int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

/// Writes the file of a program.
class SourceWriter {
public:
  SourceWriter(ProgramOp program, const HostPlan& host, const LaunchOptions& options, SourceLine source_line)
      : program_(program), host_(host), options_(options), source_line_(source_line) {}

  std::string run() {
    name_arguments();
    SmallVector<OwningOpRef<ProgramOp>> parts = split_phases(program_);
    std::string kernel = program_.getSymName().str();
    std::map<std::string, std::string> combiners; // of the kernels so far
    for (auto [i, part] : llvm::enumerate(parts)) {
      check_diagnostics(program_.getContext(), [&] { return simplify_program(*part); });
      fold_uniform_values(*part);
      check_diagnostics(program_.getContext(), [&] { return simplify_program(*part); });
      std::string name = parts.size() == 1 ? kernel + "_kernel" : fmt::format("{}_kernel_{}", kernel, i);
      KernelEmitter first(*part, name, arguments_, source_line_);
      first.share_combiners(combiners);
      first.run();
      KernelEmitter emitter(*part, name, arguments_, source_line_);
      emitter.name_repeated(first.written());
      emitter.share_combiners(combiners);
      functions_.push_back(emitter.run());
      combiners = emitter.combiners();
      std::string line = launch(functions_.back(), *part);
      launches_.push_back(line);
    }
    return text();
  }

private:
  // The user's names; "out" for what the kernel gives back, "scratch" for what it allocates for itself.
  void name_arguments() {
    Writer names(source_line_);
    const size_t given = program_.getNumArguments() - host_.allocations.size();
    for (size_t i = 0; i < given; ++i) {
      StringRef name = program_.argument_name(i);
      arguments_.push_back(names.unique(name.empty() ? "argument" : name));
    }
    for (size_t i = 0; i < host_.allocations.size(); ++i) {
      bool is_returned = llvm::any_of(host_.returned, [&](const HostPlan::Returned& returned) {
        return returned.kind == HostPlan::Returned::Kind::Allocation && returned.index == i;
      });
      arguments_.push_back(names.unique(is_returned ? "out" : "scratch"));
    }
  }

  std::string device() {
    for (size_t i = 0; i < program_.getNumArguments() - host_.allocations.size(); ++i)
      if (isa<ArrayType>(program_.getArgument(i).getType())) return arguments_[i] + ".device";
    return "\"cuda\"";
  }

  std::vector<std::string> allocations() {
    std::vector<std::string> lines;
    const size_t given = program_.getNumArguments() - host_.allocations.size();
    for (auto [i, allocation] : llvm::enumerate(host_.allocations)) {
      std::string shape = tuple(allocation.sizes_for({})), type = torch_type(allocation.dtype);
      std::string function = fmt::format("torch.empty({}", shape);
      if (allocation.fill) {
        const bool is_zero = allocation.fill->real() == 0 && !std::signbit(allocation.fill->real());
        function = is_zero ? fmt::format("torch.zeros({}", shape)
                           : fmt::format("torch.full({}, {}", shape, fill_text(*allocation.fill, allocation.dtype));
      }
      lines.push_back(fmt::format("{} = {}, dtype={}, device={})", arguments_[given + i], function, type, device()));
    }
    return lines;
  }

  std::string launch(const EmittedFunction& function, ProgramOp part) {
    std::vector<std::string> arguments;
    for (const EmittedFunction::Parameter& parameter : function.passed) {
      if (parameter.argument) {
        arguments.push_back(arguments_[*parameter.argument]);
        continue;
      }
      const Descriptor& descriptor = *parameter.descriptor;
      uses_descriptors_ = true;
      std::string line = fmt::format("{} = TensorDescriptor.from_tensor({}, {})", descriptor.name,
                                     arguments_[descriptor.argument], list(descriptor.block));
      if (!llvm::is_contained(launches_, line)) launches_.push_back(line);
      arguments.push_back(descriptor.name);
    }
    std::string grid;
    if (part.getGrid()) {
      grid = tuple(*part.getGrid());
    } else if (part.getPrograms()) {
      grid = fmt::format("({},)", *part.getPrograms());
    } else {
      is_persistent_ = true;
      const int64_t each = programs_per_worker(part);
      grid = each == 1 ? "(multiprocessors,)" : fmt::format("({} * multiprocessors,)", each);
    }
    auto option = [&](const char* name, std::optional<int64_t> value) {
      if (value) arguments.push_back(fmt::format("{}={}", name, *value));
    };
    option("num_warps", options_.num_warps);
    const bool has_loop = part.walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (has_loop) option("num_stages", options_.num_stages);
    option("maxnreg", options_.max_registers);
    return fmt::format("{}[{}]({})", function.name, grid, fmt::join(arguments, ", "));
  }

  std::string text() {
    const bool uses_libdevice =
        llvm::any_of(functions_, [](const EmittedFunction& function) { return function.uses_libdevice; });
    std::string text = "import torch\nimport triton\nimport triton.language as tl\n";
    if (uses_libdevice) text += "from triton.language.extra import libdevice\n";
    if (uses_descriptors_) text += "from triton.tools.tensor_descriptor import TensorDescriptor\n";
    for (const EmittedFunction& function : functions_) {
      for (const std::string& combiner : function.combiners) text += "\n\n" + combiner + "\n";
      text += fmt::format("\n\n@triton.jit\ndef {}({}):\n", function.name, fmt::join(function.parameters, ", "));
      for (const std::string& line : function.body) text += "    " + line + "\n";
      if (function.body.empty()) text += "    pass\n";
    }
    const size_t given = program_.getNumArguments() - host_.allocations.size();
    text += fmt::format("\n\ndef {}({}):\n", program_.getSymName().str(),
                        fmt::join(ArrayRef<std::string>(arguments_).take_front(given), ", "));
    for (const std::string& line : allocations()) text += "    " + line + "\n";
    if (is_persistent_)
      text +=
          fmt::format("    multiprocessors = torch.cuda.get_device_properties({}).multi_processor_count\n", device());
    for (const std::string& line : launches_) text += "    " + line + "\n";
    std::vector<std::string> returned;
    for (const HostPlan::Returned& each : host_.returned)
      returned.push_back(arguments_[each.kind == HostPlan::Returned::Kind::Argument ? each.index : given + each.index]);
    if (!returned.empty()) text += fmt::format("    return {}\n", fmt::join(returned, ", "));
    return text;
  }

  ProgramOp program_;
  const HostPlan& host_;
  const LaunchOptions& options_;
  SourceLine source_line_;
  std::vector<std::string> arguments_;
  std::vector<EmittedFunction> functions_;
  std::vector<std::string> launches_;
  bool uses_descriptors_ = false, is_persistent_ = false;
};

// Launchers would have to pass sizes and strides, and to count programs.
void require_static_shapes(ProgramOp program) {
  auto is_static = [](Type type) {
    auto array = dyn_cast<ArrayType>(type);
    return !array || array.is_static();
  };
  if (program.getTiles() || !llvm::all_of(program.getArgumentTypes(), is_static))
    fail(source_location(program.getLoc()),
         "kernel {} has sizes that are known at run time only, and the Triton backend takes static shapes only; leave "
         "static_shapes as it is",
         program.getSymName().str());
}

} // namespace

std::string emit_source(ProgramOp program, const HostPlan& host, const LaunchOptions& options, SourceLine source_line) {
  require_static_shapes(program);
  return SourceWriter(program, host, options, source_line).run();
}

} // namespace tilewright::triton
