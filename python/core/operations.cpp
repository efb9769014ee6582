// Operations by name: the table of operations.inc, and call(), which _core.pyi documents.
#include "python/core/bindings.h"
#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"
#include "support/error.h"
#include "tilewright/creation.h"
#include "tilewright/reductions.h"
#include "tilewright/scan.h"
#include "tilewright/shapes.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilewright::python {
namespace {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct Operation {
  std::string name, group;
  bool is_pointwise = false;
  int operands = 0;
  std::vector<std::pair<std::string, double>> parameters = {};
  std::string dtypes = {}, result = {}, signature = {}, meaning = {};
};

Operation pointwise(const char* name, const char* group, int operands,
                    std::vector<std::pair<std::string, double>> parameters, const char* dtypes, const char* result,
                    const char* meaning) {
  Operation operation{name, group, true, operands, std::move(parameters), dtypes, result, {}, meaning};
  const char* names[] = {"a", "b", "c"};
  operation.signature = operation.name + "(";
  for (int i = 0; i < operands; ++i) {
    if (i > 0) operation.signature += ", ";
    operation.signature += operands == 1 ? "x" : names[i];
  }
  for (const auto& [parameter, value] : operation.parameters) {
    std::string number = std::to_string(value);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    operation.signature += ", " + parameter + " = " + number;
  }
  operation.signature += ")";
  return operation;
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> table = [] {
    std::vector<Operation> all;
    const char* group = "";
#define TILEWRIGHT_GROUP(heading) group = heading;
#define TILEWRIGHT_UNARY(name, dtypes, result, build, reference, meaning)                                              \
  all.push_back(pointwise(#name, group, 1, {}, #dtypes, #result, meaning));
#define TILEWRIGHT_UNARY_1(name, p, p_default, dtypes, result, build, reference, meaning)                              \
  all.push_back(pointwise(#name, group, 1, {{#p, p_default}}, #dtypes, #result, meaning));
#define TILEWRIGHT_UNARY_2(name, p, p_default, q, q_default, dtypes, result, build, reference, meaning)                \
  all.push_back(pointwise(#name, group, 1, {{#p, p_default}, {#q, q_default}}, #dtypes, #result, meaning));
#define TILEWRIGHT_BINARY(name, dtypes, result, build, reference, meaning)                                             \
  all.push_back(pointwise(#name, group, 2, {}, #dtypes, #result, meaning));
#define TILEWRIGHT_TERNARY(name, dtypes, result, build, reference, meaning)                                            \
  all.push_back(pointwise(#name, group, 3, {}, #dtypes, #result, meaning));
#define TILEWRIGHT_TERNARY_1(name, p, p_default, dtypes, result, build, reference, meaning)                            \
  all.push_back(pointwise(#name, group, 3, {{#p, p_default}}, #dtypes, #result, meaning));
#define TILEWRIGHT_VARIANT(name, spelling, operands, dtypes, result, build, reference, meaning)                        \
  all.push_back(pointwise(#name, group, operands, {}, #dtypes, #result, meaning));
#define TILEWRIGHT_LISTED(name, text, meaning) all.push_back({#name, group, false, 0, {}, {}, {}, text, meaning});
#include "tilewright/operations.inc"
    for (Operation& operation : all) // its three numbers stand in no column
      if (operation.name == "nan_to_num_as") operation.parameters = {{"nan", 0}, {"posinf", 0}, {"neginf", 0}};
    return all;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

// Operands and named parameters of one call, taken by name; what is left over at its end is refused.
class Call {
public:
  Call(const std::string& name, nb::handle operands, nb::handle parameters, const SourceLocation& location)
      : location(location), name_(name), operands_(operands_of(operands, location)) {
    parameters_.update(parameters);
  }

  const SourceLocation& location;

  size_t count() const { return operands_.size(); }
  const Operand& operand(size_t i) const { return operands_[i]; }
  const std::vector<Operand>& operands() const { return operands_; }
  void expect(size_t least, size_t most) const {
    if (operands_.size() >= least && operands_.size() <= most) return;
    std::string range = least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
    fail(location, "{} takes {} operands, found {}", name_, range, operands_.size());
  }
  const Operand& only() const {
    expect(1, 1);
    return operands_[0];
  }
  // The operands as values, where an operation takes no numbers.
  std::vector<Value> values() const {
    std::vector<Value> values;
    for (const Operand& operand : operands_) {
      if (operand.kind() != Operand::Kind::value) fail(location, "{} takes device values, found a number", name_);
      values.push_back(Value(operand.handle()));
    }
    return values;
  }

  nb::object take(const char* parameter) {
    if (!parameters_.contains(parameter)) fail(location, "{} needs `{}`", name_, parameter);
    return take(parameter, nb::none());
  }
  nb::object take(const char* parameter, nb::object otherwise) {
    if (!parameters_.contains(parameter)) return otherwise;
    nb::object value = parameters_[parameter];
    nb::del(parameters_[parameter]);
    return value;
  }
  bool has(const char* parameter) const {
    return parameters_.contains(parameter) && !nb::handle(parameters_[parameter]).is_none();
  }
  int integer(const char* parameter) { return int_of(take(parameter), location); }
  int integer(const char* parameter, int otherwise) { return int_of(take(parameter, nb::int_(otherwise)), location); }
  double real(const char* parameter, double otherwise) {
    nb::object value = take(parameter, nb::float_(otherwise));
    double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) throw nb::python_error();
    return number;
  }
  bool flag(const char* parameter, bool otherwise = false) {
    return nb::cast<bool>(nb::bool_(take(parameter, nb::bool_(otherwise))));
  }
  Size size(const char* parameter) { return size_of(take(parameter), location); }
  Dims dims(const char* parameter) { return dims_of(take(parameter, nb::none()), location); }
  Shape shape() { return shape_of(take("shape"), location); }
  DType dtype(DType otherwise) {
    nb::object given = take("dtype", nb::none());
    return given.is_none() ? otherwise : dtype_of_name(given, location);
  }

  void check_all_taken() const {
    for (auto [parameter, value] : parameters_)
      fail(location, "{} does not take `{}`", name_, nb::cast<std::string>(nb::handle(parameter)));
  }

private:
  std::string name_;
  std::vector<Operand> operands_;
  nb::dict parameters_;
};

nb::object give(const Value& value) { return nb::cast(DeviceValue(value)); }
nb::object give(const std::pair<Value, Value>& pair) { return nb::make_tuple(give(pair.first), give(pair.second)); }
nb::object give(const std::vector<Value>& values) {
  nb::list list;
  for (const Value& value : values) list.append(give(value));
  return list;
}
nb::object give(const std::array<Value, 4>& values) {
  return nb::make_tuple(give(values[0]), give(values[1]), give(values[2]), give(values[3]));
}

using Function = std::function<nb::object(Call&)>;
using Functions = std::unordered_map<std::string, Function>;

//===----------------------------------------------------------------------===//
// Operations that are not pointwise
//===----------------------------------------------------------------------===//

void add_reductions(Functions& all) {
  using Reduction = Value (*)(const Operand&, const Dims&, bool, SourceLocation);
  for (auto [name, reduction] :
       std::initializer_list<std::pair<const char*, Reduction>>{{"sum", sum},
                                                                {"mean", mean},
                                                                {"prod", prod},
                                                                {"amax", amax},
                                                                {"amin", amin},
                                                                {"any", any},
                                                                {"all", tilewright::all},
                                                                {"count_nonzero", count_nonzero},
                                                                {"logsumexp", logsumexp}})
    all[name] = [reduction](Call& c) {
      Dims dims = c.dims("dims");
      return give(reduction(c.only(), dims, c.flag("keepdim"), c.location));
    };
  for (bool largest : {true, false}) {
    all[largest ? "max" : "min"] = [largest](Call& c) {
      bool has_dim = c.has("dim");
      nb::object dim = c.take("dim", nb::none());
      bool keepdim = c.flag("keepdim");
      return has_dim ? give(detail::extremum(largest, c.only(), int_of(dim, c.location), keepdim, c.location))
                     : give(detail::extremum(largest, c.only(), c.location));
    };
    all[largest ? "argmax" : "argmin"] = [largest](Call& c) {
      bool has_dim = c.has("dim");
      nb::object dim = c.take("dim", nb::none());
      bool keepdim = c.flag("keepdim");
      if (!has_dim) return give(largest ? argmax(c.only(), c.location) : argmin(c.only(), c.location));
      int along = int_of(dim, c.location);
      return give(largest ? argmax(c.only(), along, keepdim, c.location)
                          : argmin(c.only(), along, keepdim, c.location));
    };
  }
  auto spread = [&](const char* name, auto function) {
    all[name] = [function](Call& c) {
      Dims dims = c.dims("dims");
      double correction = c.real("correction", 1);
      return give(function(c.only(), dims, correction, c.flag("keepdim"), c.location));
    };
  };
  using Spread = Value (*)(const Operand&, const Dims&, double, bool, SourceLocation);
  spread("var", static_cast<Spread>(var));
  spread("std", static_cast<Spread>(tilewright::std));
  spread("var_mean", var_mean);
  all["norm"] = [](Call& c) {
    double p = c.real("p", 2);
    Dims dims = c.dims("dims");
    return give(norm(c.only(), p, dims, c.flag("keepdim"), c.location));
  };
}

void add_along_one_dim(Functions& all) {
  using Along = Value (*)(const Operand&, int, SourceLocation);
  for (auto [name, function] : std::initializer_list<std::pair<const char*, Along>>{{"softmax", softmax},
                                                                                    {"log_softmax", log_softmax},
                                                                                    {"cumsum", cumsum},
                                                                                    {"cumprod", cumprod},
                                                                                    {"unsqueeze", unsqueeze}})
    all[name] = [function](Call& c) { return give(function(c.only(), c.integer("dim"), c.location)); };
  all["cummax"] = [](Call& c) { return give(cummax(c.only(), c.integer("dim"), c.location)); };
  all["cummin"] = [](Call& c) { return give(cummin(c.only(), c.integer("dim"), c.location)); };
}

void add_products(Functions& all) {
  auto operands = [&](const char* name, size_t count, auto function) {
    all[name] = [count, function](Call& c) {
      c.expect(count, count);
      return give(function(c));
    };
  };
  operands("matmul", 2, [](Call& c) { return matmul(c.operand(0), c.operand(1), c.location); });
  operands("mm", 2, [](Call& c) { return mm(c.operand(0), c.operand(1), c.location); });
  operands("bmm", 2, [](Call& c) { return bmm(c.operand(0), c.operand(1), c.location); });
  operands("addmm", 3, [](Call& c) { return addmm(c.operand(0), c.operand(1), c.operand(2), c.location); });
  operands("baddbmm", 3, [](Call& c) { return baddbmm(c.operand(0), c.operand(1), c.operand(2), c.location); });
  operands("where", 3, [](Call& c) { return where(c.operand(0), c.operand(1), c.operand(2), c.location); });
  operands("join", 2, [](Call& c) { return join(c.operand(0), c.operand(1), c.location); });
  operands("expand_as", 2, [](Call& c) { return expand_as(c.operand(0), c.operand(1), c.location); });
  operands("gather", 2, [](Call& c) { return gather(c.operand(0), c.integer("dim"), c.operand(1), c.location); });
  all["dot"] = [](Call& c) {
    c.expect(2, 3);
    return give(c.count() == 2 ? dot(c.operand(0), c.operand(1), c.location)
                               : dot(c.operand(0), c.operand(1), c.operand(2), c.location));
  };
}

void add_shapes(Functions& all) {
  all["to"] = [](Call& c) {
    c.expect(1, 1);
    DType dtype = dtype_of_name(c.take("dtype"), c.location);
    return give(c.values()[0].to(dtype, c.location));
  };
  all["transpose"] = [](Call& c) {
    int dim0 = c.integer("dim0"), dim1 = c.integer("dim1");
    return give(transpose(c.only(), dim0, dim1, c.location));
  };
  all["t"] = [](Call& c) {
    c.expect(1, 1);
    return give(c.values()[0].t(c.location));
  };
  all["permute"] = [](Call& c) { return give(permute(c.only(), c.dims("dims"), c.location)); };
  all["squeeze"] = [](Call& c) { return give(squeeze(c.only(), c.dims("dims"), c.location)); };
  all["flip"] = [](Call& c) { return give(flip(c.only(), c.dims("dims"), c.location)); };
  all["flatten"] = [](Call& c) {
    int first = c.integer("first_dim", 0), last = c.integer("last_dim", -1);
    return give(flatten(c.only(), first, last, c.location));
  };
  using Reshape = Value (*)(const Operand&, const Shape&, SourceLocation);
  for (auto [name, function] : std::initializer_list<std::pair<const char*, Reshape>>{{"reshape", reshape},
                                                                                      {"view", view},
                                                                                      {"expand", expand},
                                                                                      {"broadcast_to", broadcast_to},
                                                                                      {"new_zeros", new_zeros},
                                                                                      {"new_ones", new_ones},
                                                                                      {"new_empty", new_empty}})
    all[name] = [function](Call& c) { return give(function(c.only(), c.shape(), c.location)); };
  all["view_bits"] = [](Call& c) {
    DType dtype = dtype_of_name(c.take("dtype"), c.location);
    return give(view(c.only(), dtype, c.location));
  };
  all["sort"] = [](Call& c) {
    int dim = c.integer("dim", -1);
    return give(sort(c.only(), dim, c.flag("descending"), c.location));
  };
  all["argsort"] = [](Call& c) {
    int dim = c.integer("dim", -1);
    return give(argsort(c.only(), dim, c.flag("descending"), c.location));
  };
  all["topk"] = [](Call& c) {
    Size k = c.size("k");
    int dim = c.integer("dim", -1);
    return give(topk(c.only(), k, dim, c.flag("largest", true), c.location));
  };
  all["stack"] = [](Call& c) { return give(stack(c.values(), c.integer("dim", 0), c.location)); };
  all["cat"] = [](Call& c) { return give(cat(c.values(), c.integer("dim", 0), c.location)); };
  all["split"] = [](Call& c) {
    if (!c.has("size")) return give(split(c.only(), c.location));
    Size size = c.size("size");
    return give(split(c.only(), size, c.integer("dim", 0), c.location));
  };
  all["chunk"] = [](Call& c) {
    Size count = c.size("count");
    return give(chunk(c.only(), count, c.integer("dim", 0), c.location));
  };
}

void add_creation(Functions& all) {
  for (bool one : {false, true})
    all[one ? "ones" : "zeros"] = [one](Call& c) {
      c.expect(0, 0);
      Shape shape = c.shape();
      DType dtype = c.dtype(DType::float32);
      return give(one ? ones(shape, dtype, c.location) : zeros(shape, dtype, c.location));
    };
  for (bool one : {false, true})
    all[one ? "ones_like" : "zeros_like"] = [one](Call& c) {
      const Operand& x = c.only();
      if (!c.has("dtype")) {
        c.take("dtype", nb::none());
        return give(one ? ones_like(x, c.location) : zeros_like(x, c.location));
      }
      DType dtype = c.dtype(DType::float32);
      return give(one ? ones_like(x, dtype, c.location) : zeros_like(x, dtype, c.location));
    };
  all["full"] = [](Call& c) {
    Shape shape = c.shape();
    return give(full(shape, c.only(), c.dtype(DType::float32), c.location));
  };
  all["full_like"] = [](Call& c) {
    c.expect(2, 2);
    return give(full_like(c.operand(0), c.operand(1), c.location));
  };
  all["new_full"] = [](Call& c) {
    c.expect(2, 2);
    return give(new_full(c.operand(0), c.shape(), c.operand(1), c.location));
  };
  all["arange"] = [](Call& c) {
    c.expect(1, 2);
    DType dtype = c.dtype(DType::int64);
    return give(c.count() == 1 ? arange(c.operand(0), dtype, c.location)
                               : arange(c.operand(0), c.operand(1), dtype, c.location));
  };
  all["rand"] = [](Call& c) {
    Shape shape = c.shape();
    return give(tilewright::rand(shape, c.only(), c.dtype(DType::float32), c.location));
  };
  all["randn"] = [](Call& c) {
    Shape shape = c.shape();
    return give(randn(shape, c.only(), c.dtype(DType::float32), c.location));
  };
  all["randint"] = [](Call& c) {
    Size low = c.size("low"), high = c.size("high");
    Shape shape = c.shape();
    return give(randint(low, high, shape, c.only(), c.dtype(DType::int64), c.location));
  };
  all["rand4x"] = [](Call& c) {
    Shape shape = c.shape();
    return give(rand4x(shape, c.only(), c.location));
  };
}

// Operands, then the parameters in order of the table.
void add_pointwise(Functions& all) {
  for (const Operation& operation : operations()) {
    if (!operation.is_pointwise) continue;
    all[operation.name] = [&operation](Call& c) {
      c.expect(operation.operands, operation.operands);
      std::vector<Operand> terms = c.operands();
      for (const auto& [parameter, value] : operation.parameters) {
        bool whole = value == static_cast<int64_t>(value);
        nb::object otherwise =
            whole ? nb::object(nb::int_(static_cast<int64_t>(value))) : nb::object(nb::float_(value));
        terms.push_back(operand_of(c.take(parameter.c_str(), otherwise), c.location));
      }
      return give(detail::pointwise(operation.name, terms, c.location));
    };
  }
}

const Functions& functions() {
  static const Functions table = [] {
    Functions all;
    add_pointwise(all);
    add_reductions(all);
    add_along_one_dim(all);
    add_products(all);
    add_shapes(all);
    add_creation(all);
    return all;
  }();
  return table;
}

} // namespace

void bind_operations(nb::module_& module) {
  nb::class_<Operation>(module, "Operation")
      .def_ro("name", &Operation::name)
      .def_ro("group", &Operation::group)
      .def_ro("is_pointwise", &Operation::is_pointwise)
      .def_ro("operands", &Operation::operands)
      .def_ro("parameters", &Operation::parameters)
      .def_ro("dtypes", &Operation::dtypes)
      .def_ro("result", &Operation::result)
      .def_ro("signature", &Operation::signature)
      .def_ro("meaning", &Operation::meaning);
  module.def("operations", &operations);
  module.def(
      "call",
      [](const std::string& name, nb::handle operands, nb::handle parameters, const SourceLocation& location) {
        auto found = functions().find(name);
        if (found == functions().end()) fail(location, "there is no operation {}", name);
        Call call(name, operands, parameters, location);
        nb::object result = found->second(call);
        call.check_all_taken();
        return result;
      },
      nb::arg("name"), nb::arg("operands"), nb::arg("parameters") = nb::dict(), nb::kw_only(), nb::arg("location"));
}

} // namespace tilewright::python
