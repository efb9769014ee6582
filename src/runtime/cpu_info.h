// What this machine's CPU is, as the system and the CPU itself tell. Where something is not told it is 0 or empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

struct CpuCache {
  int level = 0;
  int64_t bytes = 0;
  int64_t line_bytes = 0;
  int sharing_cpus = 0; // CPUs that share one such cache
};

struct CpuInfo {
  std::string model;    // "AMD EPYC 9654 96-Core Processor"
  int logical_cpus = 0; // online, whether or not this process may run on them
  int physical_cores = 0;
  std::vector<CpuCache> caches; // data and unified ones, by level

  // Those vector extensions that kernels are compiled for, as LLVM names them: "avx2", "fma", "avx512f".
  std::vector<std::string> vector_features;

  // The largest cache of the highest level, or 0.
  int64_t last_cache_bytes() const;
};

// Read once.
const CpuInfo& cpu_info();

} // namespace tilewright
