// The arguments of one call of a kernel: what they are, what tells specialisations apart, and what the compiler and a
// launch take of them.
#pragma once

#include "python/core/errors.h"
#include "python/core/torch_tensors.h"

#include "tilewright/detail/kernel_core.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tilewright::python {

/// An argument that the recording knows by value.
struct Constant {
  nb::object value;
  std::string key;
};

inline constexpr size_t kFewArguments = 8;

/// So many elements, without an allocation where they are few.
template <class T> class FewOf {
public:
  FewOf() = default;
  explicit FewOf(size_t size) { resize(size); }
  void resize(size_t size) {
    if (size > kFewArguments) many_.resize(size);
    size_ = size;
  }
  size_t size() const { return size_; }
  T* data() { return size_ > kFewArguments ? many_.data() : few_; }
  const T* data() const { return size_ > kFewArguments ? many_.data() : few_; }
  T& operator[](size_t i) { return data()[i]; }

private:
  T few_[kFewArguments];
  std::vector<T> many_;
  size_t size_ = 0;
};

/// A buffer that does not allocate for the keys of usual calls.
class Key {
public:
  void append(const void* bytes, size_t count) {
    if (size_ + count <= sizeof(small_) && large_.empty()) {
      std::memcpy(small_ + size_, bytes, count);
    } else {
      if (large_.empty()) large_.assign(small_, size_);
      large_.append(static_cast<const char*>(bytes), count);
    }
    size_ += count;
  }
  template <class T> void append(const T& value) { append(&value, sizeof(T)); }
  void clear() {
    size_ = 0;
    large_.clear();
  }
  std::string_view text() const { return large_.empty() ? std::string_view(small_, size_) : std::string_view(large_); }

private:
  char small_[512];
  std::string large_;
  size_t size_ = 0;
};

/// One argument, looked at.
struct CallArgument {
  enum class Kind : uint8_t { tensor, number, constant };
  Kind kind = Kind::constant;
  PyObject* object = nullptr; // borrowed
  TensorView tensor;          // of a tensor
  DType dtype = int64;        // of a number
  uint64_t number = 0;        // its bytes

  /// Writes what tells specialisations apart.
  void append_to(Key& key) const;
};

/// What of the arguments needs the frontend.
enum class Found : uint8_t {
  all_simple,
  needs_prepare, // an object that is no argument
  dispatched,    // a tensor that is no memory: torch.compile's fake ones, and such
  needs_grad,    // a tensor that requires grad, where grad is on
};

/// Looks at the objects, as many as there are, and writes the key. `constants` says which numbers are constants; may be
/// shorter. Throws Error naming the argument where a tensor is none that kernels take.
class CallArguments {
public:
  CallArguments(const KernelDefinition& definition, const std::vector<bool>& constants)
      : definition_(definition), constants_(constants) {}

  Found look_at(PyObject* const* objects, size_t count);

  std::span<const CallArgument> list() const { return {arguments_.data(), arguments_.size()}; }
  const Key& key() const { return key_; }
  /// Where the tensors are; the CPU where there are none.
  DeviceIndex device() const { return device_; }

  /// Refuses the argument that look_at() found to need prepare().
  [[noreturn]] void refuse() const;
  [[noreturn]] void refuse_grad() const;

private:
  Found look_at(PyObject* object, size_t index, CallArgument& argument);
  std::string name_of(size_t index) const;
  void check_device(const CallArgument& argument, size_t index);
  [[noreturn]] void refuse_tensor(nb::handle tensor, size_t index) const;

  const KernelDefinition& definition_;
  const std::vector<bool>& constants_;
  FewOf<CallArgument> arguments_;
  Key key_;
  DeviceIndex device_;
  const CallArgument* first_tensor_ = nullptr;
  size_t refused_ = 0; // the argument that was not simple
  PyObject* refused_object_ = nullptr;
};

/// The same arguments for the compiler; keeps tensors and constants alive.
class CompilerArguments {
public:
  CompilerArguments(std::span<const CallArgument> arguments, const SourceLocation& location);
  CompilerArguments(const CompilerArguments&) = delete;

  std::span<const detail::Argument> list() const { return arguments_; }
  nb::object object(size_t index) const { return nb::borrow(objects_[index]); }

private:
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<PyObject*> objects_; // what kept_ keeps
  std::vector<Array> arrays_;
  std::vector<uint64_t> numbers_;
  std::vector<std::string> keys_;
  std::vector<detail::Argument> arguments_;
};

} // namespace tilewright::python
