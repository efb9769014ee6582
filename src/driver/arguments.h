// The arguments of a launch: what the program's pointers point to.
#pragma once

#include "driver/specialisation.h"
#include "ir/interpreter.h"
#include "tilewright/array.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tilewright {

/// The sizes of a call's arrays, all of them in order: s0, s1, ...
void append_sizes(std::span<const detail::Argument> arguments, llvm::SmallVectorImpl<int64_t>& sizes);

/// Owns what a program's argument pointers refer to for the length of a launch, or of a tuning run.
class ProgramArguments {
public:
  /// Takes the call's arguments, and allocates the kernel's own arrays. Throws Error, naming the arguments, where one
  /// that the kernel stores to overlaps another.
  ProgramArguments(const Specialisation& specialisation, const detail::Call& call);

  /// Another set with the same values: arrays that the kernel writes to are copies, and allocations are new.
  ProgramArguments copy() const;
  /// Gives the arrays that the kernel writes to the values they have in `original`.
  void restore(const ProgramArguments& original);

  /// s0, s1, ...
  llvm::ArrayRef<int64_t> sizes() const { return sizes_; }
  void* const* pointers() const { return pointers_.data(); }
  /// The same for the interpreter.
  std::vector<InterpreterArgument> interpreter_arguments() const;
  /// What the kernel gives back, in order.
  Array returned(size_t index) const;
  /// The arrays that a launch writes: the stored-to arguments, then the allocations.
  std::vector<Array> written() const;
  /// Of these, what the caller sees: no allocation that is only scratch.
  std::vector<Array> outputs() const;

private:
  ProgramArguments() = default;
  void allocate();
  void fill_allocations();
  void collect_pointers();

  const Specialisation* specialisation_ = nullptr;
  std::vector<Array> arrays_;     // per parameter; undefined for a number
  std::vector<uint64_t> numbers_; // per parameter: the slot of a run-time number, its first bytes
  llvm::SmallVector<int64_t> sizes_;
  std::vector<int64_t> run_time_; // the program's run-time numbers (ir/run_time_numbers.h)
  std::vector<Array> allocations_;
  std::vector<void*> pointers_;
};

} // namespace tilewright
