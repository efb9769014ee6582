"""Random numbers of kernels that run on PyTorch: those that a compiled kernel makes.

Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.3 and table 2.
The counter is the element's index in all that the shape's tiles walk over, and the number of the call in the kernel; the key
is the seed.
"""

from __future__ import annotations

import math

import torch

from .interpreted_tile import InterpretedTile, Tiles

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_WORD = 0xFFFFFFFF


def _product(a: int, b: torch.Tensor):
    """The high and the low word; int64 wraps around, and keeps all 64 bits."""
    wide = b * a
    return (wide >> 32) & _WORD, wide & _WORD


def _words(shape, seed: int, stream: int) -> list[torch.Tensor]:
    index = _logical_index(shape)
    counter = [index & _WORD, (index >> 32) & _WORD, torch.full_like(index, stream), torch.zeros_like(index)]
    key = [seed & _WORD, (seed >> 32) & _WORD]
    for _ in range(10):
        high0, low0 = _product(_MULTIPLIERS[0], counter[0])
        high1, low1 = _product(_MULTIPLIERS[1], counter[2])
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0]
        key = [(k + step) & _WORD for k, step in zip(key, _KEY_STEPS)]
    return counter


def _logical_index(shape) -> torch.Tensor:
    parts = []
    for part in shape if isinstance(shape, (tuple, list)) else [shape]:
        parts.extend(part) if isinstance(part, Tiles) else parts.append(part)
    index, stride = torch.zeros((), dtype=torch.int64), 1
    for i, part in reversed(list(enumerate(parts))):
        if isinstance(part, InterpretedTile):
            first, last = part.whole
            numbers, length = torch.arange(*part.range) - first, last - first
        else:
            length = int(part)
            numbers = torch.arange(length)
        index = index + (numbers * stride).reshape([-1] + [1] * (len(parts) - 1 - i))
        stride *= length
    return index


def _fraction(word: torch.Tensor) -> torch.Tensor:
    return (word >> 8).to(torch.float32) * 2.0**-24


def _fraction53(high: torch.Tensor, low: torch.Tensor, add: int) -> torch.Tensor:
    return (((high << 21) | (low >> 11)) + add).to(torch.float64) * 2.0**-53


def random_uniform(shape, seed: int, stream: int) -> torch.Tensor:
    return _fraction(_words(shape, seed, stream)[0])


def random_uniform_4x(shape, seed: int, stream: int) -> tuple[torch.Tensor, ...]:
    return tuple(_fraction(word) for word in _words(shape, seed, stream))


def random_normal(shape, seed: int, stream: int) -> torch.Tensor:
    """Box and Muller's transform (Annals of Mathematical Statistics 29, 1958)."""
    words = _words(shape, seed, stream)
    u, v = _fraction53(words[0], words[1], 1), _fraction53(words[2], words[3], 0)
    return ((-2 * u.log()).sqrt() * (2 * math.pi * v).cos()).to(torch.float32)


def random_integers(shape, low: int, high: int, seed: int, stream: int) -> torch.Tensor:
    """The upper 64 bits of the product of 64 random ones and the range, which has at most 32."""
    words = _words(shape, seed, stream)
    middle = words[0] * (high - low) + (((words[1] * (high - low)) >> 32) & _WORD)
    return (((middle >> 32) & _WORD) + low).to(torch.int32)
