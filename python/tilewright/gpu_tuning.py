"""Compiling and measuring a GPU kernel's candidates, for the search in C++.

A candidate is compiled without being run, so that several are at once, each in a thread of the search: Triton works outside
of the interpreter lock. It is then run on copies of the arguments, its results are compared with those of the default
config, and it is timed with device events, with the L2 cache emptied before each launch.
"""

from __future__ import annotations

import math
import statistics
from typing import Sequence

import torch

from .triton_program import TritonProgram, _on_device_of, _Watch

_CACHE_BYTES = 256 << 20  # more than any GPU's L2
_GIVE_UP = 3.0  # times the best time: not measured any further


class WrongResult(Exception):
    """A candidate's result is not the default config's."""


class Tuner:
    """For one specialisation. ``written`` are the places of the arguments that the kernel stores to."""

    def __init__(self, name: str, default_source: str, arguments: Sequence, written: Sequence[int]):
        self._name = name
        self._written = list(written)
        self._original = list(arguments)
        self._arguments = [_copied(value) if i in self._written else value for i, value in enumerate(arguments)]
        self._cuda = any(isinstance(value, torch.Tensor) and value.is_cuda for value in arguments)
        self._flush = None
        self._baseline = self._outputs(TritonProgram(default_source, name))

    def compile(self, source: str) -> TritonProgram:
        program = TritonProgram(source, self._name)
        if self._cuda:
            with program._watching, _Compiling(program.module, program._launcher), _on_device_of(self._arguments):
                program._launcher(*self._arguments)
        return program

    def measure(self, program: TritonProgram, best: float) -> tuple[float, bool]:
        """Microseconds, and whether it was given up."""
        self._compare(self._outputs(program))
        first = self._times(program, 2)[-1]
        if first > _GIVE_UP * best:
            return first, True
        repeats = max(5, min(30, int(20_000 / max(first, 1.0))))
        return statistics.median(self._times(program, repeats)), False

    def measure_again(self, program: TritonProgram) -> float:
        return statistics.median(self._times(program, 5))

    def _outputs(self, program: TritonProgram) -> list[torch.Tensor]:
        """What a run writes, from the arguments as they were at first."""
        for i in self._written:
            self._arguments[i].copy_(self._original[i])
        results = program.run(self._arguments)
        written = [self._arguments[i].clone() for i in self._written]
        return written + [result.clone() for result in results]

    def _compare(self, found: list[torch.Tensor]) -> None:
        for one, other in zip(found, self._baseline):
            if one.numel() == 0 or one.shape != other.shape:  # of sizes that the config chooses
                continue
            if not one.dtype.is_floating_point:
                if not torch.equal(one, other):
                    raise WrongResult("differs from the default config's result")
                continue
            a, b = one.double(), other.double()
            if not torch.equal(a.isfinite(), b.isfinite()):
                raise WrongResult("is not finite where the default config's result is, or the other way round")
            a, b = a.nan_to_num(0, 0, 0), b.nan_to_num(0, 0, 0)
            error = (a - b).abs().max().item() / max(b.abs().max().item(), 1e-300)
            # Rounding errors of sums grow with the square root of the number of terms.
            allowed = 32 * torch.finfo(one.dtype).eps / 2 * math.sqrt(max(one.shape, default=1))
            if not error <= allowed:
                raise WrongResult(f"differs from the default config's result by {error:.2e} of its largest value, where "
                                  f"{allowed:.2e} is rounding")

    def _times(self, program: TritonProgram, repeats: int) -> list[float]:
        if not self._cuda:  # Triton's interpreter: only that it runs is of interest
            import time

            times = []
            for _ in range(min(repeats, 2)):
                begin = time.perf_counter()
                program.run(self._arguments)
                times.append((time.perf_counter() - begin) * 1e6)
            return times
        if self._flush is None:
            device = next(value.device for value in self._arguments if isinstance(value, torch.Tensor))
            self._flush = torch.empty(_CACHE_BYTES // 4, dtype=torch.int32, device=device)
        with _on_device_of(self._arguments):
            pairs = []
            for _ in range(repeats):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                self._flush.zero_()
                begin.record()
                program._launcher(*self._arguments)
                end.record()
                pairs.append((begin, end))
            torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1000 for begin, end in pairs]


class _Compiling(_Watch):
    """The launcher runs, but its kernels are only compiled."""

    def __enter__(self):
        super().__enter__()
        for name, kernel in self._kept.items():
            setattr(self.module, name, _CompiledOnly(kernel))
        return self


class _CompiledOnly:
    def __init__(self, kernel):
        self._kernel = kernel

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self._kernel.warmup(*args, grid=grid, **kwargs)


def _copied(value):
    return value.clone(memory_format=torch.preserve_format) if isinstance(value, torch.Tensor) else value
