// Routines of other libraries for the same work as a kernel's. They are looked for when they are asked for, so that
// nothing of ours is linked with them.
#pragma once

#include "tilewright/registry.h"

#include <functional>
#include <optional>
#include <span>
#include <string>

namespace tilewright {

struct Peer {
  std::string name;        // "openblas"
  std::string description; // its version, target and number of threads
  std::function<void()> run;
  Array result; // written by each run
};

/// For the peer that the kernel is registered with, on num_threads() threads. Nothing where there is none, or none for
/// this dtype. "gemm" is OpenBLAS's cblas_sgemm and cblas_dgemm on the first two arguments, x: T[m, k] and y: T[k, n].
/// Throws Error where the library cannot be loaded, or the arguments are others.
std::optional<Peer> make_peer(const RegisteredKernel& kernel, std::span<const AnyArgument> arguments);

} // namespace tilewright
