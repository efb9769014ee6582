// A call of a kernel as a file of Triton's Python, for those who run it there. Nothing of LLVM is seen here.
#pragma once

#include "driver/specialisation.h"
#include "tilewright/config.h"

#include <memory>
#include <string>

namespace tilewright {

struct TritonCall {
  Specialisation specialisation;
  Config config;
  std::string
      source; // the file: kernels, and a launcher by the kernel's name that takes the specialisation's parameters
};

/// Records the call's kernel and writes it with the config of its settings, else with the best one that the database
/// knows, else with the default. Of the arguments' arrays only the layouts and addresses are looked at, so that their
/// elements may be a GPU's. Throws Error on the user's line.
std::shared_ptr<const TritonCall> write_triton_call(const KernelDefinition& definition, const detail::Call& call);

/// The file for a kernel, as the text of its tile IR, and a complete config.
std::string triton_source(const std::string& tile_ir, const Config& config);

} // namespace tilewright
