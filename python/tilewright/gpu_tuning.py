"""What the search in C++ needs to tune a kernel on a GPU: how to start its workers, and the arguments for them.

Candidates are compiled by several processes (triton_compile_worker.py) and run by another one (triton_measure_worker.py),
none of which is this one. All of them find the call's arguments in one file in memory: a description, and the tensors' bytes.
"""

from __future__ import annotations

import math
import os
import sys
from typing import Sequence

import torch

from . import worker_channel
from .errors import Error

_WORKER = os.path.abspath(worker_channel.__file__)
_ALIGNMENT = 64  # of a tensor's address, as far as a worker keeps it
_MOST_COMPILERS = 16
_COMPILER_BYTES = 12 << 30  # of address space; compiling one kernel takes some hundred megabytes


def gpu_of(device: torch.device) -> dict:
    """What code is made for; without a GPU, as under Triton's interpreter, an H200."""
    if device.type != "cuda":
        return {"name": "sm_90", "capability": 90, "multiprocessors": 132, "shared_bytes": 227 << 10}
    properties = torch.cuda.get_device_properties(device)
    shared = getattr(properties, "shared_memory_per_block_optin", 227 << 10)
    return {"name": properties.name, "capability": 10 * properties.major + properties.minor,
            "multiprocessors": properties.multi_processor_count, "shared_bytes": shared}


class Workers:
    """For one specialisation. ``written`` are the places of the arguments that the kernel stores to."""

    def __init__(self, kernel: str, arguments: Sequence, written: Sequence[int]):
        if not sys.executable:
            raise Error("tuning on a GPU starts Python, and sys.executable does not say where it is")
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        device = tensors[0].device if tensors else torch.device("cpu")
        if device.type == "cuda" and device.index is None:
            device = torch.device("cuda", torch.cuda.current_device())
        self._offset = 1 << 20  # behind the description
        self._bytes: list[tuple[int, memoryview]] = []
        description = {"kernel": kernel, "written": list(written), "device": str(device), "gpu": gpu_of(device),
                       "arguments": [self._described(value) for value in arguments]}
        self.file = os.memfd_create("tilewright arguments")
        worker_channel.write_arguments_file(self.file, description, self._bytes)
        os.ftruncate(self.file, max(os.fstat(self.file).st_size, self._offset))
        self._bytes.clear()

    def _described(self, value) -> dict:
        if not isinstance(value, torch.Tensor):
            return {"number": value}
        count = 0  # elements from the first to the last one
        if value.numel() > 0:
            count = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride()))
        begin = self._offset
        if count:
            flat = value.detach().as_strided((count,), (1,)).view(torch.uint8).cpu()
            self._bytes.append((begin, memoryview(flat.numpy())))
        size = count * value.element_size()
        self._offset += math.ceil(size / 4096) * 4096
        return {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "strides": list(value.stride()),
                "address": value.data_ptr() % _ALIGNMENT, "offset": begin, "bytes": size}

    @property
    def compiler(self) -> list[str]:
        return [sys.executable, _WORKER, "triton_compile_worker.py"]

    @property
    def compiler_environment(self) -> list[str]:
        return [*self.environment, "TRITON_INTERPRET=0"]

    @property
    def measurer(self) -> list[str]:
        return [sys.executable, _WORKER, "triton_measure_worker.py"]

    @property
    def environment(self) -> list[str]:
        """They find what this process has found."""
        return ["PYTHONPATH=" + os.pathsep.join(entry for entry in sys.path if entry)]

    @property
    def compilers(self) -> int:
        """One core is for the process that measures."""
        return max(1, min(len(os.sched_getaffinity(0)) - 1, _MOST_COMPILERS))

    @property
    def compiler_bytes(self) -> int:
        return _COMPILER_BYTES

    def close(self) -> None:
        os.close(self.file)
