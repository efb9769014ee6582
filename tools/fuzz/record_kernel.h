// Records a FuzzKernel through the public DSL, as its lambda in C++ would.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include "tilewright/detail/kernel_core.h"
#include "tilewright/ops.h"

#include <map>
#include <vector>

namespace tilewright::fuzz {

/// The C++ state of the lambda while it runs. Throws Error where the DSL refuses a statement, and std::out_of_range for
/// a value that is not there.
class Recorder {
public:
  Recorder(const FuzzKernel& kernel, detail::Recording& recording);
  void run();
  void record(const std::vector<Statement>& block);

  Value& value(ValueId id) { return values_.at(id); }
  Operand operand(const FuzzOperand& operand);
  Operand operand(const Statement& statement, size_t i) { return this->operand(statement.operands.at(i)); }
  void define(const Statement& statement, const Value& value);
  void define_scalar(ValueId id, const Value& value) { values_.insert_or_assign(id, value); }

  const Tile& tile(int variable) const { return tiles_.at(variable); }
  void open_tile(int variable, const Tile& tile) { tiles_[variable] = tile; }
  Tensor& tensor(int index) { return tensors_.at(index); }
  /// tensor[subscripts...]
  TensorAccess access(const Statement& statement);
  Size size(int extent) const { return sizes_.at(extent); }
  Shape shape(const std::vector<Axis>& axes) const;
  Operand number(int index);

  /// Of every value that was defined.
  const std::map<ValueId, DType>& dtypes() const { return dtypes_; }

private:
  const FuzzKernel& kernel_;
  detail::Recording& recording_;
  std::map<ValueId, Value> values_;
  std::map<int, Tile> tiles_;
  std::vector<Tensor> tensors_;
  std::vector<Value> numbers_;
  std::vector<Size> sizes_;
  std::map<ValueId, DType> dtypes_;
};

/// A call of the kernel with these arrays, one for each of its tensors that it does not allocate, in order; and what
/// the call refers to.
class RecordedCall {
public:
  RecordedCall(const FuzzKernel& kernel, std::vector<Array> arrays);
  RecordedCall(const RecordedCall&) = delete;

  const KernelDefinition& definition() const { return definition_; }
  const detail::Call& call() const { return call_; }
  /// After the call was recorded.
  const std::map<ValueId, DType>& dtypes() const { return dtypes_; }

private:
  static void record(const void* function, std::span<const detail::Argument> arguments, detail::Recording& recording);

  const FuzzKernel& kernel_;
  std::vector<Array> arrays_;
  std::vector<uint64_t> slots_; // the values of numbers
  std::vector<detail::Argument> arguments_;
  KernelDefinition definition_;
  detail::Call call_{};
  mutable std::map<ValueId, DType> dtypes_;
};

} // namespace tilewright::fuzz
