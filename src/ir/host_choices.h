// What a kernel's host part asked of the config while it was recorded, as the kernel's attributes say it:
//
//   blocks = [{block = 0 : i64, extent = #tile.dim<s0>, min = 16 : i64, max = 256 : i64, value = 64 : i64}]
//   tunables = [{name = "split", choices = array<i64: 1, 2, 4>, value = 2 : i64}]
//
// A value stands where the host part computed with it: the recording, and all that is made of it, holds for configs
// that give the same value. Where a registered block size has none, only the device knows it, and any config will do.
#pragma once

#include "ir/tile_dialect.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilewright {

/// A block size that the user registered.
struct RegisteredBlock {
  uint32_t block;                    // its id
  std::optional<Dim> extent = {};    // what it is said to walk
  int64_t min = 1;                   // a power of two
  std::optional<int64_t> max = {};   // of what a search proposes
  std::optional<int64_t> value = {}; // that the recording holds for
};

struct Tunable {
  std::string name;
  llvm::SmallVector<int64_t> choices; // the first is the default
  int64_t value;                      // that the recording holds for
};

struct HostChoices {
  llvm::SmallVector<RegisteredBlock> blocks; // in order of their ids
  llvm::SmallVector<Tunable> tunables;
  bool empty() const { return blocks.empty() && tunables.empty(); }
};

HostChoices host_choices(KernelOp kernel);
void set_host_choices(KernelOp kernel, const HostChoices& choices);

/// Whether the attributes are such that host_choices() can read them; part of the kernel's verifier.
mlir::LogicalResult verify_host_choices(KernelOp kernel);

} // namespace tilewright
