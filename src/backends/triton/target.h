// The GPU that a kernel is made for, as far as what is made depends on it.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright::triton {

/// By default one of compute capability 9.0 with 132 multiprocessors (NVIDIA H100 and H200): for text that is made
/// where no GPU is.
struct GpuTarget {
  std::string name = "sm_90";  // of the product: what is found by tuning holds for it
  int compute_capability = 90; // 10 * major + minor
  int64_t multiprocessors = 132;
  int64_t shared_memory_bytes = 227 << 10; // that a program may have
  int64_t registers = 65536;               // of 32 bits, of a multiprocessor
};

} // namespace tilewright::triton
