#include "fuzz/probe.h"

#include "fuzz/forms.h"
#include "fuzz/record_kernel.h"

#include "driver/compile_context.h"
#include "driver/in_process_runner.h"
#include "driver/specialisation.h"
#include "ir/interpreter.h"
#include "tilewright/error.h"

#include <fmt/format.h>

#include <cmath>

namespace tilewright::fuzz {

// Magnitudes are probed in steps, so that what was found is found again.
static double bucket(double magnitude) {
  for (double step : {1.0, 4.0, 16.0, 100.0, 2000.0})
    if (magnitude <= step) return step;
  return 1e6;
}

// The numbers to try for one operand: small whole ones, or evenly spaced ones.
static std::vector<double> points(const ProbedOperand& operand, int count, bool whole_numbers, bool without_zero) {
  double magnitude = bucket(operand.magnitude);
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) {
    double number = magnitude * (2.0 * i / (count - 1) - 1);
    if (whole_numbers || !is_floating_point(operand.dtype)) number = std::round(number);
    if (operand.dtype == boolean) number = i % 2;
    if (operand.dtype == uint8) number = std::fabs(number);
    if (without_zero && number == 0) number = 1;
    numbers.push_back(number);
  }
  return numbers;
}

// x0, x1, ... -> double: `x3[t] = operation(x0[t], x1[t])`.
static FuzzKernel kernel_of(const Operation& operation, const std::vector<ProbedOperand>& operands, int64_t size) {
  FuzzKernel kernel;
  kernel.extents = {size};
  kernel.variable_count = 1;
  Statement loop, apply;
  loop.form = find_form("tile");
  loop.variables = {0};
  loop.operands = {FuzzOperand::extent(0)};
  loop.numbers = {0, 0};
  apply.form = find_form("pointwise");
  apply.operation = &operation;
  Type type{float32, {{Axis::Kind::tile, 0}}};
  for (const ProbedOperand& operand : operands) {
    if (operand.is_literal) {
      double number = operand.literal.kind() == Operand::Kind::real ? operand.literal.real()
                                                                    : static_cast<double>(operand.literal.integer());
      bool real = operand.literal.kind() == Operand::Kind::real;
      apply.operands.push_back(real ? FuzzOperand::real(number) : FuzzOperand::integer(static_cast<int64_t>(number)));
      continue;
    }
    FuzzTensor tensor;
    tensor.dtype = operand.dtype;
    tensor.extents = {0};
    Statement load;
    load.form = find_form("load");
    load.tensor = static_cast<int>(kernel.tensors.size());
    load.subscripts = {{FuzzSubscript::Kind::tile, 0}};
    load.result = kernel.value_count++;
    load.type = {operand.dtype, type.axes};
    apply.operands.push_back(FuzzOperand::of(load.result));
    kernel.tensors.push_back(tensor);
    loop.body.push_back(load);
  }
  apply.result = kernel.value_count++;
  apply.type = type;
  Statement store;
  store.form = find_form("store");
  store.tensor = static_cast<int>(kernel.tensors.size());
  store.subscripts = {{FuzzSubscript::Kind::tile, 0}};
  store.operands = {FuzzOperand::of(apply.result)};
  FuzzTensor out;
  out.dtype = float64;
  out.extents = {0};
  out.allocated = true;
  kernel.tensors.push_back(out);
  loop.body.push_back(apply);
  loop.body.push_back(store);
  kernel.body.push_back(std::move(loop));
  return kernel;
}

// The cross product of the operands' points, as arrays of `size` elements.
static std::vector<Array> inputs_of(const std::vector<ProbedOperand>& operands, int64_t size, bool whole_numbers,
                                    bool without_zero) {
  std::vector<Array> arrays;
  int64_t repeat = 1;
  int values = 0;
  for (const ProbedOperand& operand : operands) values += !operand.is_literal;
  int count = values == 1 ? 33 : values == 2 ? 9 : 5;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].is_literal) continue;
    std::vector<double> numbers = points(operands[i], count, whole_numbers, without_zero && i + 1 == operands.size());
    Array array = Array::empty({size}, float64);
    for (int64_t at = 0; at < size; ++at) array.data<double>()[at] = numbers[at / repeat % count];
    repeat *= count;
    arrays.push_back(array.to(operands[i].dtype));
  }
  return arrays;
}

static std::optional<Probe> run_probe(const Operation& operation, const std::vector<ProbedOperand>& operands,
                                      bool whole_numbers, bool without_zero) {
  int values = 0;
  for (const ProbedOperand& operand : operands) values += !operand.is_literal;
  int64_t size = values == 1 ? 33 : values == 2 ? 81 : 125;
  FuzzKernel kernel = kernel_of(operation, operands, size);
  RecordedCall call(kernel, inputs_of(operands, size, whole_numbers, without_zero));
  Specialisation specialisation = specialise(call.definition(), call.call());
  ProgramArguments arguments(specialisation, call.call());
  std::vector<InterpreterArgument> all = arguments.interpreter_arguments();
  std::vector<Array> allocations{std::get<Array>(all.back())};
  all.pop_back();
  ErrorBounds bounds;
  with_kernel(specialisation.tile_ir,
              [&](KernelOp pinned) { interpret_kernel(pinned, {size}, all, allocations, &bounds); });

  Probe probe;
  probe.dtype = call.dtypes().at(kernel.value_count - 1);
  probe.exact = true;
  for (int64_t i = 0; i < size; ++i) {
    double found = allocations[0].data<double>()[i];
    if (std::isnan(found)) probe.nan_share += 1.0 / static_cast<double>(size);
    if (std::isfinite(found)) probe.magnitude = std::max(probe.magnitude, std::fabs(found));
    probe.exact &= std::isfinite(found) && bounds.allocations[0][i] == 0;
    if (whole_numbers) probe.exact &= found == std::round(found);
  }
  probe.not_by_zero = without_zero;
  return probe;
}

std::optional<Probe> Prober::probe(const Operation& operation, const std::vector<ProbedOperand>& operands,
                                   bool whole_numbers) {
  std::string key = operation.name + (whole_numbers ? " whole" : " real");
  for (const ProbedOperand& operand : operands)
    key += operand.is_literal ? " " + operand.literal_text
                              : fmt::format(" {}:{}", name(operand.dtype), bucket(operand.magnitude));
  auto [found, is_new] = known_.try_emplace(key);
  if (!is_new) return found->second;
  for (bool without_zero : {false, true}) {
    try {
      found->second = run_probe(operation, operands, whole_numbers, without_zero);
      break;
    } catch (const Error&) {
      // Refused, or not defined for some operand; perhaps only for 0.
    }
  }
  return found->second;
}

const std::vector<DType>& Prober::dtypes() {
  if (!dtypes_.empty()) return dtypes_;
  static const Operation copy{"copy", 1, [](const Operand* o) { return where(true, o[0], o[0]); }, ""};
  for (int i = 0; i < kDTypeCount; ++i) {
    auto dtype = static_cast<DType>(i);
    if (is_float8(dtype)) continue; // what is computed from them has another dtype, which the forms do not know
    try {
      FuzzKernel kernel = kernel_of(copy, {{dtype, 1}}, 5);
      RecordedCall call(kernel, {Array::zeros({5}, dtype)});
      Specialisation specialisation = specialise(call.definition(), call.call());
      compile_config(specialisation.tile_ir, default_config(specialisation.spec));
      if (run_probe(copy, {{dtype, 1}}, true, false)) dtypes_.push_back(dtype);
    } catch (const Error&) {
      // not there yet
    }
  }
  return dtypes_;
}

} // namespace tilewright::fuzz
