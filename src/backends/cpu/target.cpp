#include "backends/cpu/target.h"

#include "runtime/cpu_info.h"
#include "support/error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>
#include <vector>

namespace tilewright::cpu {
namespace {

using Features = llvm::StringMap<bool>;

// Sorted, so that two processes on one machine agree on a target's identity.
std::string feature_string(const Features& features) {
  std::vector<std::string> parts;
  for (const auto& feature : features) {
    std::string part(1, feature.second ? '+' : '-');
    parts.push_back(part.append(feature.first()));
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.substr(1) < b.substr(1); });
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ",") + part;
  return joined;
}

// As the kernel tells it. (The C library's sysconf counts the last cache of a whole server, of which a virtual machine
// sees a slice.) Where nothing is told, sizes that no present machine is below.
void set_caches(CpuTarget& target) {
  auto bytes = [](int level, int64_t fallback) {
    for (const CpuCache& cache : cpu_info().caches)
      if (cache.level == level) return cache.bytes;
    return fallback;
  };
  target.l1_bytes = bytes(1, 32 << 10);
  target.l2_bytes = bytes(2, 512 << 10);
  target.l3_bytes = bytes(3, 0);
}

void set_vector_unit(CpuTarget& target, const Features& features) {
  auto has = [&](llvm::StringRef name) { return features.lookup(name); };
  bool x86 = llvm::Triple(target.triple).isX86();
  bool avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  target.vector_bits = avx512 ? 512 : has("avx2") ? 256 : 128;
  target.vector_registers = avx512 || !x86 ? 32 : 16;
  target.has_fma = has("fma") || !x86;
  target.has_scaling = avx512;
  target.has_float16_conversion = has("f16c") || !x86;
  target.has_masked_access = avx512;
}

} // namespace

RegisterTile CpuTarget::dot_tile() const {
  // Enough accumulators to hide the latency of a fused multiply-add on two units, within the registers, more products
  // than loads, and powers of two where there are registers to choose from: a block that must be padded loses what it
  // pads.
  if (chosen_dot_tile) return *chosen_dot_tile;
  if (vector_registers >= 32) return vector_bits >= 512 ? RegisterTile{8, 2} : RegisterTile{4, 4};
  return RegisterTile{6, 2};
}

std::vector<RegisterTile> CpuTarget::dot_tiles() const {
  // Accumulators, a vector of columns for each of them, and one broadcast value.
  if (vector_registers >= 32) return {{4, 4}, {8, 2}, {8, 3}, {6, 4}, {12, 2}};
  return {{4, 2}, {6, 2}, {4, 3}, {12, 1}};
}

std::vector<int> CpuTarget::vector_widths() const {
  if (vector_bits >= 512) return {256, 512}; // wide vectors may lower the clock
  return {vector_bits};
}

const CpuTarget& host_target() {
  static const CpuTarget host = [] {
    CpuTarget target;
    target.triple = llvm::sys::getProcessTriple();
    target.cpu = llvm::sys::getHostCPUName().str();
    Features features = llvm::sys::getHostCPUFeatures();
    target.features = feature_string(features);
    set_vector_unit(target, features);
    set_caches(target);
    return target;
  }();
  return host;
}

CpuTarget target_for_level(const std::string& level) {
  if (level != "x86-64-v3" && level != "x86-64-v4")
    fail("unknown CPU feature level \"{}\": x86-64-v3 and x86-64-v4 are known", level);
  CpuTarget target;
  target.triple =
      llvm::Triple(llvm::sys::getProcessTriple()).isX86() ? llvm::sys::getProcessTriple() : "x86_64-unknown-linux-gnu";
  target.cpu = level;
  llvm::SmallVector<llvm::StringRef> enabled;
  llvm::X86::getFeaturesForCPU(level, enabled);
  Features features;
  for (llvm::StringRef name : enabled) {
    features[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, features);
  }
  target.features = feature_string(features);
  set_vector_unit(target, features);
  set_caches(target);
  return target;
}

} // namespace tilewright::cpu
