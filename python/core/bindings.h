// What module.cpp puts together; each is defined in the file of its theme.
#pragma once

#include <nanobind/nanobind.h>

namespace tilewright::python {

void bind_host(nanobind::module_& module);       // sizes.cpp
void bind_memory(nanobind::module_& module);     // memory.cpp
void bind_operations(nanobind::module_& module); // operations.cpp
void bind_control(nanobind::module_& module);    // control.cpp
void bind_config(nanobind::module_& module);     // config.cpp
void bind_kernels(nanobind::module_& module);    // kernels.cpp
void bind_bound(nanobind::module_& module);      // bound_kernel.cpp
void bind_gpu(nanobind::module_& module);        // gpu_launch.cpp

} // namespace tilewright::python
