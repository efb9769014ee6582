"""What a cached call of a small kernel costs on the host, beside torch.add and a plain ctypes call.

    python benchmarks/python/launch_overhead.py

Prints the least time of many short rounds, in microseconds, taken in turns so that a busy machine is unfair to none,
and its ratio to torch.add. Both run on the calling thread alone: 64 elements are one program.
"""

import ctypes
import time

import torch
from tilewright import _core

CALLS, ROUNDS = 200, 400


def core_add():
    """The kernel that the frontend makes of out[tile] = x[tile] + y[tile], without the frontend."""
    where = _core.Location(__file__, 1)

    def record(parameters):
        x, y = parameters
        out = _core.empty(x.sizes, x.dtype, location=where)
        with _core.loop(None, x.sizes, location=where) as tiles:
            a, b = _core.load(x, tiles, location=where), _core.load(y, tiles, location=where)
            _core.store(out, tiles, _core.call("add", [a, b], location=where), location=where)
        return _core.Recorded([out], "one")

    return _core.Kernel("add", ["x", "y"], record, location=where, settings=_core.Settings(autotune_effort="none"))


def microseconds(function):
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        function()
    return (time.perf_counter_ns() - start) / CALLS / 1000


def main():
    x, y = torch.randn(64), torch.randn(64)
    add = core_add()
    torch.testing.assert_close(add(x, y), x + y)
    getpid = ctypes.CDLL(None).getpid
    subjects = {
        "ctypes, no arguments": lambda: getpid(),
        "torch.empty": lambda: torch.empty((64,), dtype=torch.float32),
        "torch.add": lambda: torch.add(x, y),
        "tilewright add": lambda: add(x, y),
    }
    best = dict.fromkeys(subjects, float("inf"))
    for _ in range(ROUNDS):
        for name, function in subjects.items():
            best[name] = min(best[name], microseconds(function))
    for name, time_taken in best.items():
        print(f"{name:24} {time_taken:7.2f} us   {time_taken / best['torch.add']:5.2f} x torch.add")


if __name__ == "__main__":
    main()
