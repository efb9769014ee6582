#include "driver/command_line/peers.h"

#include "support/error.h"
#include "tilewright/device.h"

#include <dlfcn.h>

namespace tilewright {
namespace {

// The part of the CBLAS interface that is used here (netlib.org/blas, cblas.h), with 32-bit integers.
constexpr int kRowMajor = 101, kNoTranspose = 111;

template <class T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha, const T* a, int lda,
                      const T* b, int ldb, T beta, T* c, int ldc);

struct OpenBlas {
  Gemm<float> sgemm;
  Gemm<double> dgemm;
  void (*set_num_threads)(int);
  int (*get_num_threads)();
  const char* (*get_config)();
};

OpenBlas load_openblas() {
  constexpr const char* kLibrary = "libopenblas.so.0";
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail("OpenBLAS cannot be loaded: {}; on Debian and Ubuntu it is in the package libopenblas0-pthread", dlerror());
  auto find = [&]<class F>(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function) fail("{} has no {}", kLibrary, name);
  };
  OpenBlas openblas;
  find(openblas.sgemm, "cblas_sgemm");
  find(openblas.dgemm, "cblas_dgemm");
  find(openblas.set_num_threads, "openblas_set_num_threads");
  find(openblas.get_num_threads, "openblas_get_num_threads");
  find(openblas.get_config, "openblas_get_config");
  return openblas;
}

std::string trimmed(std::string text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

// A failure is tried again at the next call; a library that was loaded stays.
const OpenBlas& openblas() {
  static const OpenBlas loaded = load_openblas();
  return loaded;
}

template <class T> std::function<void()> make_gemm(Gemm<T> gemm, const Array& x, const Array& y, const Array& result) {
  int m = static_cast<int>(x.size(0)), k = static_cast<int>(x.size(1)), n = static_cast<int>(y.size(1));
  return [=] {
    gemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, x.data<T>(), k, y.data<T>(), n, 0, result.data<T>(), n);
  };
}

std::optional<Peer> make_gemm_peer(const RegisteredKernel& kernel, std::span<const AnyArgument> arguments) {
  auto is_matrix = [&](size_t i) {
    return i < arguments.size() && arguments[i].is_array() && arguments[i].array().rank() == 2 &&
           arguments[i].array().is_contiguous();
  };
  if (!is_matrix(0) || !is_matrix(1) || arguments[0].array().size(1) != arguments[1].array().size(0))
    fail("kernel {} is registered with the peer gemm, but its first two arguments are not x: T[m, k], y: T[k, n]",
         kernel.name);
  const Array &x = arguments[0].array(), &y = arguments[1].array();
  if (x.dtype() != y.dtype() || (x.dtype() != float32 && x.dtype() != float64)) return std::nullopt;
  if (x.numel() == 0 || y.numel() == 0) return std::nullopt; // its leading dimensions must not be 0

  const OpenBlas& blas = openblas();
  blas.set_num_threads(num_threads());
  Peer peer;
  peer.name = "openblas";
  peer.description = fmt::format("{}, {} threads", trimmed(blas.get_config()), blas.get_num_threads());
  peer.result = Array::empty({x.size(0), y.size(1)}, x.dtype());
  peer.run = x.dtype() == float32 ? make_gemm(blas.sgemm, x, y, peer.result) : make_gemm(blas.dgemm, x, y, peer.result);
  return peer;
}

} // namespace

std::optional<Peer> make_peer(const RegisteredKernel& kernel, std::span<const AnyArgument> arguments) {
  if (kernel.peer.empty()) return std::nullopt;
  if (kernel.peer == "gemm") return make_gemm_peer(kernel, arguments);
  fail("kernel {} is registered with the peer \"{}\"; there is gemm", kernel.name, kernel.peer);
}

} // namespace tilewright
