// What the launches on all devices share, and the CPU's.
#include "python/core/specialised.h"

#include "support/error.h"

namespace tilewright::python {

void check_stores(const Specialised& entry, const LaunchArguments& arguments) {
  const Specialisation& specialisation = entry.specialisation();
  std::vector<Array> arrays;
  for (const Specialisation::Parameter& parameter : specialisation.parameters)
    arrays.push_back(parameter.is_array ? array_of(arguments.of(parameter).tensor, {}, specialisation.location)
                                        : Array());
  try {
    check_stored_arguments(specialisation, {}, arrays);
  } catch (const Error&) { // again, now that it is worth looking for the line
    check_stored_arguments(specialisation, calling_line(), arrays);
  }
}

nb::object finish_call(const Specialised& entry, const LaunchArguments& arguments, const FewOf<nb::object>& made) {
  const Specialisation& specialisation = entry.specialisation();
  const std::vector<HostPlan::Returned>& returned = specialisation.host.returned;
  auto result = [&](const HostPlan::Returned& each) -> nb::object {
    if (each.kind == HostPlan::Returned::Kind::Allocation) return made.data()[each.index];
    return nb::borrow(arguments.of(specialisation.parameters[each.index]).object);
  };
  switch (entry.finish) {
  case Recorded::Finish::none: return nb::none();
  case Recorded::Finish::one: return result(returned[0]);
  case Recorded::Finish::tuple:
  case Recorded::Finish::call: break;
  }
  nb::list list;
  for (const HostPlan::Returned& each : returned) list.append(result(each));
  if (entry.finish == Recorded::Finish::tuple) return nb::tuple(list);
  return entry.function(list, nb::handle(arguments.objects));
}

nb::object launch_on_cpu(const std::shared_ptr<Specialised>& entry, const LaunchArguments& arguments) {
  const CompiledCall& compiled = *entry->cpu;
  const Specialisation& specialisation = compiled.specialisation;
  FewOf<void*> pointers(specialisation.parameters.size() + entry->allocations.size());
  size_t next = 0;
  for (const Specialisation::Parameter& parameter : specialisation.parameters) {
    const CallArgument& argument = arguments.of(parameter);
    pointers[next++] = parameter.is_array ? argument.tensor.data : const_cast<uint64_t*>(&argument.number);
  }
  FewOf<nb::object> made(entry->allocations.size());
  std::vector<Array> scratch;
  std::vector<std::pair<Array, Number>> fills;
  const Torch& torch = Torch::get();
  for (size_t i = 0; i < entry->allocations.size(); ++i) {
    const Specialised::Allocation& allocation = entry->allocations[i];
    const HostPlan::Allocation& planned = specialisation.host.allocations[i];
    if (!allocation.is_returned) {
      scratch.push_back(Array::empty(IndexList(planned.sizes_for({})), planned.dtype, specialisation.location));
      if (planned.fill) fills.emplace_back(scratch.back(), *planned.fill);
      pointers[next++] = scratch.back().data();
      continue;
    }
    NewTensor::Made tensor = allocation.as_tensor.make();
    made[i] = std::move(tensor.tensor);
    if (planned.fill) {
      TensorView view;
      torch.view(made[i].ptr(), view);
      fills.emplace_back(array_of(view, {}, specialisation.location), *planned.fill);
    }
    pointers[next++] = tensor.data;
  }
  {
    nb::gil_scoped_release release;
    for (const auto& [array, number] : fills) array.fill(number);
    launch(compiled.plan, pointers.data());
  }
  return finish_call(*entry, arguments, made);
}

} // namespace tilewright::python
