// Loads, stores and run-time numbers.
#include "fuzz/generator.h"
#include "fuzz/print_kernel.h"
#include "fuzz/record_kernel.h"

#include <algorithm>

namespace tilewright::fuzz {

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Subscripts in the making: of a tensor's dimensions, and what they make of a value's.
struct Place {
  std::vector<FuzzSubscript> subscripts;
  std::vector<int> extents;
  std::vector<Axis> axes;
};

static void add_axis(const Generator& g, Place& place, const Axis& axis) {
  using Kind = FuzzSubscript::Kind;
  place.axes.push_back(axis);
  if (axis.kind == Axis::Kind::one) return place.subscripts.push_back({Kind::none, 0});
  if (axis.kind == Axis::Kind::whole) {
    place.subscripts.push_back({Kind::whole, 0});
    return place.extents.push_back(axis.index);
  }
  for (const OpenVariable& variable : g.open_variables())
    if (variable.variable == axis.index) place.extents.push_back(variable.extent);
  place.subscripts.push_back({Kind::tile, axis.index});
}

// A dimension that goes away: indexed by the scalar of a grid, or by a number.
static void add_scalar(Generator& g, Place& place) {
  std::vector<const OpenVariable*> grids;
  for (const OpenVariable& variable : g.open_variables())
    if (variable.is_grid && variable.extent >= 0) grids.push_back(&variable);
  if (!grids.empty() && g.random.chance(0.8)) {
    const OpenVariable* grid = g.one_of(grids);
    place.subscripts.push_back({FuzzSubscript::Kind::scalar, grid->index});
    place.extents.push_back(grid->extent);
    return;
  }
  int extent = g.some_extent();
  if (g.kernel.extents[extent] == 0) return;
  int64_t size = g.kernel.extents[extent];
  place.subscripts.push_back({FuzzSubscript::Kind::constant, static_cast<int>(g.number(-size, size - 1))});
  place.extents.push_back(extent);
}

static FuzzTensor new_argument(Generator& g, DType dtype, const std::vector<int>& extents) {
  FuzzTensor tensor;
  tensor.dtype = dtype;
  tensor.extents = extents;
  tensor.aligned = g.random.chance(0.7);
  tensor.layout = g.random.chance(0.5) ? Layout::contiguous : static_cast<Layout>(g.random.below(kLayoutCount));
  if (!g.kernel.exact && is_floating_point(dtype))
    tensor.contents = g.random.chance(0.3) ? Contents::special : Contents::fractions;
  return tensor;
}

static double magnitude_of(const FuzzTensor& tensor) {
  return tensor.dtype == boolean ? 1 : tensor.contents == Contents::whole_numbers ? 5 : 2.1;
}

std::optional<ValueId> Generator::load_of(const std::vector<Axis>& axes, DType dtype) {
  Place place;
  bool has_grid = std::any_of(open_.begin(), open_.end(), [](const OpenVariable& v) { return v.is_grid; });
  for (const Axis& axis : axes) {
    if (axis.kind == Axis::Kind::tile &&
        std::any_of(open_.begin(), open_.end(), [&](auto& v) { return v.variable == axis.index && v.extent < 0; }))
      return std::nullopt;
    if (place.extents.size() < 3 && random.chance(has_grid ? 0.5 : 0.05)) add_scalar(*this, place);
    add_axis(*this, place, axis);
  }
  if (place.extents.empty()) add_scalar(*this, place);
  if (place.extents.empty() || place.subscripts.size() > 5) return std::nullopt;

  Statement load;
  load.form = find_form("load");
  load.subscripts = place.subscripts;
  load.tensor = -1;
  if (random.chance(0.3)) // one that is there
    for (size_t t = 0; t < kernel.tensors.size(); ++t) {
      const FuzzTensor& tensor = kernel.tensors[t];
      if (!tensor.is_written() && tensor.dtype == dtype && tensor.extents == place.extents)
        load.tensor = static_cast<int>(t);
    }
  if (load.tensor < 0) {
    if (!room_for_tensors() || !affordable(axes)) return std::nullopt;
    load.tensor = new_tensor(new_argument(*this, dtype, place.extents));
  }
  double magnitude = magnitude_of(kernel.tensors[load.tensor]);
  return add_value(std::move(load), {dtype, place.axes}, magnitude);
}

static bool generate_load(Generator& g, const Form&) { return g.load_of(g.some_axes(3), g.some_dtype()).has_value(); }

// What is the program's own, of a tensor that it stores to: the same subscripts where the outermost loop goes.
static bool generate_load_own(Generator& g, const Form& form) {
  std::vector<int> own;
  for (size_t t = 0; t < g.kernel.tensors.size(); ++t)
    if (g.kernel.tensors[t].is_written() && !g.kernel.tensors[t].allocated) own.push_back(static_cast<int>(t));
  if (own.empty()) return false;
  Statement load;
  load.form = &form;
  load.tensor = g.one_of(own);
  const FuzzTensor& tensor = g.kernel.tensors[load.tensor];
  Type type{tensor.dtype, {}};
  for (size_t dim = 0; dim < tensor.extents.size(); ++dim) {
    int owner = tensor.owners[dim];
    if (owner < 0) {
      load.subscripts.push_back({FuzzSubscript::Kind::whole, 0});
      type.axes.push_back({Axis::Kind::whole, tensor.extents[dim]});
      continue;
    }
    for (const OpenVariable& variable : g.open_variables()) {
      if (variable.variable != owner) continue;
      if (variable.is_grid) {
        load.subscripts.push_back({FuzzSubscript::Kind::scalar, variable.index});
      } else {
        load.subscripts.push_back({FuzzSubscript::Kind::tile, owner});
        type.axes.push_back({Axis::Kind::tile, owner});
      }
    }
  }
  return g.add_value(std::move(load), type, g.largest_magnitude(tensor.dtype) / 2).has_value();
}

// A dimension indexed by whole numbers that the kernel computes, brought into its range.
static bool generate_gather(Generator& g, const Form& form) {
  int extent = g.some_extent();
  int64_t size = g.kernel.extents[extent];
  auto numbers = g.some_value([](const Generator::Known& k) {
    return (k.type.dtype == int32 || k.type.dtype == int64) && k.type.axes.size() >= 1 && k.type.axes.size() <= 2;
  });
  if (!numbers || size == 0 || !g.room_for_tensors()) return false;
  auto index = g.apply("remainder", {FuzzOperand::of(*numbers), FuzzOperand::integer(size)});
  if (!index) return false;
  Place place;
  std::vector<Axis> others = g.some_axes(1);
  bool first = g.random.chance(0.5);
  auto add_index = [&] {
    place.subscripts.push_back({FuzzSubscript::Kind::scalar, *index});
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
  if (!g.affordable(place.axes)) return false;
  Statement load;
  load.form = &form;
  load.subscripts = place.subscripts;
  DType dtype = g.some_dtype();
  load.tensor = g.new_tensor(new_argument(g, dtype, place.extents));
  return g.add_value(std::move(load), {dtype, place.axes}, magnitude_of(g.kernel.tensors[load.tensor])).has_value();
}

static void record_load(Recorder& r, const Statement& s) { r.define(s, r.access(s)); }
static void print_load(Printer& p, const Statement& s) { p.define(s, p.access(s)); }

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Where a value of these dimensions can go: all variables of the outermost loop are among the subscripts, so that
/// programs do not meet.
static bool find_place(Generator& g, const std::vector<Axis>& axes, Place& place, std::vector<int>& owners) {
  std::vector<Axis> all;
  for (const OpenVariable& variable : g.open_variables()) {
    if (!variable.outermost) continue;
    if (variable.is_grid) {
      place.subscripts.push_back({FuzzSubscript::Kind::scalar, variable.index});
      place.extents.push_back(variable.extent);
      owners.push_back(variable.variable);
      continue;
    }
    Axis axis{Axis::Kind::tile, variable.variable};
    auto count = std::count(axes.begin(), axes.end(), axis);
    if (count > 1) return false;
    if (count == 0) all.push_back(axis); // the value is repeated along it
  }
  all.insert(all.end(), axes.begin(), axes.end());
  for (Axis axis : all) {
    if (axis.kind == Axis::Kind::one) axis = {Axis::Kind::whole, g.some_extent()};
    bool outermost = false;
    if (axis.kind == Axis::Kind::tile)
      for (const OpenVariable& variable : g.open_variables()) {
        if (variable.variable != axis.index) continue;
        if (variable.extent < 0) return false;
        outermost = variable.outermost;
      }
    owners.push_back(outermost ? axis.index : -1);
    add_axis(g, place, axis);
  }
  return place.subscripts.size() <= 5;
}

static bool generate_store(Generator& g, const Form& form) {
  bool compound = std::string_view(form.name) == "store +=";
  auto fits = [](const Generator::Known& k) { return k.type.axes.size() <= 3; };
  std::optional<ValueId> id = g.some_unused_value();
  if (!id || !fits(g.known(*id))) id = g.some_value(fits);
  if (!id) id = g.load_of(g.some_axes(3), g.some_dtype());
  if (!id) return false;
  Type type = g.known(*id).type;
  Place place;
  std::vector<int> owners;
  if (!find_place(g, type.axes, place, owners)) return false;
  std::vector<Axis> stored;
  for (const Axis& axis : place.axes) stored.push_back(axis);
  if (!g.affordable(stored)) return false;

  Statement store;
  store.form = &form;
  store.subscripts = place.subscripts;
  for (size_t t = 0; t < g.kernel.tensors.size(); ++t) { // again to the same place, sometimes
    const FuzzTensor& tensor = g.kernel.tensors[t];
    if (tensor.owners == owners && tensor.extents == place.extents && !(compound && tensor.allocated) &&
        g.random.chance(0.5))
      store.tensor = static_cast<int>(t);
  }
  if (store.tensor < 0) {
    // One more than there is room for, so that there always is a result.
    if (!g.room_for_tensors() && (g.depth() > 2 || g.kernel.tensors.size() > 10)) return false;
    DType dtype = g.random.chance(0.6) ? type.dtype : g.some_dtype();
    FuzzTensor tensor = new_argument(g, dtype, place.extents);
    tensor.owners = owners;
    tensor.allocated = !compound && g.random.chance(0.65);
    if (tensor.layout == Layout::expanded) tensor.layout = Layout::strided; // its elements must not overlap
    if (tensor.allocated) tensor.layout = Layout::contiguous, tensor.contents = Contents::whole_numbers;
    tensor.contents = std::min(tensor.contents, Contents::fractions);
    store.tensor = g.new_tensor(tensor);
  }
  DType dtype = g.kernel.tensors[store.tensor].dtype;
  std::optional<ValueId> fitting = g.converted(*id, dtype);
  if (!fitting) return false;
  if (compound && dtype == boolean) return false;
  store.operands = {FuzzOperand::of(g.random.chance(0.5) || compound || dtype != type.dtype ? *fitting : *id)};
  g.add(std::move(store));
  return true;
}

static void record_store(Recorder& r, const Statement& s) { r.access(s) = r.operand(s, 0); }
static void print_store(Printer& p, const Statement& s) { p.line(p.access(s) + " = " + p.operand(s, 0) + ";"); }

static void record_compound(Recorder& r, const Statement& s) { r.access(s) += r.operand(s, 0); }
static void print_compound(Printer& p, const Statement& s) { p.line(p.access(s) + " += " + p.operand(s, 0) + ";"); }

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
      {"load", 5, generate_load, record_load, print_load},
      {"load of a written argument", 3, generate_load_own, record_load, print_load},
      {"index tensor", 0.8, generate_gather, record_load, print_load},
      {"store", 1.2, generate_store, record_store, print_store},
      {"store +=", 0.5, generate_store, record_compound, print_compound},
      {"tw::Scalar", 0.3, generate_number, record_number, print_number},
  };
  return table;
}

} // namespace tilewright::fuzz
