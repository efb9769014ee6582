// The functions of tilewright/memory.h.
#include "frontend/dsl_record.h"

#include "tilewright/memory.h"

namespace tilewright {

using detail::Recording;

static Place place_of(Recording& recording, const Tensor& x, std::initializer_list<TensorIndex> subscripts) {
  return recording.place(x.handle(), {subscripts.begin(), subscripts.size()});
}

static Place place_of(Recording& recording, const Tensor& x, std::initializer_list<TensorIndex> subscripts,
                      const AccessOptions& options) {
  Place place = place_of(recording, x, subscripts);
  Term mask = recording.term(options.extra_mask);
  recording.at({}).set_options(place, &mask, options.eviction_policy);
  return place;
}

Value load(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const AccessOptions& options,
           SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::load");
  Builder& builder = recording.device(location, "tw::load");
  return Value(recording.new_variable(builder.load(place_of(recording, x, subscripts, options))));
}

void store(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const Operand& value,
           const AccessOptions& options, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::store");
  Builder& builder = recording.device(location, "tw::store");
  Place place = place_of(recording, x, subscripts, options);
  builder.store(place, recording.term(value));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static MemoryOrder memory_order(const Builder& builder, llvm::StringRef sem) {
  std::optional<MemoryOrder> order = symbolizeMemoryOrder(sem);
  if (!order)
    builder.fail("a memory order is \"relaxed\", \"acquire\", \"release\" or \"acq_rel\", found \"{}\"", sem.str());
  return *order;
}

static Place atomic_place_of(Recording& recording, const Builder& builder, const char* name, const Tensor& x,
                             std::initializer_list<TensorIndex> subscripts, const AccessOptions& options) {
  if (*options.eviction_policy) builder.fail("{} takes an extra_mask and no eviction policy", name);
  return place_of(recording, x, subscripts, options);
}

static Value atomic(const char* name, AtomicKind kind, const Tensor& x, std::initializer_list<TensorIndex> subscripts,
                    const Operand& value, const char* sem, const AccessOptions& options,
                    const SourceLocation& location) {
  Recording& recording = Recording::require(location, name);
  Builder& builder = recording.device(location, name);
  Place place = atomic_place_of(recording, builder, name, x, subscripts, options);
  mlir::Value old = builder.atomic(name, kind, place, recording.term(value), memory_order(builder, sem));
  return Value(recording.new_variable(old));
}

#define TILEWRIGHT_ATOMIC(name, kind)                                                                                  \
  Value name(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const Operand& value, const char* sem,    \
             const AccessOptions& options, SourceLocation location) {                                                  \
    return atomic("tw::" #name, AtomicKind::kind, x, subscripts, value, sem, options, location);                       \
  }
TILEWRIGHT_ATOMIC(atomic_add, Add)
TILEWRIGHT_ATOMIC(atomic_and, And)
TILEWRIGHT_ATOMIC(atomic_or, Or)
TILEWRIGHT_ATOMIC(atomic_xor, Xor)
TILEWRIGHT_ATOMIC(atomic_xchg, Exchange)
TILEWRIGHT_ATOMIC(atomic_max, Max)
TILEWRIGHT_ATOMIC(atomic_min, Min)
#undef TILEWRIGHT_ATOMIC

Value atomic_cas(const Tensor& x, std::initializer_list<TensorIndex> subscripts, const Operand& expected,
                 const Operand& value, const char* sem, const AccessOptions& options, SourceLocation location) {
  Recording& recording = Recording::require(location, "tw::atomic_cas");
  Builder& builder = recording.device(location, "tw::atomic_cas");
  Place place = atomic_place_of(recording, builder, "tw::atomic_cas", x, subscripts, options);
  Term old = recording.term(expected), next = recording.term(value);
  return Value(recording.new_variable(builder.atomic_cas(place, old, next, memory_order(builder, sem))));
}

} // namespace tilewright
