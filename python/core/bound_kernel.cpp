// A kernel and the arguments of one call: what there is to decide about it, its code, and tuning.
#include "python/core/bindings.h"
#include "python/core/config.h"
#include "python/core/gpu_tuning.h"
#include "python/core/kernel.h"
#include "python/core/operands.h"

#include "driver/prepared_call.h"
#include "support/error.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace tilewright::python {
namespace {

// Owns what its call refers to.
class BoundKernel {
public:
  BoundKernel(Kernel kernel, const CallArguments& arguments, nb::object objects)
      : kernel_(std::move(kernel)), objects_(std::move(objects)), key_(arguments.key().text()),
        looked_at_(arguments.list().begin(), arguments.list().end()), location_(calling_line()),
        arguments_(looked_at_, location_) {
    detail::Call call{arguments_.list(), &record, this, 0, &kernel_.settings(), location_};
    core_ = detail::make_kernel_core(kernel_.definition());
    BoundCall bound(core_, call, nullptr);
    backend_ = kernel_.runs_on_gpu(arguments.device()) ? Backend::Triton : Backend::Cpu;
    make_for(arguments.device());
    nb::gil_scoped_release release;
    prepared_.emplace(bound, backend_);
  }
  BoundKernel(const BoundKernel&) = delete;

  const PreparedCall& prepared() const { return *prepared_; }
  Backend backend() const { return backend_; }

  // A config of spec() as it is complete for the kernel that it is recorded for.
  Config fitted(const Config& config) const {
    nb::gil_scoped_release release;
    return prepared_->candidate(config).config;
  }

  TuningResult tune(AutotuneEffort effort, double budget_seconds) const {
    TuningResult result = search(effort, budget_seconds);
    result.best = fitted(result.best);
    return result;
  }

  const Kernel& kernel() const { return kernel_; }

  nb::object call(nb::handle args, nb::handle kwargs) {
    CallArguments arguments(kernel_.definition(), kernel_.options.constants);
    nb::object objects;
    Found found = kernel_.look_at(args.ptr(), kwargs.ptr(), arguments, objects);
    if (found == Found::all_simple && arguments.key().text() != key_)
      fail(calling_line(), "kernel {} was bound to other arguments: {}; bind it to these", kernel_.definition().name,
           prepared_->description());
    return kernel_.call(args.ptr(), kwargs.ptr());
  }

  void set_config(const std::optional<Config>& config) {
    Settings settings = kernel_.settings();
    settings.config = config ? std::optional(complete(*config)) : std::nullopt;
    kernel_ = kernel_.with(std::move(settings));
  }

  Config complete(const Config& config) const {
    try {
      nb::gil_scoped_release release; // it may be recorded anew, which takes the lock
      return prepared_->complete(config);
    } catch (const Error& error) {
      set_python_error(error);
      throw nb::python_error();
    }
  }

private:
  TuningResult search(AutotuneEffort effort, double budget_seconds) const {
    if (backend_ == Backend::Cpu) {
      nb::gil_scoped_release release;
      return prepared_->tune(effort, budget_seconds);
    }
    const Specialisation& specialisation = prepared_->specialisation();
    nb::list arguments;
    for (const Specialisation::Parameter& parameter : specialisation.parameters)
      arguments.append(arguments_.object(parameter.argument));
    TuneRequest request{effort, budget_seconds};
    request.job_for = [&](const Config& config) { return prepared_->candidate(config); };
    request.paste = [&](const Config& config) {
      return "tw.Config.from_json('" + prepared_->candidate(config).config.to_json() + "')";
    };
    return tune_on_gpu(specialisation, arguments, request);
  }

  static void record(const void* opaque, std::span<const detail::Argument>, detail::Recording& recording) {
    const auto& self = *static_cast<const BoundKernel*>(opaque);
    nb::gil_scoped_acquire lock;
    self.kernel_.record(self.arguments_, self.looked_at_, recording);
  }

  Kernel kernel_;
  nb::object objects_;
  std::string key_;
  std::vector<CallArgument> looked_at_;
  SourceLocation location_;
  CompilerArguments arguments_;
  std::shared_ptr<detail::KernelCore> core_;
  Backend backend_ = Backend::Cpu;
  std::optional<PreparedCall> prepared_;
};

} // namespace

static std::unique_ptr<BoundKernel> bind(const Kernel& kernel, nb::handle args, nb::handle kwargs) {
  CallArguments arguments(kernel.definition(), kernel.options.constants);
  nb::object objects;
  Found found = kernel.look_at(args.ptr(), kwargs.ptr(), arguments, objects);
  if (found == Found::dispatched)
    fail(calling_line(), "kernel {} is bound to a tensor that has no memory", kernel.definition().name);
  if (found == Found::needs_grad) arguments.refuse_grad();
  follow_torch_threads();
  return std::make_unique<BoundKernel>(kernel, arguments, std::move(objects));
}

static nb::list returned(const PreparedCall& prepared) {
  const Specialisation& specialisation = prepared.specialisation();
  nb::list list;
  for (const HostPlan::Returned& each : specialisation.host.returned) {
    bool is_new = each.kind == HostPlan::Returned::Kind::Allocation;
    if (!is_new) {
      const Specialisation::Parameter& parameter = specialisation.parameters[each.index];
      list.append(
          nb::make_tuple("argument", parameter.argument, nb::list(), nb::list(), name_of_dtype(parameter.dtype)));
      continue;
    }
    const HostPlan::Allocation& allocation = specialisation.host.allocations[each.index];
    std::vector<int64_t> sizes = allocation.sizes_for({}), strides(sizes.size());
    int64_t stride = 1;
    for (size_t i = strides.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= std::max<int64_t>(sizes[i], 1);
    }
    list.append(nb::make_tuple("new", each.index, nb::cast(sizes), nb::cast(strides), name_of_dtype(allocation.dtype)));
  }
  return list;
}

void bind_bound(nb::module_& module) {
  nb::class_<BoundKernel>(module, "BoundKernel")
      .def("__call__",
           [](BoundKernel& self, const nb::args& args, const nb::kwargs& kwargs) { return self.call(args, kwargs); })
      .def_prop_ro("description", [](const BoundKernel& self) { return self.prepared().description(); })
      .def_prop_ro("spec", [](const BoundKernel& self) { return to_json(self.prepared().spec()); })
      .def_prop_ro("default_config",
                   [](const BoundKernel& self) { return self.fitted(default_config(self.prepared().spec())); })
      .def_prop_ro("known_config",
                   [](const BoundKernel& self) {
                     std::optional<Config> known = self.prepared().known_config();
                     return known ? std::optional(self.fitted(*known)) : std::nullopt;
                   })
      .def("complete", &BoundKernel::complete, nb::arg("config"))
      .def("set_config", &BoundKernel::set_config, nb::arg("config").none())
      .def(
          "to_code",
          [](const BoundKernel& self, const Config& config, const std::optional<std::string>& stage) {
            Config complete = self.complete(config);
            nb::gil_scoped_release release;
            return self.prepared().stage_text(stage.value_or(stage_names(self.backend()).back()), complete);
          },
          nb::arg("config"), nb::arg("stage") = nb::none())
      .def_prop_ro("backend", [](const BoundKernel& self) { return self.backend() == Backend::Cpu ? "cpu" : "triton"; })
      .def(
          "tune",
          [](const BoundKernel& self, const std::string& effort, double budget_seconds) {
            AutotuneEffort how = autotune_effort_of(effort);
            follow_torch_threads();
            TuningResult result = self.tune(how, budget_seconds);
            return std::pair(result.best, result.microseconds);
          },
          nb::arg("effort") = "quick", nb::arg("budget_seconds") = 10.0)
      .def_prop_ro("returned", [](const BoundKernel& self) { return returned(self.prepared()); })
      .def_prop_ro("written_arguments", [](const BoundKernel& self) {
        std::vector<size_t> written;
        for (const Specialisation::Parameter& parameter : self.prepared().specialisation().parameters)
          if (parameter.is_written) written.push_back(parameter.argument);
        return written;
      });
  nb::cast<nb::object>(module.attr("Kernel"));
  nb::class_<Kernel> kernel = nb::borrow<nb::class_<Kernel>>(module.attr("Kernel"));
  kernel.def("bind", [](const Kernel& self, const nb::args& args, const nb::kwargs& kwargs) {
    return bind(self, args, kwargs);
  });
  module.def(
      "stages",
      [](const std::string& name) {
        std::optional<Backend> backend = parse_backend(name);
        if (!backend) fail("there is no backend \"{}\"; there are cpu and triton", name);
        std::span<const std::string> names = stage_names(*backend);
        return std::vector<std::string>(names.begin(), names.end());
      },
      nb::arg("backend") = "cpu");
}

} // namespace tilewright::python
