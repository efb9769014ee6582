#include "driver/arguments.h"

#include "driver/compiled_call.h"
#include "support/error.h"

#include <cstdlib>
#include <cstring>

namespace tilewright {

static std::string name_of(const Specialisation& specialisation, size_t parameter) {
  const std::string& name = specialisation.parameters[parameter].name;
  return name.empty() ? fmt::format("argument {}", specialisation.parameters[parameter].argument) : name;
}

// Other layouts that repeat elements come only from Array::from_pointer().
static bool repeats_elements(const Array& array) {
  for (int dim = 0; dim < array.rank(); ++dim)
    if (array.sizes()[dim] > 1 && array.strides()[dim] == 0 && array.numel() > 0) return true;
  return false;
}

void check_stored_arguments(const Specialisation& specialisation, const SourceLocation& call,
                            std::span<const Array> arrays) {
  const SourceLocation& where = call.known() ? call : specialisation.location;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!specialisation.parameters[i].is_written) continue;
    if (repeats_elements(arrays[i]))
      fail(where,
           "kernel {} stores to {}, several of whose indices are one element, as expand() makes them; pass a "
           "clone() of it",
           specialisation.kernel, name_of(specialisation, i));
    for (size_t j = 0; j < arrays.size(); ++j)
      if (i != j && arrays[j].defined() && overlap(arrays[i], arrays[j]))
        fail(where, "kernel {} stores to {}, which overlaps {} in memory; pass a clone() of one of them",
             specialisation.kernel, name_of(specialisation, i), name_of(specialisation, j));
  }
}

void append_sizes(std::span<const detail::Argument> arguments, llvm::SmallVectorImpl<int64_t>& sizes) {
  for (const detail::Argument& argument : arguments)
    if (argument.kind == detail::Argument::Kind::array)
      sizes.append(argument.array().sizes().begin(), argument.array().sizes().end());
}

ProgramArguments::ProgramArguments(const Specialisation& specialisation, const detail::Call& call)
    : specialisation_(&specialisation) {
  arrays_.resize(specialisation.parameters.size());
  numbers_.resize(specialisation.parameters.size());
  bool writes = false;
  for (size_t i = 0; i < specialisation.parameters.size(); ++i) {
    const Specialisation::Parameter& parameter = specialisation.parameters[i];
    if (parameter.is_array) {
      arrays_[i] = specialisation.array_of(parameter, call);
    } else {
      const detail::Argument& argument = call.arguments[parameter.argument];
      std::memcpy(&numbers_[i], argument.data, argument.size);
    }
    writes |= parameter.is_written;
  }
  append_sizes(call.arguments, sizes_);
  run_checks(specialisation.host, sizes_);
  if (writes) check_stored_arguments(specialisation, call.location, arrays_);
  allocate();
  collect_pointers();
}

void ProgramArguments::allocate() {
  for (const HostPlan::Allocation& allocation : specialisation_->host.allocations)
    allocations_.push_back(
        Array::empty(IndexList(allocation.sizes_for(sizes_)), allocation.dtype, specialisation_->location));
  fill_allocations();
}

void ProgramArguments::fill_allocations() {
  for (size_t i = 0; i < allocations_.size(); ++i)
    if (const std::optional<Number>& fill = specialisation_->host.allocations[i].fill) allocations_[i].fill(*fill);
}

void ProgramArguments::collect_pointers() {
  pointers_.clear();
  for (size_t i = 0; i < arrays_.size(); ++i)
    pointers_.push_back(specialisation_->parameters[i].is_array ? arrays_[i].data() : &numbers_[i]);
  for (const Array& array : allocations_) pointers_.push_back(array.data());
  run_time_.clear();
  for (const RunTimeNumber& number : specialisation_->run_time_numbers) {
    const bool is_argument = number.argument < arrays_.size();
    const Array& array = is_argument ? arrays_[number.argument] : allocations_[number.argument - arrays_.size()];
    const bool is_size = number.kind == RunTimeNumber::Kind::Size;
    run_time_.push_back(is_size ? sizes_[number.symbol] : array.strides()[number.dim]);
  }
  for (int64_t& number : run_time_) pointers_.push_back(&number);
}

// A copy with the same strides, for which the code is made. Negative strides begin at the far end.
static Array clone_with_layout(const Array& array) {
  int64_t extent = 1, first = 0;
  for (int dim = 0; dim < array.rank(); ++dim) {
    if (array.size(dim) == 0) return array;
    int64_t reach = (array.size(dim) - 1) * array.stride(dim);
    extent += std::abs(reach);
    first += reach < 0 ? -reach : 0;
  }
  Array memory = Array::zeros({extent}, array.dtype());
  Array view = Array::from_pointer(static_cast<char*>(memory.data()) + first * size_in_bytes(array.dtype()),
                                   array.sizes(), array.strides(), array.dtype(), std::make_shared<Array>(memory));
  return view.copy_from(array);
}

ProgramArguments ProgramArguments::copy() const {
  ProgramArguments copy;
  copy.specialisation_ = specialisation_;
  copy.arrays_ = arrays_;
  copy.numbers_ = numbers_;
  copy.sizes_ = sizes_;
  for (size_t i = 0; i < arrays_.size(); ++i)
    if (specialisation_->parameters[i].is_written) copy.arrays_[i] = clone_with_layout(arrays_[i]);
  copy.allocate();
  copy.collect_pointers();
  return copy;
}

std::vector<InterpreterArgument> ProgramArguments::interpreter_arguments() const {
  std::vector<InterpreterArgument> arguments;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const Specialisation::Parameter& parameter = specialisation_->parameters[i];
    if (parameter.is_array) {
      arguments.push_back(arrays_[i]);
      continue;
    }
    // The slot read as an array of one element gives the number, whatever its type.
    Array number = Array::from_pointer(const_cast<uint64_t*>(&numbers_[i]), {1}, parameter.dtype);
    if (is_floating_point(parameter.dtype))
      arguments.push_back(number.item<double>());
    else
      arguments.push_back(number.item<int64_t>());
  }
  for (const Array& array : allocations_) arguments.push_back(array);
  return arguments;
}

void ProgramArguments::restore(const ProgramArguments& original) {
  for (size_t i = 0; i < arrays_.size(); ++i)
    if (specialisation_->parameters[i].is_written) arrays_[i].copy_from(original.arrays_[i]);
  fill_allocations();
}

Array ProgramArguments::returned(size_t index) const {
  const HostPlan::Returned& returned = specialisation_->host.returned[index];
  return returned.kind == HostPlan::Returned::Kind::Argument ? arrays_[returned.index] : allocations_[returned.index];
}

std::vector<Array> ProgramArguments::outputs() const {
  std::vector<Array> outputs;
  for (size_t i = 0; i < arrays_.size(); ++i)
    if (specialisation_->parameters[i].is_written) outputs.push_back(arrays_[i]);
  for (const HostPlan::Returned& each : specialisation_->host.returned)
    if (each.kind == HostPlan::Returned::Kind::Allocation) outputs.push_back(allocations_[each.index]);
  return outputs;
}

std::vector<Array> ProgramArguments::written() const {
  std::vector<Array> written;
  for (size_t i = 0; i < arrays_.size(); ++i)
    if (specialisation_->parameters[i].is_written) written.push_back(arrays_[i]);
  written.insert(written.end(), allocations_.begin(), allocations_.end());
  return written;
}

} // namespace tilewright
