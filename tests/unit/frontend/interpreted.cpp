#include "interpreted.h"

#include "frontend/traced_kernel.h"
#include "ir/context.h"
#include "ir/interpreter.h"
#include "ir/kernel_loops.h"
#include "schedule/pin_sizes.h"

namespace tilewright::testing {

static InterpreterArgument argument_of(const detail::Argument& argument) {
  if (argument.kind == detail::Argument::Kind::array) return argument.array();
  switch (argument.dtype) {
  case DType::float32: return static_cast<double>(*static_cast<const float*>(argument.data));
  case DType::float64: return *static_cast<const double*>(argument.data);
  case DType::int32: return static_cast<int64_t>(*static_cast<const int32_t*>(argument.data));
  case DType::int64: return *static_cast<const int64_t*>(argument.data);
  default: return static_cast<int64_t>(*static_cast<const bool*>(argument.data));
  }
}

std::vector<Array> interpret(const BoundCall& call, int64_t block) {
  std::unique_ptr<mlir::MLIRContext> context = make_context();
  TracedKernel traced = trace(call.core().definition(), call.call(), context.get());
  std::vector<ArrayLayout> layouts;
  std::vector<InterpreterArgument> arguments;
  for (size_t index : traced.parameters) {
    const detail::Argument& argument = call.call().arguments[index];
    arguments.push_back(argument_of(argument));
    if (argument.kind != detail::Argument::Kind::array) continue;
    const Array& array = argument.array();
    layouts.push_back({{array.sizes().begin(), array.sizes().end()},
                       {array.strides().begin(), array.strides().end()},
                       assumed_alignment(array)});
  }
  check_diagnostics(context.get(), [&] { return pin_sizes(traced.kernel, layouts); });
  llvm::SmallVector<int64_t> blocks(block_id_count(traced.kernel), block);
  return interpret_kernel(traced.kernel, blocks, arguments);
}

} // namespace tilewright::testing
