#include "driver/command_line/work.h"

namespace tilewright {

static double bytes_of(const Array& array) {
  return static_cast<double>(array.numel()) * static_cast<double>(size_in_bytes(array.dtype()));
}

Work work_of(const RegisteredKernel& kernel, const Instance& instance, std::span<const AnyArgument> arguments,
             std::span<const Array> results) {
  Work work;
  if (kernel.flops) work.flops = kernel.flops(instance);
  if (kernel.bytes) {
    work.bytes = kernel.bytes(instance);
    return work;
  }
  for (const AnyArgument& argument : arguments)
    if (argument.is_array()) work.bytes += bytes_of(argument.array());
  for (const Array& result : results) work.bytes += bytes_of(result);
  return work;
}

Bound bound_of(const Work& work, DType dtype, const MachineLimits& limits) {
  double peak_gflops = dtype == float64 ? limits.float64_gflops : limits.float32_gflops;
  return work.flops * limits.copy_gbps > work.bytes * peak_gflops ? Bound::arithmetic : Bound::memory;
}

Limit limit_for(const Work& work, Bound bound, DType dtype) {
  Limit limit;
  if (bound == Bound::memory)
    limit.work = copy_work();
  else
    limit.work = dtype == float64 ? float64_work() : float32_work();
  limit.share = (bound == Bound::memory ? work.bytes : work.flops) / limit.work.amount;
  return limit;
}

} // namespace tilewright
