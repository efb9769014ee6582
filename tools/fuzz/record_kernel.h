// Records a FuzzKernel through the public DSL, as its lambda in C++ would.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include "tilewright/detail/kernel_core.h"
#include "tilewright/ops.h"

#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
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
  const RegisteredBlockSize& block(int index) const { return blocks_.at(index); }
  /// tensor[subscripts...]
  TensorAccess access(const Statement& statement);
  /// Calls `use` with the subscripts, one to five.
  template <class Use> void with_subscripts(const Statement& statement, Use&& use) {
    std::deque<Tile> moved; // a subscript refers to its tile or slice
    std::deque<Slice> slices;
    std::vector<TensorIndex> i;
    for (const FuzzSubscript& subscript : statement.subscripts) i.push_back(subscript_of(subscript, moved, slices));
    switch (i.size()) {
    case 1: return use(i[0]);
    case 2: return use(i[0], i[1]);
    case 3: return use(i[0], i[1], i[2]);
    case 4: return use(i[0], i[1], i[2], i[3]);
    case 5: return use(i[0], i[1], i[2], i[3], i[4]);
    default: throw std::out_of_range("no or 6 and more subscripts");
    }
  }
  Size size(int extent) const { return sizes_.at(extent); }
  Shape shape(const std::vector<Axis>& axes) const;
  Operand number(int index);
  /// The number of the innermost static_range.
  void set_counter(int counter) { counter_ = counter; }
  int counter() const { return counter_; }

  /// Of every value that was defined.
  const std::map<ValueId, DType>& dtypes() const { return dtypes_; }

private:
  TensorIndex subscript_of(const FuzzSubscript& subscript, std::deque<Tile>& moved, std::deque<Slice>& slices);

  const FuzzKernel& kernel_;
  detail::Recording& recording_;
  std::map<ValueId, Value> values_;
  std::map<int, Tile> tiles_;
  std::vector<Tensor> tensors_;
  std::vector<Value> numbers_;
  std::vector<Size> sizes_;
  std::vector<RegisteredBlockSize> blocks_;
  std::map<ValueId, DType> dtypes_;
  int counter_ = 0;
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
