// What one launch does, and how near to the machine's limit it comes.
#pragma once

#include "runtime/machine_limits.h"
#include "tilewright/registry.h"

#include <span>

namespace tilewright {

struct Work {
  double flops = 0;
  double bytes = 0;

  double gflops(double microseconds) const { return flops / microseconds * 1e-3; }
  double gbps(double microseconds) const { return bytes / microseconds * 1e-3; }
};

/// As registered; by default no operations, and the bytes of all arguments and results.
Work work_of(const RegisteredKernel& kernel, const Instance& instance, std::span<const AnyArgument> arguments,
             std::span<const Array> results);

enum class Bound { arithmetic, memory };

struct LimitFraction {
  Bound bound; // what the work is limited by
  double fraction = 0;
};

/// By arithmetic where there are more operations per byte than the machine can do (the roofline: Williams, Waterman and
/// Patterson, 2009), else by copying. The peak is float64's for `dtype` float64, else float32's.
Bound bound_of(const Work& work, DType dtype, const MachineLimits& limits);

/// What only this limit bounds, and the part of `work` that it stands for: operations over operations, or bytes over
/// bytes.
struct Limit {
  LimitWork work;
  double share = 0;
};
Limit limit_for(const Work& work, Bound bound, DType dtype);

} // namespace tilewright
