// tilewright._core: the recording of kernels, the compiler and the fast call, for the Python frontend. _core.pyi is its
// documentation.
#include "python/core/bindings.h"
#include "python/core/errors.h"
#include "python/core/operands.h"

NB_MODULE(_core, module) {
  using namespace tilewright::python;
  // Kernels of modules live until the interpreter has gone, and are no leaks.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = TILEWRIGHT_VERSION;
  module.attr("interface") = TILEWRIGHT_INTERFACE;
  bind_errors(module);
  bind_operands(module);
  bind_host(module);
  bind_memory(module);
  bind_operations(module);
  bind_control(module);
  bind_config(module);
  bind_kernels(module);
  bind_bound(module);
  bind_gpu(module);
}
