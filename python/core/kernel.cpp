#include "python/core/kernel.h"

#include "python/core/gpu_tuning.h"
#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"
#include "support/error.h"
#include "tilewright/device.h"

#include <map>

namespace tilewright::python {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static int thread_limit = 0; // by set_num_threads(); 0: not yet known

void follow_torch_threads() {
  if (thread_limit == 0) thread_limit = num_threads();
  int wanted = std::clamp(Torch::get().num_threads(), 1, thread_limit);
  if (wanted != num_threads()) set_num_threads(wanted);
}

void limit_threads(int count) {
  set_num_threads(count, calling_line());
  thread_limit = count;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static std::string key_of(const Settings& settings) {
  std::string key = settings.config ? settings.config->to_json() : "";
  if (settings.autotune_effort) key += "e" + std::to_string(static_cast<int>(*settings.autotune_effort));
  return key;
}

// Sizes are Python's integers here, and what Python did with one is not known.
static Settings with_static_shapes(Settings settings) {
  settings.static_shapes = true;
  return settings;
}

Kernel::Kernel(KernelDefinition definition, Options options, Settings settings)
    : options(std::move(options)), autograd(nb::none()), dispatched(nb::none()), shared_(std::make_shared<Shared>()),
      settings_(with_static_shapes(std::move(settings))), settings_key_(key_of(settings_)) {
  shared_->definition = std::move(definition);
}

Kernel Kernel::with(Settings settings) const {
  Kernel other = *this;
  other.settings_ = with_static_shapes(std::move(settings));
  other.settings_key_ = key_of(other.settings_);
  other.last_.reset();
  return other;
}

void Kernel::reset() {
  shared_->specialised.clear();
  ++shared_->epoch;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Found Kernel::look_at(PyObject* args, PyObject* kwargs, CallArguments& arguments, nb::object& held) const {
  bool has_keywords = kwargs && PyDict_Size(kwargs) > 0;
  size_t count = static_cast<size_t>(PyTuple_Size(args));
  const std::vector<std::string>& names = definition().argument_names;
  if (!options.prepare_always && !has_keywords && count == names.size()) {
    held = nb::borrow(args);
    FewOf<PyObject*> list(count);
    for (size_t i = 0; i < count; ++i) list[i] = PyTuple_GetItem(args, static_cast<Py_ssize_t>(i));
    Found found = arguments.look_at(list.data(), count);
    if (found != Found::needs_prepare) return found;
    if (options.prepare.is_none()) arguments.refuse();
  } else if (options.prepare.is_none()) {
    if (has_keywords) fail(calling_line(), "kernel {} takes no keyword arguments", definition().name);
    detail::check_argument_count(definition(), names.size(), count);
  }
  nb::object keywords = kwargs ? nb::borrow(kwargs) : nb::object(nb::dict());
  held = nb::tuple(options.prepare(nb::handle(args), keywords));
  std::vector<PyObject*> objects;
  for (nb::handle each : held) objects.push_back(each.ptr());
  Found found = arguments.look_at(objects.data(), objects.size());
  if (found == Found::needs_prepare) arguments.refuse();
  return found;
}

nb::object Kernel::call(PyObject* args, PyObject* kwargs) {
  if (detail::is_recording())
    fail(calling_line(), "kernel {} is called while another one is recorded", definition().name);
  CallArguments arguments(definition(), options.constants);
  nb::object objects;
  Found found = look_at(args, kwargs, arguments, objects);
  if (found != Found::all_simple) {
    nb::object keywords = kwargs ? nb::borrow(kwargs) : nb::object(nb::dict());
    if (found == Found::dispatched) {
      if (dispatched.is_none())
        fail(calling_line(), "kernel {} is called with a tensor that has no memory, as inside of torch.compile",
             definition().name);
      return dispatched(nb::handle(args), keywords);
    }
    if (autograd.is_none()) arguments.refuse_grad();
    return autograd(nb::handle(args), keywords);
  }
  if (!runs_on_gpu(arguments.device())) follow_torch_threads();
  std::shared_ptr<Specialised> entry = find(arguments);
  if (!entry->is_compiled()) compile(*entry, arguments);
  LaunchArguments launch{arguments, objects.ptr()};
  if (entry->stores_to_arguments) check_stores(*entry, launch);
  return entry->cpu ? launch_on_cpu(entry, launch) : launch_on_gpu(entry, launch);
}

//===----------------------------------------------------------------------===//
// Specialisations
//===----------------------------------------------------------------------===//

std::shared_ptr<Specialised> Kernel::find(const CallArguments& arguments) {
  std::string_view key = arguments.key().text();
  if (last_ && last_epoch_ == shared_->epoch && last_key_ == key) return last_;
  std::string full(key);
  full += settings_key_;
  std::shared_ptr<Specialised>& entry = shared_->specialised[full];
  if (!entry) entry = std::make_shared<Specialised>();
  last_key_ = key;
  last_ = entry;
  last_epoch_ = shared_->epoch;
  return entry;
}

static thread_local DeviceIndex device_of_recording;

std::string recording_device() {
  if (device_of_recording.kind == DeviceIndex::kCpu) return "cpu";
  return "cuda:" + std::to_string(device_of_recording.index);
}

Recorded Kernel::record(const CompilerArguments& arguments, std::span<const CallArgument> given,
                        detail::Recording& recording) const {
  device_of_recording = {};
  for (const CallArgument& each : given)
    if (each.kind == CallArgument::Kind::tensor) device_of_recording = each.tensor.device;
  nb::list parameters;
  forget_strides();
  for (size_t i = 0; i < given.size(); ++i) {
    switch (given[i].kind) {
    case CallArgument::Kind::tensor: {
      Tensor parameter = detail::tensor_parameter(recording, i);
      note_strides(parameter, {given[i].tensor.strides, static_cast<size_t>(given[i].tensor.rank)});
      parameters.append(nb::cast(parameter));
      break;
    }
    case CallArgument::Kind::number:
      parameters.append(nb::cast(DeviceValue(detail::number_parameter(recording, i))));
      break;
    case CallArgument::Kind::constant: {
      nb::object value = arguments.object(i);
      parameters.append(nb::isinstance<Constant>(value) ? nb::cast<const Constant&>(value).value : value);
      break;
    }
    }
  }
  nb::object result = options.record(parameters);
  if (!nb::isinstance<Recorded>(result))
    fail(definition().location, "the record callback of kernel {} gives back a {}, no Recorded", definition().name,
         class_name(result));
  Recorded recorded = nb::cast<const Recorded&>(result);
  detail::set_results(recording, recorded.results.data(), recorded.results.size());
  return recorded;
}

// Once it is compiled.
static void plan_allocations(Specialised& entry, DeviceIndex device) {
  const Specialisation& specialisation = entry.specialisation();
  for (const HostPlan::Allocation& planned : specialisation.host.allocations)
    entry.allocations.push_back({false, NewTensor(planned.sizes_for({}), planned.dtype, device)});
  for (const HostPlan::Returned& returned : specialisation.host.returned)
    if (returned.kind == HostPlan::Returned::Kind::Allocation) entry.allocations[returned.index].is_returned = true;
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    entry.stores_to_arguments |= parameter.is_written;
}

void Kernel::compile(Specialised& entry, const CallArguments& arguments) {
  SourceLocation location = calling_line();
  CompilerArguments given(arguments.list(), location);
  struct Callback {
    const Kernel& kernel;
    const CompilerArguments& arguments;
    std::span<const CallArgument> given;
    mutable std::map<uint32_t, Recorded> recorded; // one for each recording: it may be recorded for several configs
  } callback{*this, given, arguments.list(), {}};
  detail::Call call{given.list(),
                    [](const void* opaque, std::span<const detail::Argument>, detail::Recording& recording) {
                      const auto& self = *static_cast<const Callback*>(opaque);
                      nb::gil_scoped_acquire lock;
                      self.recorded[detail::recording_id(recording)] =
                          self.kernel.record(self.arguments, self.given, recording);
                    },
                    &callback,
                    0,
                    &settings_,
                    location};

  bool on_gpu = runs_on_gpu(arguments.device());
  if (on_gpu) make_for(arguments.device());
  TritonSearch search;
  if (on_gpu && can_tune_now(arguments.device()))
    search = [&](const Specialisation& specialisation, const TuneRequest& request) {
      nb::gil_scoped_acquire lock;
      nb::list list;
      for (const Specialisation::Parameter& parameter : specialisation.parameters)
        list.append(given.object(parameter.argument));
      return tune_on_gpu(specialisation, list, request).best;
    };
  nb::gil_scoped_release release;
  std::unique_lock making(entry.making); // whoever comes second finds it compiled
  {
    nb::gil_scoped_acquire lock;
    if (entry.is_compiled()) return;
  }
  std::shared_ptr<const CompiledCall> cpu;
  std::shared_ptr<const TritonCall> gpu;
  if (on_gpu)
    gpu = write_triton_call(definition(), call, search);
  else
    cpu = compile_call(definition(), call);

  nb::gil_scoped_acquire lock;
  if (on_gpu)
    entry.program =
        nb::module_::import_("tilewright.triton_program").attr("TritonProgram")(gpu->source, definition().name);
  entry.cpu = std::move(cpu);
  entry.gpu = std::move(gpu);
  const Recorded& recorded = callback.recorded.at(entry.specialisation().recording);
  entry.finish = recorded.finish;
  entry.function = recorded.function;
  plan_allocations(entry, arguments.device());
}

} // namespace tilewright::python
