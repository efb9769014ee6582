// What a config spec must know of the machine a kernel is compiled for, as plain numbers: so that this folder knows no
// backend, and tests can describe any machine.
#pragma once

#include "tilewright/config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// An option of one value that only the backend knows the meaning of: how many threads it runs on, say.
struct BackendOption {
  std::string name;
  std::string summary;
  std::vector<ConfigValue> choices = {}; // offered where there are two
  ConfigValue default_value = nullptr;
  bool ordered = false; // neighbours in the list can be expected to perform alike
  /// It decides something only where this option has one of these values; else nothing hangs on another one.
  std::string only_with = {};
  std::vector<ConfigValue> only_values = {};
  std::string only_why = {};
  /// Which kernels have it.
  enum class Kernels { All, WithDot, WithoutDot, WithLoop } kernels = Kernels::All;
};

struct BackendLimits {
  std::string backend; // as the user names it: "cpu"

  int64_t worker_count = 1; // threads of a CPU, multiprocessors of a GPU
  int64_t vector_lanes = 1; // float32 lanes of one native vector register

  int64_t l1_bytes = 0; // data caches; 0 where there is none or it is not known
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;

  // The float32 register tile of a dot, and the smallest block a dot takes in any of its dimensions.
  int64_t dot_tile_rows = 1;
  int64_t dot_tile_columns = 1;
  int64_t min_dot_block = 1;
  bool dots_have_batches = true; // a block of a dot's batch dimension may be larger than 1

  // What default block sizes aim at: the rows, columns and summed dimension of a dot, and programs for each worker.
  int64_t dot_rows = 96, dot_columns = 128, dot_sum = 256;
  int64_t programs_per_worker = 4;

  int64_t max_block_elements = INT64_MAX; // elements of the largest tile value that a program may hold

  // What a search keeps to where programs are of many threads, in warps; 0: there is no such limit. A thread's
  // registers are of 32 bits. In `dot_registers` are the accumulators of all dots of one loop.
  int64_t warp_threads = 0;
  int64_t shared_bytes = 0; // of a program
  int64_t value_registers = 0, dot_registers = 0;
  bool pads_extents = false;        // all sizes are powers of two: extents are rounded up, blocks are chosen so
  bool loops_are_annotated = false; // loops are unrolled, pipelined, ... by the compiler behind the backend

  bool has_starts = false; // configs to begin with are recognised from the kernel's structure (config/starts.h)

  std::vector<std::string> pid_types; // in the order of preference; the first is the default
  std::vector<std::string> options;   // names of the options that have a meaning on this backend
  std::vector<BackendOption> own_options;

  // How loads and stores may reach memory, in the order of preference.
  std::vector<std::string> access_kinds;
  // A loop over lanes runs along one dimension of all that it loads and stores: the one that suits its `block_ptr`
  // accesses, while `pointer` ones follow. Where all agree, there is nothing to choose.
  bool accesses_share_vectors = false;
};

} // namespace tilewright
