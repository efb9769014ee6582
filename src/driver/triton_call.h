// A call of a kernel as a file of Triton's Python, for those who run it there. Nothing of LLVM is seen here.
#pragma once

#include "driver/specialisation.h"
#include "driver/tune_candidates.h"
#include "tilewright/config.h"

#include <functional>
#include <memory>
#include <string>

namespace tilewright {

struct TritonCall {
  Specialisation specialisation;
  Config config;
  std::string
      source; // the file: kernels, and a launcher by the kernel's name that takes the specialisation's parameters
};

/// Tunes on the device where the call's arguments are, and gives a config of the specialisation's spec; empty where
/// that cannot be. The request has a job_for.
using TritonSearch = std::function<Config(const Specialisation&, const TuneRequest&)>;

/// Records the call's kernel and writes it with the config that choose_config() (driver/tune.h) takes. Of the
/// arguments' arrays only the layouts and addresses are looked at, so that their elements may be a GPU's. Throws Error
/// on the user's line.
std::shared_ptr<const TritonCall> write_triton_call(const KernelDefinition& definition, const detail::Call& call,
                                                    const TritonSearch& search);

/// The file for a kernel, as the text of its tile IR, and a complete config.
std::string triton_source(const std::string& tile_ir, const Config& config);

} // namespace tilewright
