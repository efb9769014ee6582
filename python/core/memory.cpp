// Reading and writing tensors, atomics, and what a tile is asked for.
#include "python/core/bindings.h"
#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"

namespace tilewright::python {

static AccessOptions options_of(nb::handle extra_mask, const std::string& eviction_policy,
                                const SourceLocation& location) {
  AccessOptions options;
  if (!extra_mask.is_none()) options.extra_mask = operand_of(extra_mask, location);
  options.eviction_policy = eviction_policy.c_str();
  return options;
}

static void bind_tile(nb::module_& module) {
  auto number = [&](const char* name, Value (Tile::*ask)(SourceLocation) const) {
    module.def(
        name, [ask](const Tile& tile, const SourceLocation& location) { return DeviceValue((tile.*ask)(location)); },
        nb::arg("tile"), nb::kw_only(), nb::arg("location"));
  };
  number("tile_index", &Tile::index);
  number("tile_begin", &Tile::begin);
  number("tile_end", &Tile::end);
  number("tile_id", &Tile::id);
  number("tile_count", &Tile::count);
  number("tile_block_size", &Tile::block_size);
  module.def(
      "shift_tile",
      [](const Tile& tile, nb::handle by, bool back, const SourceLocation& location) {
        Operand distance = operand_of(by, location);
        return back ? tile - distance : tile + distance;
      },
      nb::arg("tile"), nb::arg("by"), nb::kw_only(), nb::arg("back") = false, nb::arg("location"));
}

void bind_memory(nb::module_& module) {
  bind_tile(module);
  module.def(
      "subscript",
      [](const DeviceValue& value, nb::handle subscripts, const SourceLocation& location) {
        return DeviceValue(detail::subscript(value.value(), Subscripts(subscripts, location).list(), location));
      },
      nb::arg("value"), nb::arg("subscripts"), nb::kw_only(), nb::arg("location"));
  module.def(
      "load",
      [](const Tensor& tensor, nb::handle subscripts, nb::handle extra_mask, const std::string& eviction_policy,
         const SourceLocation& location) {
        return DeviceValue(detail::load(tensor, Subscripts(subscripts, location).list(),
                                        options_of(extra_mask, eviction_policy, location), location));
      },
      nb::arg("tensor"), nb::arg("subscripts"), nb::arg("extra_mask") = nb::none(), nb::arg("eviction_policy") = "",
      nb::kw_only(), nb::arg("location"));
  module.def(
      "load_bound",
      [](const Tensor& tensor, nb::handle subscripts, const SourceLocation& location) {
        return DeviceValue(detail::load_bound(tensor, Subscripts(subscripts, location).list(), location));
      },
      nb::arg("tensor"), nb::arg("subscripts"), nb::kw_only(), nb::arg("location"));
  module.def(
      "store",
      [](const Tensor& tensor, nb::handle subscripts, nb::handle value, nb::handle extra_mask,
         const std::string& eviction_policy, const SourceLocation& location) {
        detail::store(tensor, Subscripts(subscripts, location).list(), operand_of(value, location),
                      options_of(extra_mask, eviction_policy, location), location);
      },
      nb::arg("tensor"), nb::arg("subscripts"), nb::arg("value"), nb::arg("extra_mask") = nb::none(),
      nb::arg("eviction_policy") = "", nb::kw_only(), nb::arg("location"));
  module.def(
      "atomic",
      [](const std::string& name, const Tensor& tensor, nb::handle subscripts, nb::handle values,
         const std::string& sem, const SourceLocation& location) {
        return DeviceValue(detail::atomic(name, tensor, Subscripts(subscripts, location).list(),
                                          operands_of(values, location), sem.c_str(), location));
      },
      nb::arg("name"), nb::arg("tensor"), nb::arg("subscripts"), nb::arg("values"), nb::arg("sem") = "relaxed",
      nb::kw_only(), nb::arg("location"));
}

} // namespace tilewright::python
