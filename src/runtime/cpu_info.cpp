#include "runtime/cpu_info.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tilewright {

namespace {

const std::filesystem::path kCpuFolder = "/sys/devices/system/cpu";

// The first line of a file of /sys, or nothing.
std::string read_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int64_t read_number(const std::filesystem::path& path) { return std::atoll(read_line(path).c_str()); }

// "48K" or "2048K" or "32M".
int64_t read_byte_size(const std::filesystem::path& path) {
  std::string text = read_line(path);
  int64_t number = std::atoll(text.c_str());
  if (text.ends_with('K')) return number << 10;
  if (text.ends_with('M')) return number << 20;
  return number;
}

// The number of CPUs in a list such as "0-3,8-11".
int count_cpus(const std::string& list) {
  int count = 0;
  for (const char* at = list.c_str(); *at;) {
    char* end;
    long first = std::strtol(at, &end, 10);
    if (end == at) break;
    long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    count += int(last - first + 1);
    at = *end == ',' ? end + 1 : end;
  }
  return count;
}

std::string read_model() {
#if defined(__x86_64__)
  // The brand string: 48 characters in three leaves.
  unsigned registers[12] = {};
  if (__get_cpuid_max(0x80000000, nullptr) >= 0x80000004) {
    for (unsigned i = 0; i < 3; ++i)
      __get_cpuid(0x80000002 + i, &registers[4 * i], &registers[4 * i + 1], &registers[4 * i + 2],
                  &registers[4 * i + 3]);
    std::string model(reinterpret_cast<const char*>(registers), sizeof registers);
    model.resize(std::strlen(model.c_str()));
    model.erase(0, std::min(model.find_first_not_of(' '), model.size()));
    model.erase(model.find_last_not_of(' ') + 1);
    if (!model.empty()) return model;
  }
#endif
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") || line.starts_with("Model"))
      if (size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return {};
}

std::vector<CpuCache> read_caches() {
  std::vector<CpuCache> caches;
  for (int i = 0;; ++i) {
    auto folder = kCpuFolder / "cpu0" / "cache" / ("index" + std::to_string(i));
    std::string type = read_line(folder / "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    caches.push_back({int(read_number(folder / "level")), read_byte_size(folder / "size"),
                      read_number(folder / "coherency_line_size"), count_cpus(read_line(folder / "shared_cpu_list"))});
  }
  std::sort(caches.begin(), caches.end(), [](const CpuCache& a, const CpuCache& b) { return a.level < b.level; });
  return caches;
}

// Hardware threads of one core name the same siblings.
int count_cores(int logical_cpus) {
  std::set<std::string> cores;
  for (int cpu = 0; cpu < logical_cpus; ++cpu) {
    std::string siblings = read_line(kCpuFolder / ("cpu" + std::to_string(cpu)) / "topology" / "thread_siblings_list");
    if (!siblings.empty()) cores.insert(siblings);
  }
  return cores.empty() ? logical_cpus : int(cores.size());
}

std::vector<std::string> read_vector_features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define TILEWRIGHT_FEATURE(name)                                                                                       \
  if (__builtin_cpu_supports(name)) features.push_back(name);
  TILEWRIGHT_FEATURE("sse4.2")
  TILEWRIGHT_FEATURE("avx")
  TILEWRIGHT_FEATURE("avx2")
  TILEWRIGHT_FEATURE("fma")
  TILEWRIGHT_FEATURE("f16c")
  TILEWRIGHT_FEATURE("avx512f")
  TILEWRIGHT_FEATURE("avx512bw")
  TILEWRIGHT_FEATURE("avx512dq")
  TILEWRIGHT_FEATURE("avx512vl")
  TILEWRIGHT_FEATURE("avx512bf16")
#undef TILEWRIGHT_FEATURE
#endif
  return features;
}

} // namespace

int64_t CpuInfo::last_cache_bytes() const { return caches.empty() ? 0 : caches.back().bytes; }

const CpuInfo& cpu_info() {
  static const CpuInfo info = [] {
    CpuInfo result;
    result.model = read_model();
    result.logical_cpus = int(sysconf(_SC_NPROCESSORS_ONLN));
    result.physical_cores = count_cores(result.logical_cpus);
    result.caches = read_caches();
    result.vector_features = read_vector_features();
    return result;
  }();
  return info;
}

} // namespace tilewright
