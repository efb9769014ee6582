// Loops, branches, loops on a condition, combiners, barriers and printing: what takes bodies, which here are Python's.
#include "python/core/bindings.h"
#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"
#include "support/error.h"
#include "tilewright/control.h"
#include "tilewright/detail/combiner.h"

#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

namespace tilewright::python {

//===----------------------------------------------------------------------===//
// Tile loops
//===----------------------------------------------------------------------===//

namespace {

struct LoopBounds {
  std::vector<Operand> begin, end; // begin empty: 0
  BlockSizes blocks;
  bool grid;
  SourceLocation location;
  std::optional<Value> lengths = {}; // of the rows of a jagged tile
};

// A loop of so many dimensions as its bounds say. Destroyed while it is open, it is left before its end.
class DynamicLoop : public detail::LoopRange {
public:
  explicit DynamicLoop(const LoopBounds& bounds)
      : LoopRange(bounds.begin.empty() ? nullptr : bounds.begin.data(), bounds.end.data(),
                  static_cast<int>(bounds.end.size()), bounds.blocks, bounds.grid, bounds.location) {}
  using LoopRange::close;
  using LoopRange::open;
  using LoopRange::variable;
};

// The context manager.
struct Loop {
  LoopBounds bounds;
  std::unique_ptr<DynamicLoop> open = {};

  nb::list enter() {
    open = std::make_unique<DynamicLoop>(bounds);
    open->open();
    if (bounds.lengths) detail::mark_jagged(open->variable(0), *bounds.lengths);
    nb::list variables;
    for (size_t i = 0; i < bounds.end.size(); ++i) {
      detail::Handle handle = open->variable(static_cast<int>(i));
      variables.append(bounds.grid ? nb::cast(DeviceValue(handle)) : nb::cast(Tile(handle)));
    }
    return variables;
  }
  void exit(nb::handle exception) {
    std::unique_ptr<DynamicLoop> closing = std::move(open);
    if (exception.is_none() && closing) closing->close();
  }
};

} // namespace

static BlockSize block_size_of(nb::handle object, const SourceLocation& location) {
  if (object.is_none()) return none;
  if (nb::isinstance<DeviceValue>(object)) return RegisteredBlockSize(nb::cast<const DeviceValue&>(object).value());
  return size_of(object, location);
}

static void bind_loops(nb::module_& module) {
  nb::class_<Loop>(module, "Loop")
      .def("__enter__", &Loop::enter)
      .def(
          "__exit__", [](Loop& self, nb::handle type, nb::handle, nb::handle) { self.exit(type); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
  module.def(
      "loop",
      [](nb::handle begin, nb::handle end, nb::handle block_sizes, bool grid, nb::handle jagged,
         const SourceLocation& location) {
        LoopBounds bounds{{}, operands_of(end, location), {}, grid, location};
        if (!jagged.is_none()) {
          bounds.lengths = nb::cast<const DeviceValue&>(jagged).value();
          bounds.end = {Operand(detail::longest(*bounds.lengths, location), location)};
        }
        if (!begin.is_none()) bounds.begin = operands_of(begin, location);
        if (bounds.end.empty() || bounds.end.size() > BlockSizes::kMost)
          fail(location, "a tile loop is over 1 to {} dimensions, found {}", BlockSizes::kMost, bounds.end.size());
        if (!bounds.begin.empty() && bounds.begin.size() != bounds.end.size())
          fail(location, "a tile loop with {} begins and {} ends", bounds.begin.size(), bounds.end.size());
        if (!block_sizes.is_none())
          for (nb::handle each : block_sizes) bounds.blocks.push_back(block_size_of(each, location));
        return Loop{std::move(bounds)};
      },
      nb::arg("begin").none(), nb::arg("end"), nb::arg("block_sizes") = nb::none(), nb::kw_only(),
      nb::arg("grid") = false, nb::arg("jagged") = nb::none(), nb::arg("location"));
}

//===----------------------------------------------------------------------===//
// Branches and loops on a condition
//===----------------------------------------------------------------------===//

static detail::Body body_of(nb::handle function) {
  if (function.is_none()) return {nullptr, nullptr};
  return {[](void* opaque) { nb::handle(static_cast<PyObject*>(opaque))(); }, function.ptr()};
}

static void bind_branches(nb::module_& module) {
  module.def(
      "if_",
      [](nb::handle condition, nb::handle then, nb::handle otherwise, const SourceLocation& location) {
        detail::record_if(operand_of(condition, location), body_of(then), body_of(otherwise), location);
      },
      nb::arg("condition"), nb::arg("then"), nb::arg("otherwise") = nb::none(), nb::kw_only(), nb::arg("location"));
  module.def(
      "while_",
      [](nb::handle condition, nb::handle body, const SourceLocation& location) {
        auto call = [](void* function, const SourceLocation& where) {
          return operand_of(nb::handle(static_cast<PyObject*>(function))(), where);
        };
        detail::record_while({call, condition.ptr()}, body_of(body), location);
      },
      nb::arg("condition"), nb::arg("body"), nb::kw_only(), nb::arg("location"));
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

namespace {
struct PythonCombiner {
  nb::handle function;
  size_t count; // values on each side

  static void call(const void* opaque, const Value* arguments, Operand* results, const SourceLocation& location) {
    const auto& self = *static_cast<const PythonCombiner*>(opaque);
    nb::list scalars;
    for (size_t i = 0; i < 2 * self.count; ++i) scalars.append(DeviceValue(arguments[i]));
    std::vector<Operand> given = operands_of(self.function(*nb::tuple(scalars)), location);
    if (given.size() != self.count) fail(location, "the combiner of {} values gives back {}", self.count, given.size());
    std::copy(given.begin(), given.end(), results);
  }
};
} // namespace

static nb::list to_list(const std::vector<Value>& values) {
  nb::list list;
  for (const Value& value : values) list.append(DeviceValue(value));
  return list;
}

static void bind_combiners(nb::module_& module) {
  module.def(
      "reduce",
      [](nb::handle combiner, nb::handle values, nb::handle dims, nb::handle other, bool keepdim,
         const SourceLocation& location) {
        std::vector<Operand> sources = operands_of(values, location), others = operands_of(other, location);
        if (others.empty()) others.assign(sources.size(), Operand(0, location));
        if (others.size() != sources.size())
          fail(location, "reduce of {} values has {} numbers as `other`", sources.size(), others.size());
        PythonCombiner python{combiner, sources.size()};
        std::vector<Value> results(sources.size());
        detail::reduce(sources.data(), sources.size(), dims_of(dims, location), others.data(), keepdim,
                       {&PythonCombiner::call, &python}, results.data(), location);
        return to_list(results);
      },
      nb::arg("combiner"), nb::arg("values"), nb::arg("dims") = nb::make_tuple(), nb::arg("other") = nb::make_tuple(),
      nb::arg("keepdim") = false, nb::kw_only(), nb::arg("location"));
  module.def(
      "associative_scan",
      [](nb::handle combiner, nb::handle values, nb::handle dim, bool reverse, const SourceLocation& location) {
        std::vector<Operand> sources = operands_of(values, location);
        PythonCombiner python{combiner, sources.size()};
        std::vector<Value> results(sources.size());
        detail::scan(sources.data(), sources.size(), int_of(dim, location), reverse, {&PythonCombiner::call, &python},
                     results.data(), location);
        return to_list(results);
      },
      nb::arg("combiner"), nb::arg("values"), nb::arg("dim"), nb::arg("reverse") = false, nb::kw_only(),
      nb::arg("location"));
}

void bind_control(nb::module_& module) {
  bind_loops(module);
  bind_branches(module);
  bind_combiners(module);
  module.def(
      "print_line",
      [](const std::string& text, nb::handle value, const SourceLocation& location) {
        if (value.is_none())
          print(text.c_str(), location);
        else
          print(text.c_str(), operand_of(value, location), location);
      },
      nb::arg("text"), nb::arg("value") = nb::none(), nb::kw_only(), nb::arg("location"));
  module.def("barrier", [](const SourceLocation& location) { barrier(location); }, nb::kw_only(), nb::arg("location"));
}

} // namespace tilewright::python
