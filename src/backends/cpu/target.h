// The CPU that code is made for: what LLVM must be told, and what lowering decides upon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::cpu {

// The block of accumulators a dot keeps in registers: `rows` broadcast operands times `vectors` native vectors.
struct RegisterTile {
  int rows;
  int vectors;
};

struct CpuTarget {
  std::string triple;
  std::string cpu;      // LLVM's name, "znver4"
  std::string features; // LLVM's form, "+avx2,-avx512f"

  int vector_bits;      // the widest native vector worth using
  int vector_registers; // how many of that width
  bool has_fma;
  bool has_scaling;            // x 2^n in one instruction, correct at the ends of the range (AVX-512)
  bool has_float16_conversion; // float32 <-> float16 in one instruction
  bool has_masked_access;      // masked vector loads and stores of every element width cost about as much as plain ones

  // Data caches. l3_bytes is the whole shared one, 0 where there is none.
  int64_t l1_bytes;
  int64_t l2_bytes;
  int64_t l3_bytes;
  int64_t last_cache_bytes() const { return l3_bytes > 0 ? l3_bytes : l2_bytes; }

  // Lanes of a native vector.
  int lanes(int element_bits) const { return vector_bits / element_bits; }

  // The register tile of a dot, in native vectors of the accumulator's dtype: the chosen one, or else one that is good
  // on such a CPU. docs/loops-prototype.md has the measurements behind it.
  RegisterTile dot_tile() const;
  std::optional<RegisterTile> chosen_dot_tile = std::nullopt;
  // Those worth trying, which fit the registers. Whoever packs for one has room for all of them.
  std::vector<RegisterTile> dot_tiles() const;
  // Widths of vectors worth trying, in bits, smaller ones first.
  std::vector<int> vector_widths() const;

  // What compiled code depends on but for the chosen tile, as one line for keys and logs.
  std::string identity() const { return triple + " " + cpu + " " + features + " " + std::to_string(vector_bits); }
};

// The machine this process runs on, asked once.
const CpuTarget& host_target();

// An x86-64 feature level, "x86-64-v3" (AVX2) or "x86-64-v4" (AVX-512), with the host's cache sizes. Throws Error on
// any other name.
CpuTarget target_for_level(const std::string& level);

} // namespace tilewright::cpu
