"""What the examples share: a kernel with arguments and a reference is checked and timed.

    python examples/python/softmax.py            checks on small arguments, then tunes, and times on large ones
    python examples/python/softmax.py --check    only checks
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from typing import Callable

import torch


@dataclasses.dataclass
class Example:
    """A kernel, or a function that calls kernels.

    Attributes:
        arguments: makes those of a call; `large` ones to time, else ones to check with.
        reference: gives with PyTorch what the kernel gives.
        written: places of arguments that the kernel writes, and that are compared instead of the result.
        tolerance: of torch.testing.assert_close.
    """

    kernel: Callable
    arguments: Callable[[bool], tuple]
    reference: Callable
    name: str = ""
    written: tuple[int, ...] = ()
    tolerance: dict = dataclasses.field(default_factory=lambda: {"rtol": 1e-4, "atol": 1e-4})

    def __post_init__(self):
        self.name = self.name or self.kernel.__name__


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    return type(value)(map(copied, value)) if type(value) in (tuple, list) else value


def check(example: Example, kernel: Callable | None = None, large: bool = False) -> None:
    """Raises AssertionError where the kernel does not give what PyTorch gives."""
    torch.manual_seed(0)
    arguments = example.arguments(large)
    passed = copied(arguments)
    found = (kernel or example.kernel)(*passed)
    if example.written:
        found = [passed[i] for i in example.written]
    torch.testing.assert_close(found, example.reference(*copied(arguments)), **example.tolerance)


def median_seconds(functions: dict[str, Callable], arguments, seconds: float = 1.0) -> dict[str, float]:
    """Of calls in turns, so that a busy machine is unfair to none."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for function in functions.values():
        function(*arguments)
    end = time.perf_counter() + seconds * len(functions)
    while time.perf_counter() < end:
        for name, function in functions.items():
            begin = time.perf_counter()
            function(*arguments)
            times[name].append(time.perf_counter() - begin)
    return {name: sorted(values)[len(values) // 2] for name, values in times.items()}


def main(examples: list[Example]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="only check")
    parser.add_argument("names", nargs="*", help="of the examples; else all")
    options = parser.parse_args()
    for example in examples:
        if options.names and example.name not in options.names:
            continue
        check(example)
        if options.check:
            print(f"{example.name}: agrees with PyTorch")
            continue
        torch.manual_seed(0)
        arguments = example.arguments(True)
        compiled = torch.compile(example.reference)
        with torch.no_grad():
            seconds = median_seconds({"kernel": example.kernel, "eager": example.reference, "torch.compile": compiled}, arguments)
        others = ", ".join(f"{seconds[name] / seconds['kernel']:.2f}x {name} ({seconds[name] * 1e6:.0f} us)"
                           for name in ("eager", "torch.compile"))
        print(f"{example.name}: {seconds['kernel'] * 1e6:.0f} us, {others}")
