// Atomic accesses: to a program's own part of a tensor, where what was there before has one value; and by many programs
// to the same elements, where only the sum of them has.
#include "fuzz/places.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/memory.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace tilewright::fuzz {

// A statement has a result where the program's own part is changed. Its last number is the memory order.
static const char* const kOrders[] = {"relaxed", "acquire", "release", "acq_rel"};

using Subscripts = std::initializer_list<TensorIndex>;
struct AtomicFunction {
  const char* name;
  Value (*apply)(const Tensor& x, Subscripts subscripts, const Operand& value, const char* sem,
                 const AccessOptions& options, SourceLocation location);
  bool of_bits; // integers and bools
};
static const AtomicFunction kFunctions[] = {{"atomic_add", atomic_add, false},  {"atomic_max", atomic_max, false},
                                            {"atomic_min", atomic_min, false},  {"atomic_and", atomic_and, true},
                                            {"atomic_or", atomic_or, true},     {"atomic_xor", atomic_xor, true},
                                            {"atomic_xchg", atomic_xchg, false}};

static const AtomicFunction& function_of(const Form& form) {
  for (const AtomicFunction& each : kFunctions)
    if (std::string_view(each.name) == form.name) return each;
  return kFunctions[0];
}

// Whether the function works on the dtype, and whatever the order, gives one result.
static bool takes(const Generator& g, std::string_view name, DType dtype, bool shared) {
  if (name == "atomic_xchg" || name == "atomic_cas") return true;
  if (function_of(*find_form(name)).of_bits) return !is_floating_point(dtype);
  if (dtype == boolean || (dtype == uint8 && name != "atomic_add")) return false;
  if (name != "atomic_add" || !shared || !is_floating_point(dtype)) return true;
  return g.kernel.exact && (dtype == float32 || dtype == float64); // sums of 16-bit numbers are rounded
}

static FuzzTensor new_target(Generator& g, DType dtype, const std::vector<int>& extents) {
  FuzzTensor tensor = new_argument(g, dtype, extents);
  tensor.contents = std::min(tensor.contents, Contents::fractions);
  tensor.allocated = g.random.chance(0.4);
  if (tensor.allocated) {
    tensor.layout = Layout::contiguous;
    tensor.contents = Contents::whole_numbers;
    tensor.fill = dtype == boolean ? g.number(0, 1) : dtype == uint8 ? g.number(0, 4) : g.number(-2, 2);
  }
  if (tensor.layout == Layout::expanded) tensor.layout = Layout::strided; // its elements must not overlap
  return tensor;
}

static std::optional<ValueId> some_operand(Generator& g, std::string_view name, bool shared) {
  auto fits = [&](const Generator::Known& k) {
    return k.type.axes.size() <= 3 && takes(g, name, k.type.dtype, shared) &&
           (!shared || name != "atomic_add" || k.magnitude <= 1000);
  };
  if (auto id = g.some_value(fits)) return id;
  DType dtype = g.some_dtype();
  return takes(g, name, dtype, shared) ? g.load_of(g.some_axes(2), dtype) : std::nullopt;
}

// The program's own elements.
static bool generate_own(Generator& g, const Form& form, ValueId id, Statement& atomic) {
  DType dtype = g.known(id).type.dtype;
  Place place, own;
  if (!find_own_place(g, g.known(id).type.axes, place, own) || !g.affordable(place.axes)) return false;
  for (size_t t = 0; t < g.kernel.tensors.size(); ++t) {
    const FuzzTensor& tensor = g.kernel.tensors[t];
    bool defined = !tensor.allocated || tensor.fill;
    if (defined && tensor.dtype == dtype && g.may_own(static_cast<int>(t), own)) atomic.tensor = static_cast<int>(t);
  }
  if (atomic.tensor < 0) {
    if (!g.room_for_tensors()) return false;
    atomic.tensor = g.new_tensor(new_target(g, dtype, own.extents));
  }
  g.note_own(atomic.tensor, own);
  atomic.form = &form;
  atomic.subscripts = place.subscripts;
  return g.add_value(std::move(atomic), {dtype, place.axes}, g.largest_magnitude(dtype) / 2).has_value();
}

// Elements that other programs change too, and this one perhaps twice.
static bool generate_shared(Generator& g, const Form& form, ValueId id, Statement& atomic) {
  DType dtype = g.known(id).type.dtype;
  std::optional<Place> place = shared_place(g, g.known(id).type.axes);
  if (!place || !g.affordable(place->axes)) return false;
  for (size_t i = 0; i < place->extents.size(); ++i) // a tile of several elements does not go into one
    if (g.kernel.extents[place->extents[i]] == 1 && place->subscripts[i].kind == FuzzSubscript::Kind::tile)
      return false;
  for (size_t t = 0; t < g.kernel.tensors.size(); ++t) {
    const FuzzTensor& tensor = g.kernel.tensors[t];
    bool defined = !tensor.allocated || tensor.fill;
    if (defined && tensor.dtype == dtype && tensor.extents == place->extents && !g.own_part(static_cast<int>(t)) &&
        g.may_share(static_cast<int>(t), form) && g.random.chance(0.5))
      atomic.tensor = static_cast<int>(t);
  }
  if (atomic.tensor < 0) {
    if (!g.room_for_tensors()) return false;
    atomic.tensor = g.new_tensor(new_target(g, dtype, place->extents));
  }
  g.note_shared(atomic.tensor, form);
  atomic.form = &form;
  atomic.subscripts = place->subscripts;
  g.add(std::move(atomic));
  return true;
}

static bool generate_atomic(Generator& g, const Form& form) {
  std::string_view name = form.name;
  bool shared = name != "atomic_xchg" && g.random.chance(0.6);
  std::optional<ValueId> id = some_operand(g, name, shared);
  if (!id) return false;
  Statement atomic;
  atomic.operands = {FuzzOperand::of(*id)};
  atomic.numbers = {g.number(0, 3)};
  return shared ? generate_shared(g, form, *id, atomic) : generate_own(g, form, *id, atomic);
}

static void define_if_own(Recorder& r, const Statement& s, const Value& before) {
  if (s.result >= 0) r.define(s, before);
}
static void print_if_own(Printer& p, const Statement& s, const std::string& call) {
  if (s.result >= 0)
    p.define(s, call);
  else
    p.line(call + ";");
}

static void record_atomic(Recorder& r, const Statement& s) {
  r.with_subscripts(s, [&](const auto&... index) {
    define_if_own(r, s,
                  function_of(*s.form).apply(r.tensor(s.tensor), {index...}, r.operand(s, 0), kOrders[s.numbers.at(0)],
                                             {}, std::source_location::current()));
  });
}
static void print_atomic(Printer& p, const Statement& s) {
  print_if_own(p, s,
               fmt::format("tw::{}({}, {}, \"{}\")", s.form->name, p.place(s), p.operand(s, 0), kOrders[s.numbers[0]]));
}

// atomic_cas(x, {...}, expected, value). Programs that meet all write the same: numbers say what, as one form may not
// have two of them for one tensor.
static bool generate_cas(Generator& g, const Form& form) {
  bool shared = g.random.chance(0.5);
  std::optional<ValueId> id = some_operand(g, form.name, shared);
  if (!id) return false;
  Statement atomic;
  atomic.numbers = {g.number(0, 3)};
  auto expected = FuzzOperand::integer(1); // of a shared tensor always the same, so that the order does not matter
  if (!shared) expected = FuzzOperand::integer(g.number(0, 2));
  std::optional<ValueId> value = id;
  if (shared) value = g.filled(g.known(*id).type.axes, g.known(*id).type.dtype, 0);
  atomic.operands = {expected, FuzzOperand::of(*value)};
  return shared ? generate_shared(g, form, *value, atomic) : generate_own(g, form, *value, atomic);
}
static void record_cas(Recorder& r, const Statement& s) {
  r.with_subscripts(s, [&](const auto&... index) {
    define_if_own(
        r, s, atomic_cas(r.tensor(s.tensor), {index...}, r.operand(s, 0), r.operand(s, 1), kOrders[s.numbers.at(0)]));
  });
}
static void print_cas(Printer& p, const Statement& s) {
  print_if_own(p, s, fmt::format("tw::atomic_cas({}, {}, \"{}\")", p.place(s), p.operands(s), kOrders[s.numbers[0]]));
}

const std::vector<Form>& atomic_forms() {
  static const std::vector<Form> table = [] {
    std::vector<Form> forms;
    for (const AtomicFunction& each : kFunctions)
      forms.push_back({each.name, 0.2, generate_atomic, record_atomic, print_atomic, kHasEffect});
    forms.push_back({"atomic_cas", 0.25, generate_cas, record_cas, print_cas, kHasEffect});
    return forms;
  }();
  return table;
}

} // namespace tilewright::fuzz
