// Loads, stores and run-time numbers.
#include "fuzz/generator.h"
#include "fuzz/places.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include "tilewright/memory.h"

#include <algorithm>
#include <string_view>

namespace tilewright::fuzz {

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static double magnitude_of(const Generator& g, int tensor) {
  const FuzzTensor& it = g.kernel.tensors[tensor];
  if (it.dtype == boolean) return 1;
  if (it.allocated || g.is_changed(tensor)) return g.largest_magnitude(it.dtype) / 2;
  return it.contents == Contents::whole_numbers ? 5 : 2.1;
}

// Reads at a place that the program shares with others.
static std::optional<ValueId> add_load(Generator& g, const char* form, const Place& place, DType dtype) {
  Statement load;
  load.form = find_form(form);
  load.subscripts = place.subscripts;
  if (g.random.chance(0.3)) // one that is there
    for (size_t t = 0; t < g.kernel.tensors.size(); ++t) {
      const FuzzTensor& tensor = g.kernel.tensors[t];
      if (g.may_read(static_cast<int>(t)) && tensor.dtype == dtype && tensor.extents == place.extents)
        load.tensor = static_cast<int>(t);
    }
  if (load.tensor < 0) {
    if (!g.room_for_tensors() || !g.affordable(place.axes)) return std::nullopt;
    load.tensor = g.new_tensor(new_argument(g, dtype, place.extents));
  }
  g.note_read(load.tensor);
  double magnitude = magnitude_of(g, load.tensor);
  return g.add_value(std::move(load), {dtype, place.axes}, magnitude);
}

std::optional<ValueId> Generator::load_of(const std::vector<Axis>& axes, DType dtype) {
  Place place;
  bool has_grid = std::any_of(open_.begin(), open_.end(), [](const OpenVariable& v) { return v.is_grid; });
  for (const Axis& axis : axes) {
    if (axis.kind == Axis::Kind::block) return std::nullopt;
    if (axis.kind == Axis::Kind::tile &&
        std::any_of(open_.begin(), open_.end(), [&](auto& v) { return v.variable == axis.index && v.extent < 0; }))
      return std::nullopt;
    if (place.extents.size() < 3 && random.chance(has_grid ? 0.5 : 0.05)) add_scalar(*this, place);
    add_axis(*this, place, axis);
  }
  if (place.extents.empty()) add_scalar(*this, place);
  if (place.extents.empty() || place.subscripts.size() > 5) return std::nullopt;
  return add_load(*this, "load", place, dtype);
}

static bool generate_load(Generator& g, const Form&) { return g.load_of(g.some_axes(3), g.some_dtype()).has_value(); }

// What is the program's own, of a tensor that it stores to.
static bool generate_load_own(Generator& g, const Form& form) {
  std::vector<int> own;
  for (size_t t = 0; t < g.kernel.tensors.size(); ++t)
    if (const Place* part = g.own_part(static_cast<int>(t)); part && !part->subscripts.empty())
      if (!g.kernel.tensors[t].allocated) own.push_back(static_cast<int>(t));
  if (own.empty()) return false;
  Statement load;
  load.form = &form;
  load.tensor = g.one_of(own);
  DType dtype = g.kernel.tensors[load.tensor].dtype;
  const Place& place = *g.own_part(load.tensor);
  load.subscripts = place.subscripts;
  return g.add_value(std::move(load), {dtype, place.axes}, g.largest_magnitude(dtype) / 2).has_value();
}

// A dimension indexed by whole numbers that the kernel computes, brought into its range.
static bool generate_gather(Generator& g, const Form& form) {
  int extent = g.some_extent();
  int64_t size = g.kernel.extents[extent];
  auto numbers = g.some_value([](const Generator::Known& k) {
    return (k.type.dtype == int32 || k.type.dtype == int64) && k.type.axes.size() >= 1 && k.type.axes.size() <= 2;
  });
  if (!numbers || size == 0) return false;
  auto index = as_index(g, *numbers, size);
  if (!index) return false;
  Place place;
  std::vector<Axis> others = g.some_axes(1);
  bool first = g.random.chance(0.5);
  auto add_index = [&] {
    place.subscripts.push_back(FuzzSubscript::of(*index));
    place.extents.push_back(extent);
    const std::vector<Axis>& axes = g.known(*index).type.axes;
    place.axes.insert(place.axes.end(), axes.begin(), axes.end());
  };
  if (first) add_index();
  for (const Axis& axis : others) {
    if (axis.kind == Axis::Kind::tile)
      for (const OpenVariable& variable : g.open_variables())
        if (variable.variable == axis.index && variable.extent < 0) return false;
    add_axis(g, place, axis);
  }
  if (!first) add_index();
  return g.affordable(place.axes) && add_load(g, form.name, place, g.some_dtype());
}

// Two index tensors side by side: of rank 1 they address each combination, of rank 2 they go element by element.
static bool generate_gathers(Generator& g, const Form& form) {
  std::vector<ValueId> indices;
  Place place;
  size_t rank = 0;
  for (int i = 0; i < 2; ++i) {
    int extent = g.some_extent();
    auto numbers = g.some_value([&](const Generator::Known& k) {
      bool fits = i == 0 ? k.type.axes.size() == 1 || k.type.axes.size() == 2 : k.type.axes.size() == rank;
      if (i == 1 && rank == 2) fits &= k.type.axes == place.axes;
      return (k.type.dtype == int32 || k.type.dtype == int64) && fits;
    });
    if (!numbers || g.kernel.extents[extent] == 0) return false;
    auto index = as_index(g, *numbers, g.kernel.extents[extent]);
    if (!index) return false;
    const std::vector<Axis> axes = g.known(*index).type.axes;
    rank = axes.size();
    if (rank == 1 || i == 0) place.axes.insert(place.axes.end(), axes.begin(), axes.end());
    place.subscripts.push_back(FuzzSubscript::of(*index));
    place.extents.push_back(extent);
  }
  return g.affordable(place.axes) && add_load(g, form.name, place, g.some_dtype());
}

static void record_load(Recorder& r, const Statement& s) { r.define(s, r.access(s)); }
static void print_load(Printer& p, const Statement& s) { p.define(s, p.access(s)); }

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// The tensor to store to at the program's own place: one that is there, or a new one.
static std::optional<int> tensor_to_own(Generator& g, const Place& own, DType dtype, bool is_read) {
  int found = -1;
  for (size_t t = 0; t < g.kernel.tensors.size(); ++t) { // again to the same place, sometimes
    int tensor = static_cast<int>(t);
    if (g.may_own(tensor, own) && !(is_read && g.kernel.tensors[t].allocated) && g.random.chance(0.5)) found = tensor;
  }
  if (found < 0) {
    // One more than there is room for, so that there always is a result.
    if (!g.room_for_tensors() && (g.depth() > 2 || !g.room_for_tensors(4))) return std::nullopt;
    FuzzTensor tensor = new_argument(g, g.random.chance(0.6) ? dtype : g.some_dtype(), own.extents);
    tensor.allocated = !is_read && g.random.chance(0.65);
    if (tensor.layout == Layout::expanded) tensor.layout = Layout::strided; // its elements must not overlap
    if (tensor.allocated) tensor.layout = Layout::contiguous, tensor.contents = Contents::whole_numbers;
    tensor.contents = std::min(tensor.contents, Contents::fractions);
    found = g.new_tensor(tensor);
  }
  g.note_own(found, own);
  return found;
}

static std::optional<ValueId> value_to_store(Generator& g) {
  auto fits = [](const Generator::Known& k) { return k.type.axes.size() <= 3; };
  std::optional<ValueId> id = g.some_unused_value();
  if (!id || !fits(g.known(*id))) id = g.some_value(fits);
  return id ? id : g.load_of(g.some_axes(3), g.some_dtype());
}

static bool generate_store(Generator& g, const Form& form) {
  bool compound = std::string_view(form.name) == "store +=";
  std::optional<ValueId> id = value_to_store(g);
  if (!id) return false;
  Type type = g.known(*id).type;
  Place place, own;
  if (!find_own_place(g, type.axes, place, own) || !g.affordable(place.axes)) return false;
  std::optional<int> tensor = tensor_to_own(g, own, type.dtype, compound);
  if (!tensor) return false;
  Statement store;
  store.form = &form;
  store.subscripts = place.subscripts;
  store.tensor = *tensor;
  DType dtype = g.kernel.tensors[store.tensor].dtype;
  std::optional<ValueId> fitting = g.converted(*id, dtype);
  if (!fitting || (compound && dtype == boolean)) return false;
  store.operands = {FuzzOperand::of(g.random.chance(0.5) || compound || dtype != type.dtype ? *fitting : *id)};
  g.add(std::move(store));
  return true;
}

static void record_store(Recorder& r, const Statement& s) { r.access(s) = r.operand(s, 0); }
static void print_store(Printer& p, const Statement& s) { p.line(p.access(s) + " = " + p.operand(s, 0) + ";"); }

static void record_compound(Recorder& r, const Statement& s) { r.access(s) += r.operand(s, 0); }
static void print_compound(Printer& p, const Statement& s) { p.line(p.access(s) + " += " + p.operand(s, 0) + ";"); }

// out[n - 1 - tile.index()] = v: index tensors whose elements are different in every program.
static bool generate_scatter(Generator& g, const Form& form) {
  std::optional<ValueId> id = value_to_store(g);
  if (!id) return false;
  Type type = g.known(*id).type;
  Place place;
  for (const OpenVariable& variable : g.open_variables()) {
    Axis axis{Axis::Kind::tile, variable.variable};
    if (variable.outermost && (variable.is_grid || type.axes.empty() || type.axes[0] != axis)) return false;
    if (!variable.outermost && std::count(type.axes.begin(), type.axes.end(), axis) > 0) return false;
  }
  for (const Axis& axis : type.axes) {
    place.axes.push_back(axis);
    if (axis.kind == Axis::Kind::one) return false;
    if (axis.kind == Axis::Kind::whole) {
      place.subscripts.push_back({FuzzSubscript::Kind::whole});
      place.extents.push_back(axis.index);
      continue;
    }
    if (place.axes.size() > 1) return false;
    int extent = g.open_variables()[0].extent;
    Statement index;
    index.form = find_form("tile.index");
    index.numbers = {axis.index};
    auto indices = g.add_value(std::move(index), {int32, {axis}}, static_cast<double>(g.kernel.extents[extent]));
    if (!indices) return false;
    auto last = g.apply("operator -", {FuzzOperand::integer(g.kernel.extents[extent] - 1), FuzzOperand::of(*indices)});
    if (!last) return false;
    place.subscripts.push_back(FuzzSubscript::of(*last));
    place.extents.push_back(extent);
  }
  if (place.axes.empty() || place.axes[0].kind != Axis::Kind::tile) return false;
  std::optional<int> tensor = tensor_to_own(g, place, type.dtype, false);
  if (!tensor) return false;
  std::optional<ValueId> fitting = g.converted(*id, g.kernel.tensors[*tensor].dtype);
  if (!fitting) return false;
  g.note_own(*tensor, Place()); // its indices are not there for others
  Statement store;
  store.form = &form;
  store.tensor = *tensor;
  store.subscripts = place.subscripts;
  store.operands = {FuzzOperand::of(*fitting)};
  g.add(std::move(store));
  return true;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

// A condition of these dimensions.
static std::optional<ValueId> condition_with(Generator& g, const std::vector<Axis>& axes) {
  auto number = g.value_with(axes, int32);
  if (!number) return std::nullopt;
  return g.apply(g.random.chance(0.5) ? "operator >" : "operator <=",
                 {FuzzOperand::of(*number), FuzzOperand::integer(g.number(-2, 2))});
}

static bool has_ones(const std::vector<Axis>& axes) { return std::count(axes.begin(), axes.end(), Axis()) > 0; }

static bool generate_masked_load(Generator& g, const Form& form) {
  std::vector<Axis> axes = g.some_axes(2);
  if (axes.empty()) return false;
  auto mask = condition_with(g, axes);
  std::optional<Place> place = mask ? shared_place(g, axes) : std::nullopt;
  if (!place) return false;
  for (size_t i = 0; i < place->subscripts.size(); ++i) // which a tile reads again and again, and no mask goes with
    if (g.kernel.extents[place->extents[i]] == 1) return false;
  auto loaded = add_load(g, form.name, *place, g.some_dtype());
  if (!loaded) return false;
  g.last_statement().operands = {FuzzOperand::of(*mask), FuzzOperand::integer(g.number(0, 2))};
  return true;
}
static const char* const kPolicies[] = {"", "first", "last"};
static AccessOptions options_of(Recorder& r, const Statement& s, size_t mask) {
  return {.extra_mask = r.operand(s, mask),
          .eviction_policy = kPolicies[static_cast<int>(s.operands.at(mask + 1).number)]};
}
static std::string options_text(const Printer& p, const Statement& s, size_t mask) {
  return "{.extra_mask = " + p.operand(s, mask) + ", .eviction_policy = \"" +
         kPolicies[static_cast<int>(s.operands.at(mask + 1).number)] + "\"}";
}
static void record_masked_load(Recorder& r, const Statement& s) {
  r.with_subscripts(s, [&](auto... index) { r.define(s, load(r.tensor(s.tensor), {index...}, options_of(r, s, 0))); });
}
static void print_masked_load(Printer& p, const Statement& s) {
  p.define(s, "tw::load(" + p.place(s) + ", " + options_text(p, s, 0) + ")");
}

static bool generate_masked_store(Generator& g, const Form& form) {
  std::optional<ValueId> id = value_to_store(g);
  if (!id) return false;
  Type type = g.known(*id).type;
  Place place, own;
  if (type.axes.empty() || has_ones(type.axes)) return false;
  auto mask = condition_with(g, type.axes);
  if (!mask || !find_own_place(g, type.axes, place, own) || !g.affordable(place.axes)) return false;
  std::optional<int> tensor = tensor_to_own(g, own, type.dtype, false);
  if (!tensor) return false;
  std::optional<ValueId> fitting = g.converted(*id, g.kernel.tensors[*tensor].dtype);
  if (!fitting) return false;
  Statement store;
  store.form = &form;
  store.tensor = *tensor;
  store.subscripts = place.subscripts;
  store.operands = {FuzzOperand::of(*fitting), FuzzOperand::of(*mask), FuzzOperand::integer(g.number(0, 2))};
  g.add(std::move(store));
  return true;
}
static void record_masked_store(Recorder& r, const Statement& s) {
  r.with_subscripts(
      s, [&](auto... index) { store(r.tensor(s.tensor), {index...}, r.operand(s, 0), options_of(r, s, 1)); });
}
static void print_masked_store(Printer& p, const Statement& s) {
  p.line("tw::store(" + p.place(s) + ", " + p.operand(s, 0) + ", " + options_text(p, s, 1) + ");");
}

//===----------------------------------------------------------------------===//
// Run-time numbers
//===----------------------------------------------------------------------===//

static bool generate_number(Generator& g, const Form& form) {
  std::vector<DType> dtypes{float32, float64, int32, int64};
  if (g.kernel.numbers.size() >= 2) return false;
  DType dtype = g.one_of(dtypes);
  g.kernel.numbers.push_back({dtype, static_cast<double>(g.number(-3, 5))});
  Statement statement;
  statement.form = &form;
  DType to = dtype == float64 ? float32 : dtype; // on the device it is a number, without a dtype of its own
  statement.numbers = {static_cast<int64_t>(g.kernel.numbers.size()) - 1, static_cast<int64_t>(to)};
  return g.add_value(std::move(statement), {to, {}}, 5).has_value();
}

static void record_number(Recorder& r, const Statement& s) {
  Value number = full({}, r.number(static_cast<int>(s.numbers[0])), static_cast<DType>(s.numbers[1]));
  r.define(s, number);
}
static void print_number(Printer& p, const Statement& s) {
  p.define(s, "tw::full({}, s" + std::to_string(s.numbers[0]) +
                  ", tw::" + std::string(name(static_cast<DType>(s.numbers[1]))) + ")");
}

const std::vector<Form>& memory_forms() {
  static const std::vector<Form> table{
      {"load", 5, generate_load, record_load, print_load, kByBlocks | kChooses},
      {"load of a written argument", 3, generate_load_own, record_load, print_load, kByBlocks | kChooses},
      {"index tensor", 0.8, generate_gather, record_load, print_load, kChooses},
      {"two index tensors", 0.5, generate_gathers, record_load, print_load, kChooses},
      {"load with a mask", 0.5, generate_masked_load, record_masked_load, print_masked_load, kChooses},
      {"store", 1.2, generate_store, record_store, print_store, kByBlocks | kChooses},
      {"store +=", 0.5, generate_store, record_compound, print_compound, kByBlocks},
      {"store with a mask", 0.5, generate_masked_store, record_masked_store, print_masked_store, kChooses},
      {"store by an index tensor", 0.5, generate_scatter, record_store, print_store, kChooses},
      {"tw::Scalar", 0.3, generate_number, record_number, print_number, kByBlocks},
  };
  return table;
}

} // namespace tilewright::fuzz
