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
  FewOf<void*> pointers(specialisation.parameters.size() + entry.allocations.size());
  size_t next = 0;
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    pointers[next++] = arguments.of(parameter).tensor.data;
  FewOf<nb::object> made(entry.allocations.size());
  for (size_t i = 0; i < entry.allocations.size(); ++i) {
    NewTensor::Made tensor = entry.allocations[i].as_tensor.make();
    made[i] = std::move(tensor.tensor);
    pointers[next++] = tensor.data;
    if (const std::optional<Number>& fill = specialisation.host.allocations[i].fill)
      made[i].attr("fill_")(python_number(*fill));
  }
  // PyTorch's allocator hands this memory on in the order of the stream, so that it may be let go of at once.
  std::vector<nb::object> kept;
  std::vector<void*> scratch;
  for (const NewTensor& each : entry.scratch) {
    NewTensor::Made tensor = each.make();
    kept.push_back(std::move(tensor.tensor));
    scratch.push_back(tensor.data);
  }
  void* stream = current_stream(plan.device);
  {
    nb::gil_scoped_release release; // a full queue makes the driver wait
    plan.run(pointers.data(), scratch.data(), stream);
  }
  return finish_call(entry, arguments, made);
}

// The driver is asked, for it launches in the context that is this thread's: without one, the first launch is left to
// Triton, which makes it so.
static int current_device(const CudaDriver& driver) {
  return driver.knows_device() ? driver.current_device() : Torch::get().current_cuda_device();
}

static void keep_plan(Specialised& entry, const GpuPlan& plan) {
  entry.scratch.clear();
  for (const GpuLaunch& launch : plan.launches)
    if (launch.scratch_bytes > 0)
      entry.scratch.emplace_back(std::vector<int64_t>{static_cast<int64_t>(launch.scratch_bytes)}, int8,
                                 DeviceIndex{DeviceIndex::kCuda, plan.device});
  entry.gpu_plan = &plan;
}

nb::object launch_on_gpu(const std::shared_ptr<Specialised>& entry, const LaunchArguments& arguments) {
  const Specialisation& specialisation = entry->specialisation();
  int device = arguments.arguments.device().index;
  if (entry->gpu_plan && current_device(CudaDriver::get()) == device)
    return launch_by_plan(*entry, *entry->gpu_plan, arguments);

  nb::list given = launcher_arguments(specialisation, arguments);
  if (!entry->plan.is_valid() && !has_numbers(specialisation)) {
    nb::tuple both = nb::tuple(entry->program.attr("run_first")(given, device));
    entry->plan = both[1];
    if (!entry->plan.is_none()) keep_plan(*entry, nb::cast<const GpuPlan&>(entry->plan));
    return finish_call(*entry, arguments, made_by_launcher(*entry, both[0]));
  }
  nb::object results = entry->program.attr("run")(given);
  return finish_call(*entry, arguments, made_by_launcher(*entry, results));
}

} // namespace tilewright::python
