#include "fuzz/record_kernel.h"

#include "fuzz/forms.h"
#include "tilewright/settings.h"

#include <cstring>
#include <stdexcept>

namespace tilewright::fuzz {

// Extents that no argument has are plain numbers.
static std::vector<Size> sizes_of(const FuzzKernel& kernel, const std::vector<Tensor>& tensors) {
  std::vector<Size> sizes(kernel.extents.begin(), kernel.extents.end());
  for (size_t t = kernel.tensors.size(); t-- > 0;)
    if (!kernel.tensors[t].allocated)
      for (size_t dim = 0; dim < kernel.tensors[t].extents.size(); ++dim)
        sizes.at(kernel.tensors[t].extents[dim]) = tensors[t].size(static_cast<int>(dim));
  return sizes;
}

Recorder::Recorder(const FuzzKernel& kernel, detail::Recording& recording) : kernel_(kernel), recording_(recording) {
  size_t argument = 0;
  tensors_.resize(kernel.tensors.size());
  for (size_t t = 0; t < kernel.tensors.size(); ++t)
    if (!kernel.tensors[t].allocated) tensors_[t] = detail::tensor_parameter(recording, argument++);
  for (size_t s = 0; s < kernel.numbers.size(); ++s)
    numbers_.push_back(Value(detail::number_parameter(recording, argument++)));
  sizes_ = sizes_of(kernel, tensors_);
}

template <size_t... I> static SizeList size_list(const std::vector<Size>& sizes, std::index_sequence<I...>) {
  return {sizes[I]...};
}

static SizeList size_list(const std::vector<Size>& sizes) {
  switch (sizes.size()) {
  case 0: return {};
  case 1: return size_list(sizes, std::make_index_sequence<1>());
  case 2: return size_list(sizes, std::make_index_sequence<2>());
  case 3: return size_list(sizes, std::make_index_sequence<3>());
  case 4: return size_list(sizes, std::make_index_sequence<4>());
  case 5: return size_list(sizes, std::make_index_sequence<5>());
  default: throw std::out_of_range("a tensor of rank 6 or more");
  }
}

void Recorder::run() {
  std::vector<Tensor> results;
  for (size_t t = 0; t < kernel_.tensors.size(); ++t) {
    const FuzzTensor& tensor = kernel_.tensors[t];
    if (!tensor.allocated) continue;
    std::vector<Size> sizes;
    for (int extent : tensor.extents) sizes.push_back(size(extent));
    tensors_[t] = empty(size_list(sizes), tensor.dtype);
    if (tensor.fill) tensors_[t].fill(*tensor.fill);
    results.push_back(tensors_[t]);
  }
  for (int extent : kernel_.blocks) blocks_.push_back(register_block_size(size(extent)));
  record(kernel_.body);
  detail::set_results(recording_, results.data(), results.size());
}

void Recorder::record(const std::vector<Statement>& block) {
  for (const Statement& statement : block) statement.form->record(*this, statement);
}

void Recorder::define(const Statement& statement, const Value& value) {
  values_.insert_or_assign(statement.result, value);
  dtypes_[statement.result] = value.dtype();
}

Operand Recorder::number(int index) { return numbers_.at(index); }

Operand Recorder::operand(const FuzzOperand& operand) {
  switch (operand.kind) {
  case FuzzOperand::Kind::value: return value(operand.value);
  case FuzzOperand::Kind::integer: return static_cast<int64_t>(operand.number);
  case FuzzOperand::Kind::real: return operand.number;
  case FuzzOperand::Kind::boolean: return operand.number != 0;
  case FuzzOperand::Kind::extent: return size(static_cast<int>(operand.number));
  }
  return 0;
}

Shape Recorder::shape(const std::vector<Axis>& axes) const {
  auto dim = [&](size_t i) -> ShapeDim {
    switch (axes[i].kind) {
    case Axis::Kind::tile: return tile(axes[i].index);
    case Axis::Kind::whole: return size(axes[i].index);
    case Axis::Kind::block: return block(axes[i].index);
    case Axis::Kind::one: break;
    }
    return 1;
  };
  switch (axes.size()) {
  case 0: return {};
  case 1: return {dim(0)};
  case 2: return {dim(0), dim(1)};
  case 3: return {dim(0), dim(1), dim(2)};
  case 4: return {dim(0), dim(1), dim(2), dim(3)};
  default: throw std::out_of_range("a value of rank 5 or more");
  }
}

TensorIndex Recorder::subscript_of(const FuzzSubscript& subscript, std::deque<Tile>& moved, std::deque<Slice>& slices) {
  auto bound = [](int64_t at) { return at == 0 ? Slice::Bound(none) : Slice::Bound(at); };
  switch (subscript.kind) {
  case FuzzSubscript::Kind::tile:
    if (subscript.value >= 0) return moved.emplace_back(tile(subscript.index) + value(subscript.value));
    if (subscript.shift > 0) return moved.emplace_back(tile(subscript.index) + subscript.shift);
    if (subscript.shift < 0) return moved.emplace_back(tile(subscript.index) - -subscript.shift);
    return tile(subscript.index);
  case FuzzSubscript::Kind::value: return value(subscript.value);
  case FuzzSubscript::Kind::constant: return subscript.index;
  case FuzzSubscript::Kind::none: return none;
  case FuzzSubscript::Kind::slice:
    return slices.emplace_back(slice(bound(subscript.first), bound(-subscript.tail), subscript.step));
  case FuzzSubscript::Kind::slice_from:
    return slices.emplace_back(slice_from(value(subscript.value), size(subscript.index)));
  case FuzzSubscript::Kind::whole: break;
  }
  return _;
}

TensorAccess Recorder::access(const Statement& statement) {
  std::optional<TensorAccess> access;
  with_subscripts(statement, [&](const auto&... index) { access.emplace(tensor(statement.tensor)[index...]); });
  return *access;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// A number as C++ keeps it.
static uint64_t bits_of(const FuzzNumber& number) {
  uint64_t bits = 0;
  auto keep = [&](auto value) { std::memcpy(&bits, &value, sizeof(value)); };
  switch (number.dtype) {
  case float32: keep(static_cast<float>(number.value)); break;
  case float64: keep(number.value); break;
  case int32: keep(static_cast<int32_t>(number.value)); break;
  case int64: keep(static_cast<int64_t>(number.value)); break;
  default: keep(number.value != 0); break;
  }
  return bits;
}

static Settings with_static_shapes(bool are_static) {
  Settings settings;
  settings.static_shapes = are_static;
  return settings;
}

RecordedCall::RecordedCall(const FuzzKernel& kernel, std::vector<Array> arrays)
    : kernel_(kernel), arrays_(std::move(arrays)) {
  definition_.name = "fuzzed";
  size_t next = 0;
  for (size_t t = 0; t < kernel.tensors.size(); ++t) {
    if (kernel.tensors[t].allocated) continue;
    definition_.argument_names.push_back(numbered('x', static_cast<int64_t>(t)));
    detail::Argument argument{detail::Argument::Kind::array};
    argument.data = &arrays_.at(next++);
    arguments_.push_back(argument);
  }
  for (const FuzzNumber& number : kernel.numbers) slots_.push_back(bits_of(number));
  for (size_t s = 0; s < kernel.numbers.size(); ++s) {
    definition_.argument_names.push_back(numbered('s', static_cast<int64_t>(s)));
    detail::Argument argument{detail::Argument::Kind::number};
    argument.dtype = kernel.numbers[s].dtype;
    argument.size = static_cast<uint32_t>(size_in_bytes(argument.dtype));
    argument.data = &slots_[s];
    arguments_.push_back(argument);
  }
  static const Settings static_sizes = with_static_shapes(true), run_time_sizes = with_static_shapes(false);
  call_.arguments = arguments_;
  call_.record = &RecordedCall::record;
  call_.function = this;
  for (const FuzzTensor& tensor : kernel.tensors) call_.result_count += tensor.allocated;
  call_.settings = kernel.run_time_sizes ? &run_time_sizes : &static_sizes;
}

void RecordedCall::record(const void* function, std::span<const detail::Argument>, detail::Recording& recording) {
  const auto& self = *static_cast<const RecordedCall*>(function);
  Recorder recorder(self.kernel_, recording);
  recorder.run();
  self.dtypes_ = recorder.dtypes();
}

} // namespace tilewright::fuzz
