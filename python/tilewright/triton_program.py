"""Running what the triton backend writes: loading its file, its first launch through Triton, and the plan of later ones.

The text that the compiler gives is one file with Triton kernels and a launcher, which allocates, launches and returns. It is
kept under the user's cache directory, where Triton and debuggers find its lines. The launcher can run any call; where a
kernel's parameters are plain arrays, its first run is watched, and later calls launch the compiled kernels from C++
(``_core.GpuPlan``).
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import os
import struct
import sys
import tempfile
import threading
from types import ModuleType
from typing import Any, Sequence

import torch

from . import _core
from .errors import Error

_ALLOCATORS = ("empty", "zeros", "full")
_TENSOR_MAP_BYTES = 128  # of CUtensorMap


def _directory() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "tilewright", "triton")


def _written(source: str, name: str) -> str:
    """The path of a file with this text. Several processes may write it at once."""
    path = os.path.join(_directory(), f"{name}_{hashlib.sha256(source.encode()).hexdigest()[:16]}.py")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(handle, "w") as file:
            file.write(source)
        os.replace(temporary, path)
    return path


def _loaded(path: str) -> ModuleType:
    name = "tilewright_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where Triton looks for what the kernels refer to
    spec.loader.exec_module(module)
    return module


class _Watch:
    """Stands in for ``torch`` and for the kernels of a file while its launcher runs once, and notes what it does. Functions
    that only kernels call stay: Triton looks for them in the file while it compiles."""

    def __init__(self, module: ModuleType, launcher):
        self.module = module
        self._launcher = launcher
        self.made: list[torch.Tensor] = []
        self.launches: list[tuple[Any, tuple, tuple]] = []

    def __enter__(self):
        named = ((name, getattr(self.module, name, None)) for name in self._launcher.__code__.co_names)
        self._kept = {name: value for name, value in named if _is_kernel(value)}
        for name, kernel in self._kept.items():
            setattr(self.module, name, _WatchedKernel(self, kernel))
        self.module.torch = _WatchedTorch(self)
        return self

    def __exit__(self, *exception):
        self.module.torch = torch
        for name, kernel in self._kept.items():
            setattr(self.module, name, kernel)


class _WatchedTorch:
    def __init__(self, watch: _Watch):
        self._watch = watch

    def __getattr__(self, name):
        function = getattr(torch, name)
        if name not in _ALLOCATORS:
            return function

        def allocate(*args, **kwargs):
            self._watch.made.append(function(*args, **kwargs))
            return self._watch.made[-1]

        return allocate


class _WatchedKernel:
    def __init__(self, watch: _Watch, kernel):
        self._watch, self._kernel = watch, kernel

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            compiled = self._kernel[grid](*args, **kwargs)
            self._watch.launches.append((compiled, grid, args))
            return compiled

        return launch


def _is_kernel(value) -> bool:
    from triton.runtime.jit import KernelInterface

    return isinstance(value, KernelInterface)


class TritonProgram:
    """A compiled call of a kernel: ``arguments`` are its tensors and run-time numbers, in order."""

    def __init__(self, source: str, name: str):
        try:
            import triton  # noqa: F401
        except ImportError:
            raise Error(f"kernel {name} is called with CUDA tensors, which needs Triton: pip install triton") from None
        self.source = source
        self.path = _written(source, name)
        self.module = _loaded(self.path)
        self._launcher = getattr(self.module, name)
        self._watching = threading.Lock()

    def run(self, arguments: Sequence) -> list[torch.Tensor]:
        """One launch through Triton's own launcher; what the kernel gives back."""
        with _on_device_of(arguments):
            return _as_list(self._launcher(*arguments))

    def run_first(self, arguments: Sequence, device: int) -> tuple[list[torch.Tensor], _core.GpuPlan | None]:
        """The same, and the plan of later launches of this kind of arguments; None where only Triton's launcher can do it."""
        if _is_interpreted():
            return self.run(arguments), None
        arguments = _told_apart(arguments)
        with self._watching, _Watch(self.module, self._launcher) as watch, _on_device_of(arguments):
            results = _as_list(self._launcher(*arguments))
        return results, _plan(watch, arguments, device)


def _told_apart(arguments: Sequence) -> list:
    """Where one tensor is passed twice, the second is another object over the same data: later calls may pass two."""
    seen, apart = set(), []
    for value in arguments:
        if isinstance(value, torch.Tensor):
            if id(value) in seen:
                value = value.detach()
            seen.add(id(value))
        apart.append(value)
    return apart


def _on_device_of(arguments: Sequence):
    """Triton launches on the device that is current."""
    for value in arguments:
        if isinstance(value, torch.Tensor):
            return torch.cuda.device(value.device) if value.is_cuda else contextlib.nullcontext()
    return contextlib.nullcontext()


def _is_interpreted() -> bool:
    return os.environ.get("TRITON_INTERPRET") == "1"


def _as_list(results) -> list[torch.Tensor]:
    if results is None:
        return []
    return list(results) if isinstance(results, tuple) else [results]


def _plan(watch: _Watch, arguments: Sequence, device: int) -> _core.GpuPlan | None:
    # By identity: two arguments may have the same address.
    places = {id(array): place for place, array in enumerate([*arguments, *watch.made]) if isinstance(array, torch.Tensor)}
    plan = _core.GpuPlan(device, [compiled for compiled, _, _ in watch.launches])
    for compiled, grid, passed in watch.launches:
        metadata = compiled.metadata
        if _option(metadata, "num_ctas", 1) != 1 or _option(metadata, "launch_cooperative_grid", False):
            return None
        if _option(metadata, "launch_pdl", False) or _option(metadata, "profile_scratch_size", 0):
            return None
        parameters = _parameters(passed, places, list(_option(metadata, "tensordesc_meta", None) or []))
        if parameters is None:
            return None
        grid = (*grid, 1, 1)[:3]
        scratch = _option(metadata, "global_scratch_size", 0) * grid[0] * grid[1] * grid[2]
        try:
            plan.add(compiled.function, grid, 32 * metadata.num_warps, metadata.shared, parameters, scratch)
        except Error:  # the driver knows the kernel to have other parameters: those of another version of Triton
            return None
    return plan


def _parameters(passed: Sequence, places: dict, descriptions: list) -> list | None:
    """Of a kernel, as GpuPlan takes them; None where only Triton knows: a run-time number, on whose value it specialises."""
    parameters = []
    for value in passed:
        if id(value) in places:
            parameters.append(places[id(value)])
        elif id(getattr(value, "base", None)) in places:  # a tensor descriptor
            described = _descriptor_parameters(value, descriptions)
            if described is None:
                return None
            parameters.append((places[id(value.base)], described[0]))
            parameters += described[1:]
        else:
            return None
    return parameters


def _descriptor_parameters(descriptor, descriptions: list) -> list[bytes] | None:
    """The driver's tensor map, then the sizes in 4 bytes each and the strides in 8, as Triton 3.5 and later pass them; None
    where this version does it otherwise. GpuPlan compares their sizes with the kernel's own."""
    try:
        from triton.backends.nvidia.driver import make_tensordesc_arg

        tensor_map, *numbers = make_tensordesc_arg(descriptor, descriptions.pop(0))
        kind, rank = type(tensor_map), len(descriptor.shape)
        if kind.__name__ != "PyCUtensorMap" or kind.__basicsize__ <= _TENSOR_MAP_BYTES or len(numbers) != 2 * rank:
            return None
        # The map is the last member of its object.
        content = ctypes.string_at(id(tensor_map) + kind.__basicsize__ - _TENSOR_MAP_BYTES, _TENSOR_MAP_BYTES)
        sizes, strides = numbers[:rank], numbers[rank:]
        return [content, *(struct.pack("<i", size) for size in sizes), *(struct.pack("<q", stride) for stride in strides)]
    except (ImportError, AttributeError, IndexError, KeyError, TypeError, struct.error):
        return None


def _option(metadata, name: str, otherwise):
    """What older or newer versions of Triton may not have."""
    return getattr(metadata, name, otherwise)
