// Launches on a GPU: the first through Triton's own launcher, later ones by the driver's call where there is a plan.
#include "python/core/gpu_launch.h"
#include "python/core/specialised.h"

#include "support/error.h"

namespace tilewright::python {

// Tensors and run-time numbers, as the written launcher takes them.
static nb::list launcher_arguments(const Specialisation& specialisation, const LaunchArguments& arguments) {
  nb::list list;
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    list.append(nb::handle(arguments.of(parameter).object));
  return list;
}

static bool has_numbers(const Specialisation& specialisation) {
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    if (!parameter.is_array) return true;
  return false;
}

// What the written launcher gave back, by the allocations that it made.
static FewOf<nb::object> made_by_launcher(const Specialised& entry, nb::handle results) {
  FewOf<nb::object> made(entry.allocations.size());
  const std::vector<HostPlan::Returned>& returned = entry.specialisation().host.returned;
  for (size_t i = 0; i < returned.size(); ++i)
    if (returned[i].kind == HostPlan::Returned::Kind::Allocation) made[returned[i].index] = results[i];
  return made;
}

static nb::object python_number(const Number& number) {
  return number.is_integer() ? nb::object(nb::int_(number.integer())) : nb::object(nb::float_(number.real()));
}

static nb::object launch_by_plan(const Specialised& entry, const GpuPlan& plan, const LaunchArguments& arguments) {
  const Specialisation& specialisation = entry.specialisation();
  const Torch& torch = Torch::get();
  FewOf<void*> pointers(specialisation.parameters.size() + entry.allocations.size());
  size_t next = 0;
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    pointers[next++] = arguments.of(parameter).tensor.data;
  FewOf<nb::object> made(entry.allocations.size());
  TensorView view;
  for (size_t i = 0; i < entry.allocations.size(); ++i) {
    const Specialised::Allocation& allocation = entry.allocations[i];
    made[i] = torch.empty(allocation.sizes.ptr(), allocation.dtype.ptr(), entry.device.ptr());
    torch.view(made[i].ptr(), view);
    pointers[next++] = view.data;
    if (const std::optional<Number>& fill = specialisation.host.allocations[i].fill)
      made[i].attr("fill_")(python_number(*fill));
  }
  // PyTorch's allocator hands this memory on in the order of the stream, so that it may be let go of at once.
  std::vector<nb::object> kept;
  std::vector<void*> scratch;
  for (const GpuLaunch& launch : plan.launches) {
    if (launch.scratch_bytes == 0) continue;
    nb::object sizes = nb::make_tuple(launch.scratch_bytes);
    kept.push_back(torch.empty(sizes.ptr(), torch.dtype(int8).ptr(), entry.device.ptr()));
    torch.view(kept.back().ptr(), view);
    scratch.push_back(view.data);
  }
  void* stream = torch.current_cuda_stream(plan.device);
  {
    nb::gil_scoped_release release; // a full queue makes the driver wait
    plan.run(pointers.data(), scratch.data(), stream);
  }
  return finish_call(entry, arguments, made);
}

nb::object launch_on_gpu(const std::shared_ptr<Specialised>& entry, const LaunchArguments& arguments) {
  const Specialisation& specialisation = entry->specialisation();
  int device = arguments.arguments.device().index;
  bool has_plan = entry->plan.is_valid() && !entry->plan.is_none();
  if (has_plan && Torch::get().current_cuda_device() == device)
    return launch_by_plan(*entry, nb::cast<const GpuPlan&>(entry->plan), arguments);

  nb::list given = launcher_arguments(specialisation, arguments);
  if (!entry->plan.is_valid() && !has_numbers(specialisation)) {
    nb::tuple both = nb::tuple(entry->program.attr("run_first")(given, device));
    entry->plan = both[1];
    return finish_call(*entry, arguments, made_by_launcher(*entry, both[0]));
  }
  nb::object results = entry->program.attr("run")(given);
  return finish_call(*entry, arguments, made_by_launcher(*entry, results));
}

} // namespace tilewright::python
