"""Tiles of a kernel that runs on PyTorch."""

from __future__ import annotations

import torch


class InterpretedTile:
    """The indices begin to end - 1.

    Attributes:
        range: (begin, end).
        block_size: the most that a tile of the loop has.
        whole: the begin and end of all that is walked over: of the outer loop's, where the loop walks over its tile.
    """

    def __init__(self, begin: int, end: int, block: int, count: int, whole: tuple[int, int]):
        self.range = (begin, end)
        self.block_size = block
        self.whole = whole
        self._count = count

    @property
    def begin(self) -> torch.Tensor:
        return _bound(self.range[0], self)

    @property
    def end(self) -> torch.Tensor:
        return _bound(self.range[1], self)

    @property
    def id(self) -> torch.Tensor:
        return torch.tensor(self.range[0] // self.block_size)

    @property
    def count(self) -> torch.Tensor:
        return torch.tensor(self._count)

    @property
    def index(self) -> torch.Tensor:
        from .interpreted_blocks import block_length, note_shape

        indices = torch.arange(*self.range, dtype=torch.int32 if self.range[1] <= 2**31 else torch.int64)
        return note_shape(indices, [block_length(self)])

    def __len__(self) -> int:
        return max(self.range[1] - self.range[0], 0)

    def __index__(self) -> int:  # as a size
        return len(self)

    def __add__(self, by) -> InterpretedTile:
        by = int(by)
        return InterpretedTile(self.range[0] + by, self.range[1] + by, self.block_size, self._count, self.whole)

    __radd__ = __add__

    def __sub__(self, by) -> InterpretedTile:
        return self + -int(by)

    def __repr__(self) -> str:
        return f"<tile {self.range[0]} to {self.range[1]}>"


def _bound(value: int, tile: InterpretedTile) -> torch.Tensor:
    """A scalar that knows whose begin or end it is."""
    scalar = torch.tensor(value)
    scalar.bound_of = tile
    return scalar


class Tiles(tuple):
    """The tiles of one loop over several dimensions."""


def number(value):
    """Of Python, from it or from a scalar tensor."""
    return value.item() if isinstance(value, torch.Tensor) else value
