#include "fuzz/places.h"

#include <algorithm>

namespace tilewright::fuzz {

using Kind = FuzzSubscript::Kind;

static const OpenVariable* open_variable(const Generator& g, int variable) {
  for (const OpenVariable& each : g.open_variables())
    if (each.variable == variable) return &each;
  return nullptr;
}

std::optional<ValueId> as_index(Generator& g, ValueId value, int64_t count) {
  return g.apply("remainder", {FuzzOperand::of(value), FuzzOperand::integer(count)});
}

static bool is_integer(DType dtype) { return dtype == int32 || dtype == int64; }

std::optional<ValueId> some_scalar_index(Generator& g, int64_t count) {
  auto number = g.some_value([](const Generator::Known& k) { return k.type.axes.empty() && is_integer(k.type.dtype); });
  if (!number) return std::nullopt;
  return as_index(g, *number, count);
}

static void add_tile(Generator& g, Place& place, int variable, bool lasting) {
  FuzzSubscript subscript = FuzzSubscript::tile(variable);
  const OpenVariable open = *open_variable(g, variable);
  int extent = open.extent;
  if (extent >= 0 && g.random.chance(0.1)) {
    int64_t by = g.number(1, 3);
    if (open.begin >= 1 && g.random.chance(0.5)) {
      subscript.shift = -1;
    } else if (auto scalar = lasting || g.random.chance(0.6) ? std::nullopt : some_scalar_index(g, by + 1)) {
      subscript.value = *scalar;
      extent = g.scaled_extent(extent, 1, by);
    } else {
      subscript.shift = by;
      extent = g.scaled_extent(extent, 1, by);
    }
  }
  place.subscripts.push_back(subscript);
  place.extents.push_back(extent);
}

static void add_whole(Generator& g, Place& place, int extent, bool lasting) {
  FuzzSubscript subscript;
  if (g.random.chance(0.1)) {
    int64_t tail = g.number(0, 2);
    auto begin = lasting || g.random.chance(0.7) ? std::nullopt : some_scalar_index(g, tail + 1);
    if (begin) {
      subscript = {Kind::slice_from, extent, *begin};
      extent = g.scaled_extent(extent, 1, tail);
    } else {
      int64_t step = g.random.chance(0.3) ? g.number(2, 3) : 1, first = g.number(0, 2);
      subscript = {Kind::slice, 0, -1, 0, first, tail, step};
      extent = g.scaled_extent(extent, step, first + tail);
    }
  }
  place.subscripts.push_back(subscript);
  place.extents.push_back(extent);
}

void add_axis(Generator& g, Place& place, const Axis& axis, bool lasting) {
  place.axes.push_back(axis);
  switch (axis.kind) {
  case Axis::Kind::one: place.subscripts.push_back({Kind::none}); break;
  case Axis::Kind::whole: add_whole(g, place, axis.index, lasting); break;
  case Axis::Kind::tile: add_tile(g, place, axis.index, lasting); break;
  case Axis::Kind::block: break; // no memory is as long
  }
}

void add_scalar(Generator& g, Place& place) {
  std::vector<const OpenVariable*> grids;
  for (const OpenVariable& variable : g.open_variables())
    if (variable.is_grid && variable.extent >= 0) grids.push_back(&variable);
  if (!grids.empty() && g.random.chance(0.8)) {
    const OpenVariable* grid = g.one_of(grids);
    place.subscripts.push_back(FuzzSubscript::of(grid->index));
    place.extents.push_back(grid->extent);
    return;
  }
  int extent = g.some_extent();
  int64_t size = g.kernel.extents[extent];
  if (size == 0) return;
  place.subscripts.push_back({Kind::constant, static_cast<int>(g.number(-size, size - 1))});
  place.extents.push_back(extent);
}

// An index tensor in the place of a dimension of the value.
static bool add_index(Generator& g, Place& place, const Axis& axis) {
  int extent = g.some_extent();
  int64_t size = g.kernel.extents[extent];
  auto numbers = g.some_value(
      [&](const Generator::Known& k) { return is_integer(k.type.dtype) && k.type.axes == std::vector<Axis>{axis}; });
  if (!numbers || size == 0) return false;
  auto index = as_index(g, *numbers, size);
  if (!index) return false;
  place.axes.push_back(axis);
  place.subscripts.push_back(FuzzSubscript::of(*index));
  place.extents.push_back(extent);
  return true;
}

std::optional<Place> shared_place(Generator& g, const std::vector<Axis>& axes) {
  Place place;
  for (const Axis& axis : axes) {
    const OpenVariable* open = axis.kind == Axis::Kind::tile ? open_variable(g, axis.index) : nullptr;
    if (axis.kind == Axis::Kind::one || (open && open->extent < 0)) return std::nullopt;
    if (g.random.chance(0.4) && add_index(g, place, axis)) continue;
    if (place.extents.size() < 3 && g.random.chance(0.15)) add_scalar(g, place);
    add_axis(g, place, axis);
  }
  if (place.extents.empty()) add_scalar(g, place);
  if (place.extents.empty() || place.subscripts.size() > 5) return std::nullopt;
  return place;
}

bool find_own_place(Generator& g, const std::vector<Axis>& axes, Place& place, Place& own) {
  std::vector<Axis> all;
  for (const OpenVariable& variable : g.open_variables()) {
    if (!variable.outermost) continue;
    if (variable.is_grid) {
      place.subscripts.push_back(FuzzSubscript::of(variable.index));
      place.extents.push_back(variable.extent);
      continue;
    }
    Axis axis{Axis::Kind::tile, variable.variable};
    auto count = std::count(axes.begin(), axes.end(), axis);
    if (count > 1) return false;
    if (count == 0) all.push_back(axis); // the value is repeated along it
  }
  own.subscripts = place.subscripts;
  all.insert(all.end(), axes.begin(), axes.end());
  for (Axis axis : all) {
    if (axis.kind == Axis::Kind::one) axis = {Axis::Kind::whole, g.some_extent()};
    if (axis.kind == Axis::Kind::block) return false;
    bool outermost = axis.kind == Axis::Kind::whole;
    if (axis.kind == Axis::Kind::tile) {
      const OpenVariable* variable = open_variable(g, axis.index);
      if (!variable || variable->extent < 0) return false;
      outermost = variable->outermost;
    }
    add_axis(g, place, axis, true);
    own.subscripts.push_back(outermost ? place.subscripts.back() : FuzzSubscript());
    own.axes.push_back(outermost ? axis : Axis{Axis::Kind::whole, place.extents.back()});
  }
  own.extents = place.extents;
  return place.subscripts.size() <= 5;
}

FuzzTensor new_argument(Generator& g, DType dtype, const std::vector<int>& extents) {
  FuzzTensor tensor;
  tensor.dtype = dtype;
  tensor.extents = extents;
  tensor.aligned = g.random.chance(0.7);
  tensor.layout = g.random.chance(0.5) ? Layout::contiguous : static_cast<Layout>(g.random.below(kLayoutCount));
  if (!g.kernel.exact && is_floating_point(dtype))
    tensor.contents = g.random.chance(g.share_of_special()) ? Contents::special : Contents::fractions;
  return tensor;
}

} // namespace tilewright::fuzz
