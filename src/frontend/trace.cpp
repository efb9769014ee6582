// A call of a kernel, seen from the compiler: recording it, and the key of its specialisation.
#include "frontend/traced_kernel.h"

#include "frontend/recording.h"
#include "frontend/trace_to_text.h"
#include "ir/context.h"
#include "support/error.h"
#include "tilewright/settings.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>

namespace tilewright {

std::string KernelDefinition::argument_name(size_t index) const {
  if (index < argument_names.size()) return argument_names[index];
  return fmt::format("argument {}", index);
}

TracedKernel trace(const KernelDefinition& definition, const detail::Call& call, mlir::MLIRContext* context,
                   const Config* config) {
  detail::Recording recording(definition, call.arguments, context, config);
  call.record(call.function, call.arguments, recording);
  return recording.finish();
}

std::string trace_to_text(const BoundCall& call) {
  std::unique_ptr<mlir::MLIRContext> context = make_context();
  return to_text(trace(call.core().definition(), call.call(), context.get()).kernel);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

int64_t assumed_alignment(const Array& array) {
  return reinterpret_cast<uintptr_t>(array.data()) % 16 == 0 ? 16 : size_in_bytes(array.dtype());
}

template <class T> static void append_bytes(llvm::SmallVectorImpl<char>& key, const T* data, size_t count = 1) {
  const char* bytes = reinterpret_cast<const char*>(data);
  key.append(bytes, bytes + sizeof(T) * count);
}

// A byte for each dimension, and one for the whole.
static void append_dynamic_layout(const Array& array, llvm::SmallVectorImpl<char>& key) {
  int64_t reach = 0;
  for (int dim = 0; dim < array.rank(); ++dim) {
    int64_t size = array.sizes()[dim], stride = array.strides()[dim];
    key.push_back(static_cast<char>(size == 1 ? 1 : stride == 1 ? 2 : 0));
    reach += size > 0 ? (size - 1) * std::abs(stride) : 0;
  }
  key.push_back(reach >= int64_t(1) << 31);
}

void append_specialization_key(std::span<const detail::Argument> arguments, bool static_shapes,
                               llvm::SmallVectorImpl<char>& key) {
  using Kind = detail::Argument::Kind;
  for (const detail::Argument& argument : arguments) {
    key.push_back(static_cast<char>(argument.kind));
    switch (argument.kind) {
    case Kind::array: {
      const Array& array = argument.array();
      key.push_back(static_cast<char>(array.dtype()));
      key.push_back(static_cast<char>(array.rank()));
      key.push_back(static_cast<char>(assumed_alignment(array)));
      if (!static_shapes) {
        append_dynamic_layout(array, key);
        break;
      }
      append_bytes(key, array.sizes().begin(), array.rank());
      append_bytes(key, array.strides().begin(), array.rank());
      break;
    }
    case Kind::number: key.push_back(static_cast<char>(argument.dtype)); break;
    case Kind::constant:
      append_bytes(key, &argument.type);
      append_bytes(key, static_cast<const char*>(argument.data), argument.size);
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::vector<Array> BoundCall::run() const {
  std::vector<Array> results(call_.result_count);
  detail::run_kernel(*core_, call_, results.data());
  return results;
}

BoundCall BoundCall::with(const Settings& settings) const {
  struct Owner {
    std::shared_ptr<const void> arguments;
    Settings settings;
  };
  auto owner = std::make_shared<const Owner>(owner_, settings);
  detail::Call call = call_;
  call.settings = &owner->settings;
  return BoundCall(core_, call, owner);
}

namespace detail {

Tensor tensor_parameter(Recording& recording, size_t index) { return Tensor(recording.parameter(index)); }
Handle number_parameter(Recording& recording, size_t index) { return recording.parameter(index); }
void set_results(Recording& recording, const Tensor* results, size_t count) { recording.set_results({results, count}); }

void run_kernel(KernelCore& core, const Call& call, Array* results) {
  if (Recording::current())
    fail(call.location,
         "kernel {} is called while another one is recorded; write what they share as a function of "
         "tw::Value",
         core.definition().name);
  core.run(call, results);
}

void check_argument_count(const KernelDefinition& definition, size_t expected, size_t found) {
  if (found == expected) return;
  std::vector<std::string> names;
  for (size_t i = 0; i < expected; ++i) names.push_back(definition.argument_name(i));
  fail(definition.location, "kernel {} takes {} arguments ({}), found {}", definition.name, expected,
       llvm::join(names, ", "), found);
}

const Array& array_argument(const KernelDefinition& definition, size_t index, const AnyArgument& argument) {
  if (!argument.is_array())
    fail(definition.location, "{} of kernel {} is a tensor, found a number; pass a tw::Array",
         definition.argument_name(index), definition.name);
  return argument.array();
}

const Number& number_argument(const KernelDefinition& definition, size_t index, const AnyArgument& argument) {
  if (argument.is_array())
    fail(definition.location, "{} of kernel {} is a number, found an array; pass a number",
         definition.argument_name(index), definition.name);
  return argument.number();
}

void refuse_argument(const KernelDefinition& definition, size_t index) {
  fail(definition.location, "{} of kernel {} is neither a tensor nor a number, so only C++ can call it",
       definition.argument_name(index), definition.name);
}

void refuse_generic(const KernelDefinition& definition) {
  fail(definition.location, "kernel {} has parameters of type auto, so only C++ can call it", definition.name);
}

} // namespace detail
} // namespace tilewright
