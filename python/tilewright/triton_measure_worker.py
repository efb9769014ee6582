"""A process that runs candidates on a GPU: with a CUDA context of its own, which a wrong one may break.

Candidates run on copies of the call's arguments; their results are compared with those of one that is taken to be right,
and they are timed with device events, with the L2 cache emptied before each launch.
"""

import math
import os
import statistics
import time
import warnings

import torch
import worker_channel

warnings.filterwarnings("ignore", message="The given buffer is not writable")  # nothing writes to it

_CACHE_BYTES = 256 << 20  # more than any GPU's L2
_GIVE_UP = 1.5  # times the best time: not measured any further
_FEW, _LEAST, _MOST, _ENOUGH_MICROSECONDS = 3, 5, 20, 10_000  # launches that are timed


class Measurer:
    def __init__(self, description, memory):
        self._name, self._written = description["kernel"], description["written"]
        self._device = torch.device(description["device"])
        if self._device.type == "cuda":
            torch.cuda.set_device(self._device)
        self._original = [self._argument(each, memory) for each in description["arguments"]]
        self._arguments = [value.clone() if i in self._written else value for i, value in enumerate(self._original)]
        self._programs = {}
        self._right = None
        self._flush = None
        if self._device.type == "cuda":
            self._flush = torch.empty(_CACHE_BYTES // 4, dtype=torch.int32, device=self._device)
            torch.cuda.synchronize()

    def _argument(self, described, memory):
        """A tensor of the same layout and alignment."""
        if "number" in described:
            return described["number"]
        begin, count, ahead = described["offset"], described["bytes"], described["address"]
        storage = torch.empty(ahead + count, dtype=torch.uint8, device=self._device)
        if count:
            storage[ahead:].copy_(torch.frombuffer(memory, dtype=torch.uint8, count=count, offset=begin))
        dtype = getattr(torch, described["dtype"])
        whole = torch.empty(0, dtype=dtype, device=self._device).set_(
            storage.untyped_storage(), ahead // dtype.itemsize, described["shape"], described["strides"])
        return whole

    def baseline(self, message):
        self._right = self._outputs(self._program(message))
        return {"outcome": "measured"}

    def measure(self, message):
        program = self._program(message)
        self._compare(self._outputs(program))
        first = statistics.median(self._times(program, _FEW))
        if message["best"] is not None and first > _GIVE_UP * message["best"]:
            return {"outcome": "measured", "microseconds": first, "gave_up": first > 3 * message["best"]}
        repeats = max(_LEAST, min(_MOST, int(_ENOUGH_MICROSECONDS / max(first, 1.0))))
        return {"outcome": "measured", "microseconds": statistics.median(self._times(program, repeats))}

    def measure_again(self, message):
        return {"outcome": "measured", "microseconds": statistics.median(self._times(self._program(message), _LEAST))}

    def _program(self, message):
        folder = message["folder"]
        if folder not in self._programs:
            name = f"candidate_{os.path.basename(folder)}"
            self._programs[folder] = getattr(worker_channel.load(os.path.join(folder, "kernel.py"), name), self._name)
        return self._programs[folder]

    def _run(self, program):
        for i in self._written:
            self._arguments[i].copy_(self._original[i])
        results = program(*self._arguments)
        results = [] if results is None else list(results) if isinstance(results, tuple) else [results]
        return [self._arguments[i] for i in self._written] + results

    def _outputs(self, program):
        """What a run writes, from the arguments as they were at first."""
        try:
            outputs = [output.clone() for output in self._run(program)]
            if self._flush is not None:
                torch.cuda.synchronize()
            return outputs
        except Exception as error:
            raise _failure(error) from None

    def _compare(self, found):
        for one, other in zip(found, self._right):
            if one.numel() == 0 or one.shape != other.shape:  # of sizes that the config chooses
                continue
            if not one.dtype.is_floating_point:
                if not torch.equal(one, other):
                    raise worker_channel.Failed("wrong_result", "differs from the default config's result")
                continue
            a, b = one.double(), other.double()
            if not torch.equal(a.isfinite(), b.isfinite()):
                raise worker_channel.Failed("wrong_result", "is not finite where the default config's result is, or the other way "
                                                            "round")
            a, b = a.nan_to_num(0, 0, 0), b.nan_to_num(0, 0, 0)
            error = (a - b).abs().max().item() / max(b.abs().max().item(), 1e-300)
            # Rounding errors of sums grow with the square root of the number of terms.
            allowed = 32 * torch.finfo(one.dtype).eps / 2 * math.sqrt(max(one.shape, default=1))
            if not error <= allowed:
                raise worker_channel.Failed(
                    "wrong_result", f"differs from the default config's result by {error:.2e} of its largest value, where "
                                    f"{allowed:.2e} is rounding")

    def _times(self, program, repeats):
        """In microseconds."""
        if self._flush is None:  # Triton's interpreter: only that it runs is of interest
            begin = time.perf_counter()
            program(*self._arguments)
            return [(time.perf_counter() - begin) * 1e6]
        try:
            pairs = []
            for _ in range(repeats):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                self._flush.zero_()
                begin.record()
                program(*self._arguments)
                end.record()
                pairs.append((begin, end))
            torch.cuda.synchronize()
            return [begin.elapsed_time(end) * 1000 for begin, end in pairs]
        except Exception as error:
            raise _failure(error) from None


def _failure(error):
    text = worker_channel.first_line(error)
    if isinstance(error, torch.OutOfMemoryError) or "out of memory" in text:
        return worker_channel.Failed("out_of_memory", text)
    # An error of the driver's other than these stays: the context is lost.
    if "CUDA error" in text or "illegal memory access" in text or "misaligned address" in text:
        return worker_channel.Failed("poisoned", text)
    return worker_channel.Failed("run_failed", text)


def handlers(description, memory):
    measurer = Measurer(description, memory)
    return {"baseline": measurer.baseline, "measure": measurer.measure, "measure_again": measurer.measure_again}
