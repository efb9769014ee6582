"""A process that compiles candidates for a GPU: Triton without PyTorch and without CUDA, so that it is started soon, and may
crash, hang or exhaust its memory alone.

A candidate is a file with kernels and a launcher (src/driver/triton_call.h). The launcher is run with stand-ins for
tensors, and what it launches is only compiled. Triton keeps the result in its cache on disk, where the process that
measures finds it.
"""

import os
import sys
import types

import worker_channel

#
# What a launcher sees of PyTorch
#


class _DType:
    """Is to Triton what torch.dtype is."""

    __slots__ = ("name", "itemsize", "is_floating_point")

    def __init__(self, name, itemsize):
        self.name, self.itemsize, self.is_floating_point = name, itemsize, "float" in name

    def __repr__(self):
        return f"torch.{self.name}"


_DTYPES = {
    name: _DType(name, size)
    for name, size in (("bool", 1), ("uint8", 1), ("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8), ("float16", 2),
                       ("bfloat16", 2), ("float32", 4), ("float64", 8), ("float8_e4m3fn", 1), ("float8_e5m2", 1))
}


class _Tensor:
    """A tensor without memory."""

    device = "cuda"

    def __init__(self, shape, strides, dtype, address=0):
        self.shape, self.dtype = tuple(shape), dtype
        self._strides, self._address = tuple(strides), address

    def data_ptr(self):
        return self._address

    def stride(self, dim=None):
        return self._strides if dim is None else self._strides[dim]

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def element_size(self):
        return self.dtype.itemsize

    def ptr_range(self):
        return sum((size - 1) * stride for size, stride in zip(self.shape, self._strides)) * self.dtype.itemsize


def _empty(shape, *_, dtype, **__):
    strides, stride = [], 1
    for size in reversed(shape):
        strides.insert(0, stride)
        stride *= max(size, 1)
    return _Tensor(shape, strides, dtype)


def _stand_in_for_torch(multiprocessors):
    torch = types.ModuleType("torch")
    torch.Tensor, torch.dtype = _Tensor, _DType
    for name, dtype in _DTYPES.items():
        setattr(torch, name, dtype)
    torch.empty = torch.zeros = _empty
    torch.full = lambda shape, value, **options: _empty(shape, **options)
    torch.cuda = types.SimpleNamespace(
        get_device_properties=lambda device=None: types.SimpleNamespace(multi_processor_count=multiprocessors))
    return torch


#
# What Triton sees of the GPU
#


class _Driver:
    """Knows what GPU there is, and no more."""

    def __init__(self, target):
        self._target = target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_current_target(self):
        return self._target


class Compiler:
    def __init__(self, description):
        gpu = description["gpu"]
        sys.modules["torch"] = _stand_in_for_torch(gpu["multiprocessors"])
        import triton
        from triton.backends.compiler import GPUTarget

        self._shared_bytes = gpu["shared_bytes"]
        self._name = description["kernel"]
        self._arguments = [self._argument(each) for each in description["arguments"]]
        triton.runtime.driver.set_active(_Driver(GPUTarget("cuda", gpu["capability"], 32)))
        run = triton.runtime.jit.JITFunction.run
        self._compiled = []

        def compile_only(kernel, *args, **kwargs):
            self._compiled.append(run(kernel, *args, **(kwargs | {"warmup": True})))

        triton.runtime.jit.JITFunction.run = compile_only

    @staticmethod
    def _argument(described):
        if "number" in described:
            return described["number"]
        return _Tensor(described["shape"], described["strides"], _DTYPES[described["dtype"]], described["address"])

    def compile(self, message):
        self._compiled.clear()
        folder = message["folder"]
        try:
            module = worker_channel.load(os.path.join(folder, "kernel.py"), f"candidate_{os.path.basename(folder)}")
            getattr(module, self._name)(*self._arguments)
        except MemoryError:
            raise
        except Exception as error:
            raise worker_channel.Failed("compile_failed", _reason(error)) from None
        finally:
            sys.modules.pop(f"candidate_{os.path.basename(folder)}", None)
        for kernel in self._compiled:
            if kernel.metadata.shared > self._shared_bytes:
                raise worker_channel.Failed("compile_failed", f"needs {kernel.metadata.shared} bytes of shared memory, where "
                                                              f"{self._shared_bytes} are the most")
        self._compiled.clear()
        return {"outcome": "compiled"}


def _reason(error):
    """Triton's errors quote the source first; what is wrong stands last, or in the assembler's words before it gives up."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("ptxas ", "error:")) and "warning" not in line]
    first = [line for line in said if not line.startswith("ptxas fatal")][:1]
    return f"{type(error).__name__}: {(first or said[-1:] or lines[-1:] or [''])[0][:300]}"


def handlers(description, _):
    return {"compile": Compiler(description).compile}
