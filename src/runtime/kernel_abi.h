// The binary interface between the runtime and compiled CPU kernels, in this process or in a package. Compiled code has
// no undefined symbol: all it may call is in the RuntimeTable that it is given.
#pragma once

#include "runtime/device_print.h"
#include "runtime/sort_lanes.h"
#include "tilewright/dtype.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewright {

// Scalar math, for what kernels do not compute by vector code of their own. The functions of one argument come first.
enum class RuntimeFunction : int32_t {
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  erf,
  erfc,
  cbrt,
  erfinv,
  lgamma,
  pow,
  atan2,
  fmod,
};

inline constexpr int kUnaryRuntimeFunctions = static_cast<int>(RuntimeFunction::pow);
inline constexpr int kBinaryRuntimeFunctions = static_cast<int>(RuntimeFunction::fmod) + 1 - kUnaryRuntimeFunctions;

constexpr bool is_binary(RuntimeFunction function) { return function >= RuntimeFunction::pow; }

// As in <cmath>: "log1p"; erfinv, which it has not, is PyTorch's name.
std::string_view name(RuntimeFunction function);

// Function pointers alone, in the order of RuntimeFunction, so that code finds one by runtime_table_offset(). The order
// is part of the interface: packages hold code compiled against it, so new functions go to new fields at the end.
struct RuntimeTable {
  float (*unary_float32[kUnaryRuntimeFunctions])(float);
  double (*unary_float64[kUnaryRuntimeFunctions])(double);
  float (*binary_float32[kBinaryRuntimeFunctions])(float, float);
  double (*binary_float64[kBinaryRuntimeFunctions])(double, double);
  decltype(&print_from_device) print;
  // sort_lanes() of float32, float64, int32 and int64.
  decltype(&sort_lanes<float>) sort[4];
};

// Where in the table the pointer to the function for `dtype` (float32 or float64) is, in bytes.
constexpr size_t runtime_table_offset(RuntimeFunction function, DType dtype) {
  size_t index = static_cast<size_t>(function);
  bool wide = dtype == DType::float64;
  if (is_binary(function)) {
    size_t base = wide ? offsetof(RuntimeTable, binary_float64) : offsetof(RuntimeTable, binary_float32);
    return base + (index - kUnaryRuntimeFunctions) * sizeof(void*);
  }
  return (wide ? offsetof(RuntimeTable, unary_float64) : offsetof(RuntimeTable, unary_float32)) + index * sizeof(void*);
}

// This process's table. Errors are below 1 unit in the last place.
const RuntimeTable& runtime_table();

// A compiled kernel: runs the programs [program_begin, program_end).
//   arguments     for each argument of the program, the address of an array's first element, or of an 8-byte slot that
//                 holds a run-time number
//   worker_count  how many programs the launch has, for kernels whose programs are persistent and share the tiles out
//   scratch       memory of this call alone, aligned to 64 bytes, as large as the plan says
using CpuKernelFunction = void (*)(void* const* arguments, int64_t program_begin, int64_t program_end,
                                   int64_t worker_count, void* scratch, const RuntimeTable* table);

} // namespace tilewright
