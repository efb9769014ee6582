"""Blocks that end early, of a kernel that runs on PyTorch.

A tile at the end of a loop is as short as what is left. Where that is one element, its dimension looks like one of size 1,
which PyTorch repeats to fit; yet with a value of a whole block it is to be combined in its one lane only. So tensors with
such a dimension know the shape that they would have in a whole block, and what is computed of them is asked for its own.
"""

from __future__ import annotations

import math

import torch

from .errors import Error
from .interpreted_tile import InterpretedTile, Tiles

# What stands for an element that a shorter operand has not.
_NEUTRAL = {"add": 0, "mul": 1, "maximum": -math.inf, "minimum": math.inf, "bitwise_or": 0, "bitwise_xor": 0, "sub": 0,
            "bitwise_and": -1}
_SPELLINGS = {"__add__": "add", "__radd__": "add", "__mul__": "mul", "__rmul__": "mul", "__sub__": "sub", "__or__": "bitwise_or",
              "__xor__": "bitwise_xor", "__and__": "bitwise_and", "subtract": "sub", "multiply": "mul"}


def whole_shape(value: torch.Tensor) -> tuple[int, ...]:
    """The shape in a block that does not end early, where that is known to be another."""
    return getattr(value, "whole_shape", None) or tuple(value.shape)


def note_shape(value: torch.Tensor, shape) -> torch.Tensor:
    """Notes that a value would have this shape in a whole block. It matters where a dimension has one element of several."""
    if isinstance(value, torch.Tensor) and len(shape) == value.ndim and any(
            size == 1 != whole for size, whole in zip(value.shape, shape)):
        value.whole_shape = tuple(shape)
    return value


def block_length(tile: InterpretedTile) -> int:
    return tile.block_size if len(tile) == 1 else len(tile)


def is_short(value) -> bool:
    """Whether what is computed of an argument has to be asked for its shape in a whole block."""
    if isinstance(value, torch.Tensor):
        return hasattr(value, "whole_shape")
    if isinstance(value, InterpretedTile):
        return len(value) == 1 != value.block_size
    return isinstance(value, (tuple, list)) and any(map(is_short, value))


def _shadow(value):
    """An argument as it would be in a whole block, without data."""
    if isinstance(value, torch.Tensor):
        return torch.empty(whole_shape(value), dtype=value.dtype, device="meta")
    if isinstance(value, InterpretedTile):
        return block_length(value)
    if isinstance(value, Tiles):
        return tuple(map(_shadow, value))
    if type(value) in (tuple, list):
        flat = []
        for part in value:
            flat.extend(_shadow(part)) if isinstance(part, Tiles) else flat.append(_shadow(part))
        return type(value)(flat)
    return value


def note_result(result, function, args, kwargs):
    """Notes the shape in a whole block of what a function of PyTorch gave, by asking it for tensors without data."""
    try:
        with torch._C.DisableTorchFunction(), torch.device("meta"):
            shadow = function(*_shadow(tuple(args)), **{key: _shadow(value) for key, value in kwargs.items()})
    except Exception:  # not to be computed without data, or not with these shapes
        return result
    if isinstance(result, torch.Tensor) and isinstance(shadow, torch.Tensor):
        return note_shape(result, shadow.shape)
    if isinstance(result, tuple) and isinstance(shadow, tuple):
        for one, other in zip(result, shadow):
            if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
                note_shape(one, other.shape)
    return result


def completed(name: str, args):
    """The operands of an operation, where one is of a whole block and the other ends early: the missing elements of the latter
    leave the former's as they are."""
    operation = _SPELLINGS.get(name, name)
    if len(args) != 2 or not all(isinstance(arg, torch.Tensor) for arg in args):
        return args
    a, b = args
    if a.ndim != b.ndim or a.shape == b.shape:
        return args
    missing = [x != y and (1 not in (x, y) or _ends_early(a, b, dim) or _ends_early(b, a, dim))
               for dim, (x, y) in enumerate(zip(a.shape, b.shape))]
    if not any(missing):
        return args
    if operation not in _NEUTRAL:
        if any(is_missing and 1 in sizes for is_missing, sizes in zip(missing, zip(a.shape, b.shape))):
            raise Error(f"{operation} of a value of a whole block, {list(a.shape)}, and one that ends early, {list(b.shape)}, has no meaning "
                        f"in the missing elements; torch.where says what they are")
        return args
    sizes = [max(x, y) if is_missing else None for x, y, is_missing in zip(a.shape, b.shape, missing)]
    with torch._C.DisableTorchFunction():
        return tuple(_padded(value, sizes, _NEUTRAL[operation]) for value in (a, b))


def _ends_early(short: torch.Tensor, long: torch.Tensor, dim: int) -> bool:
    return short.shape[dim] == 1 and whole_shape(short)[dim] == long.shape[dim] != 1


def _padded(value: torch.Tensor, sizes, neutral) -> torch.Tensor:
    shape = [have if want is None else want for have, want in zip(value.shape, sizes)]
    if neutral in (math.inf, -math.inf) and not value.dtype.is_floating_point:
        info = torch.iinfo(value.dtype)
        neutral = info.max if neutral > 0 else info.min
    out = torch.full(shape, neutral, dtype=value.dtype)
    out[tuple(slice(0, size) for size in value.shape)] = value
    return out
