"""Arithmetic of sizes, for the host part of kernels and outside of them."""

from __future__ import annotations

from .values import DeviceValue, RegisteredBlockSize, current_reader


def cdiv(a: int, b: int) -> int:
    """a / b, rounded up."""
    if isinstance(a, DeviceValue) or isinstance(b, DeviceValue):
        reader = current_reader()
        return reader.call("floor_divide", [reader.call("sub", [reader.call("add", [a, b]), 1]), b])
    if b == 0:
        raise ZeroDivisionError("cdiv by 0")
    return -(-int(a) // int(b))


def next_power_of_2(n: int) -> int:
    """The least power of two that is at least n; 1 for n < 1."""
    if isinstance(n, DeviceValue) and not isinstance(n, RegisteredBlockSize):
        raise current_reader().error("next_power_of_2 is of numbers that are known while the kernel is read")
    return 1 << max(int(n) - 1, 0).bit_length()


cdiv.is_pure = next_power_of_2.is_pure = True
