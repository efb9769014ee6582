#include "python/core/kernel.h"

#include "python/core/operands.h"

#include "frontend/dsl_dynamic.h"
#include "support/error.h"
#include "tilewright/device.h"

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

Kernel::Kernel(KernelDefinition definition, Options options, Settings settings)
    : options(std::move(options)), autograd(nb::none()), dispatched(nb::none()), shared_(std::make_shared<Shared>()),
      settings_(std::move(settings)), settings_key_(key_of(settings_)) {
  shared_->definition = std::move(definition);
}

Kernel Kernel::with(Settings settings) const {
  Kernel other = *this;
  other.settings_ = std::move(settings);
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
  if (arguments.device().kind != DeviceIndex::kCpu)
    fail(calling_line(),
         "kernel {} is called with tensors on a GPU, where kernels do not run yet; pass them with .cpu()",
         definition().name);
  follow_torch_threads();
  std::shared_ptr<Specialised> entry = find(arguments);
  if (!entry->compiled) compile(*entry, arguments);
  return launch_and_finish(*entry, arguments, objects.ptr());
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

Recorded Kernel::record(const CompilerArguments& arguments, std::span<const CallArgument> given,
                        detail::Recording& recording) const {
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

static void plan_allocations(Specialised& entry) {
  const Specialisation& specialisation = entry.compiled->specialisation;
  const Torch& torch = Torch::get();
  entry.device = torch.cpu();
  for (const HostPlan::Allocation& planned : specialisation.host.allocations) {
    nb::list sizes;
    for (int64_t size : planned.sizes) sizes.append(size);
    entry.allocations.push_back({false, nb::tuple(sizes), torch.dtype(planned.dtype)});
  }
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
    mutable Recorded recorded;
  } callback{*this, given, arguments.list(), {}};
  detail::Call call{given.list(),
                    [](const void* opaque, std::span<const detail::Argument>, detail::Recording& recording) {
                      const auto& self = *static_cast<const Callback*>(opaque);
                      nb::gil_scoped_acquire lock;
                      self.recorded = self.kernel.record(self.arguments, self.given, recording);
                    },
                    &callback,
                    0,
                    &settings_,
                    location};

  std::shared_ptr<const CompiledCall> compiled;
  {
    nb::gil_scoped_release release;
    std::unique_lock making(entry.making); // whoever comes second finds it compiled
    {
      nb::gil_scoped_acquire lock;
      if (entry.compiled) return;
    }
    compiled = compile_call(definition(), call);
    nb::gil_scoped_acquire lock;
    entry.compiled = std::move(compiled);
    entry.finish = callback.recorded.finish;
    entry.function = callback.recorded.function;
    plan_allocations(entry);
  }
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static void check_stores(const CompiledCall& compiled, std::span<const CallArgument> arguments) {
  const Specialisation& specialisation = compiled.specialisation;
  std::vector<Array> arrays;
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    arrays.push_back(parameter.is_array ? array_of(arguments[parameter.argument].tensor, {}, specialisation.location)
                                        : Array());
  try {
    check_stored_arguments(specialisation, {}, arrays);
  } catch (const Error&) { // again, now that it is worth looking for the line
    check_stored_arguments(specialisation, calling_line(), arrays);
  }
}

nb::object Kernel::launch_and_finish(Specialised& entry, const CallArguments& arguments, PyObject* objects) {
  const CompiledCall& compiled = *entry.compiled;
  const Specialisation& specialisation = compiled.specialisation;
  std::span<const CallArgument> given = arguments.list();
  if (entry.stores_to_arguments) check_stores(compiled, given);

  FewOf<void*> pointers(specialisation.parameters.size() + entry.allocations.size());
  size_t next = 0;
  for (const Specialisation::Parameter& parameter : specialisation.parameters) {
    const CallArgument& argument = given[parameter.argument];
    pointers[next++] = parameter.is_array ? argument.tensor.data : const_cast<uint64_t*>(&argument.number);
  }
  FewOf<nb::object> made(entry.allocations.size());
  std::vector<Array> scratch;
  const Torch& torch = Torch::get();
  for (size_t i = 0; i < entry.allocations.size(); ++i) {
    const Specialised::Allocation& allocation = entry.allocations[i];
    const HostPlan::Allocation& planned = specialisation.host.allocations[i];
    if (!allocation.is_returned) {
      scratch.push_back(Array::empty(IndexList(planned.sizes), planned.dtype, specialisation.location));
      if (planned.fill) scratch.back().fill(*planned.fill);
      pointers[next++] = scratch.back().data();
      continue;
    }
    made[i] = torch.empty(allocation.sizes.ptr(), allocation.dtype.ptr(), entry.device.ptr());
    TensorView view;
    torch.view(made[i].ptr(), view);
    if (planned.fill) array_of(view, {}, specialisation.location).fill(*planned.fill);
    pointers[next++] = view.data;
  }

  {
    std::shared_ptr<const CompiledCall> kept = entry.compiled; // should the kernel be reset meanwhile
    nb::gil_scoped_release release;
    launch(kept->plan, pointers.data());
  }

  auto result = [&](const HostPlan::Returned& returned) -> nb::object {
    if (returned.kind == HostPlan::Returned::Kind::Allocation) return made[returned.index];
    return nb::borrow(given[specialisation.parameters[returned.index].argument].object);
  };
  const std::vector<HostPlan::Returned>& returned = specialisation.host.returned;
  switch (entry.finish) {
  case Recorded::Finish::none: return nb::none();
  case Recorded::Finish::one: return result(returned[0]);
  case Recorded::Finish::tuple:
  case Recorded::Finish::call: break;
  }
  nb::list list;
  for (const HostPlan::Returned& each : returned) list.append(result(each));
  if (entry.finish == Recorded::Finish::tuple) return nb::tuple(list);
  return entry.function(list, nb::handle(objects));
}

} // namespace tilewright::python
