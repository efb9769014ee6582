"""The language of kernels: what stands inside of a function under ``@tilewright.kernel()``, beside PyTorch's functions.

    import tilewright.language as twl

Everything here is read, not run, when a kernel is compiled; with ``interpret=True`` it runs on PyTorch. Outside of a
kernel it raises an Error that says so. In shapes, a tile stands for as many elements as it has.
"""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, Callable, Iterator

import torch

from .errors import Error

__all__ = [
    "Tile", "arange", "associative_scan", "atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or",
    "atomic_xchg", "atomic_xor", "barrier", "constexpr", "cumprod", "cumsum", "device_print", "dot", "dot_scaled", "full",
    "grid", "inline_asm_elementwise", "inline_triton", "jagged_tile", "join", "load", "rand", "rand4x", "randint", "randn",
    "reduce", "register_block_size", "register_reduction_dim", "register_tunable", "signal", "specialize", "split",
    "stacktensor_like", "static_range", "store", "subscript", "tile", "tile_begin", "tile_block_size", "tile_count",
    "tile_end", "tile_id", "tile_index", "triton_kernel", "wait", "zeros",
]


class _Machine(threading.local):
    """Who gives the functions of this module their meaning in this thread: the reader of a kernel, or the interpreter."""

    current = None


machine = _Machine()


class LanguageFunction:
    """A function of this module. Its signature and documentation are those of the Python function it was made from."""

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.signature = inspect.signature(function)
        self.name = function.__name__

    def bind(self, args, kwargs) -> dict[str, Any]:
        """Raises TypeError for arguments that do not fit."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def __call__(self, *args, **kwargs):
        if machine.current is None:
            raise Error(f"twl.{self.name} works inside of a kernel: it belongs into a function under @tw.kernel()")
        return machine.current.language_call(self, args, kwargs)

    def __repr__(self):
        return f"<function twl.{self.name}>"


language_function = LanguageFunction


class Tile:
    """The type of a tile, for annotations of functions that take one."""


class constexpr:
    """As an annotation of a kernel's parameter: its argument is a constant of the compiled kernel, so that each value is
    compiled on its own. ``twl.constexpr(value)`` is the value."""

    def __new__(cls, value):
        return value


#
# Loops
#


@language_function
def tile(begin_or_end, end_or_none=None, /, block_size=None) -> Iterator[Tile]:
    """``for t in twl.tile(n)``, ``for a, b in twl.tile([m, n])``, ``twl.tile(begin, end)``: walks over indices in tiles,
    whose sizes the config chooses.

    The outermost loop's tiles are programs of their own, in no order; those of loops within run in order. ``block_size``
    fixes the size: a number, a registered block size, None for the config's choice, or a list of these.
    """


@language_function
def grid(begin_or_end, end_or_none=None, /, step=None) -> Iterator[int]:
    """``for i in twl.grid(n)``: one index at a time, as a scalar. Takes what tile() takes, but for blocks."""


@language_function
def static_range(begin_or_end: int, end_or_none: int | None = None, /, step: int = 1) -> Iterator[int]:
    """``range`` of constants, of which each pass is written out on its own."""


@language_function
def jagged_tile(lengths, /, block_size=None) -> Iterator[Tile]:
    """Inside of the tiles that index ``lengths``: to the longest of them, each row ending at its own length."""


@language_function
def barrier() -> None:
    """Between two outermost loops: all of the first is done before any of the second begins."""


#
# Options
#


@language_function
def register_block_size(min_or_max: int, max_or_none: int | None = None, /) -> int:
    """Before the loops: a block size of its own in the config, for dimensions of at most ``max`` elements. It serves
    several loops, and new values as a dimension. Before the loops it is an integer as well: it sizes allocations, and counts
    the tiles. ``min`` is a power of two, to which smaller values of a config are raised."""


@language_function
def register_tunable(name: str, choices) -> Any:
    """Before the loops: an option of the kernel's own in the config, one of ``choices``, whole numbers of which the first is
    the default. It is a number of Python: conditions on it are settled for each config."""


def tunable_choices(name, choices) -> list[int]:
    """Those of a call of register_tunable, the default first."""
    if not isinstance(name, str):
        raise Error(f"twl.register_tunable takes a name and its choices, found {name!r} as the name")
    choices = choices.choices() if hasattr(choices, "choices") else choices
    if not isinstance(choices, (tuple, list, range)):
        raise Error(f"twl.register_tunable takes a list of whole numbers as its choices, found {choices!r}")
    for choice in choices:
        if not isinstance(choice, int):
            raise Error(f"the choices of twl.register_tunable are whole numbers, found {choice!r}; choose with an if on one")
    return [int(choice) for choice in choices]


@language_function
def register_reduction_dim(size: int) -> int:
    """The size itself: dimensions that are reduced over have their options in the config by themselves."""


@language_function
def specialize(value):
    """The value, as a constant of the compiled kernel: each one is compiled on its own."""


#
# New values
#


@language_function
def zeros(shape, dtype=torch.float32, device=None):
    """Zeros in a shape of tiles and numbers, as in ``twl.zeros([tile_m, 64])``."""


@language_function
def full(shape, value, dtype=torch.float32, device=None):
    """One number or scalar everywhere."""


@language_function
def arange(*args, dtype=None, device=None, step: int = 1):
    """``arange(end)``, ``arange(begin, end)``: whole numbers along a new dimension; int64 by default."""


@language_function
def rand(shape, seed, device=None):
    """Uniform in [0, 1), float32. The same for every config: the numbers depend on the seed and on where in the loops'
    range an element is."""


@language_function
def randn(shape, seed, device=None):
    """Of the standard normal distribution, float32."""


@language_function
def rand4x(shape, seed, device=None):
    """Four values of rand() for the price of one."""


@language_function
def randint(shape, low: int, high: int, seed, device=None):
    """Whole numbers in [low, high), int32."""


#
# Memory
#


@language_function
def load(tensor, index, extra_mask=None, eviction_policy=None):
    """``tensor[index]``. Where ``extra_mask`` is false nothing is read, and the value is 0. ``eviction_policy``: None,
    "first" or "last"."""


@language_function
def store(tensor, index, value, extra_mask=None, eviction_policy=None) -> None:
    """``tensor[index] = value``. Where ``extra_mask`` is false nothing is written."""


@language_function
def subscript(tensor, index):
    """``tensor[index]`` of a value on the device: ``:``, None and ``...``."""


@language_function
def atomic_add(target, index, value, sem: str = "relaxed"):
    """Adds to memory at once, and gives what was there before. ``sem``: relaxed, acquire, release or acq_rel."""


@language_function
def atomic_and(target, index, value, sem: str = "relaxed"):
    """Bitwise and in memory at once, and gives what was there before."""


@language_function
def atomic_or(target, index, value, sem: str = "relaxed"):
    """Bitwise or in memory at once, and gives what was there before."""


@language_function
def atomic_xor(target, index, value, sem: str = "relaxed"):
    """Bitwise exclusive or in memory at once, and gives what was there before."""


@language_function
def atomic_xchg(target, index, value, sem: str = "relaxed"):
    """Writes, and gives what was there before."""


@language_function
def atomic_max(target, index, value, sem: str = "relaxed"):
    """The larger in memory at once, and gives what was there before."""


@language_function
def atomic_min(target, index, value, sem: str = "relaxed"):
    """The smaller in memory at once, and gives what was there before."""


@language_function
def atomic_cas(target, index, expected, value, sem: str = "relaxed"):
    """Writes ``value`` where ``expected`` is found, and gives what was there before."""


#
# Operations that PyTorch has not, or not like this
#


@language_function
def dot(a, b, acc=None, out_dtype=None):
    """``a @ b``, of rank 2 or 3, added up in float32 (float64 for float64, int32 for int8) and given so. With ``acc``:
    ``acc + a @ b`` in acc's dtype."""


@language_function
def dot_scaled(a, a_scale, a_format, b, b_scale, b_format, acc=None, out_dtype=None):
    """A matrix product of operands in narrow floating-point formats with scales for groups of elements."""


@language_function
def reduce(combine_fn: Callable, input_tensor, dim: int | None = None, other=0, keep_dims: bool = False):
    """Combines along a dimension, or all, by a function of two scalars; of a tuple of tensors, by one of two tuples or of
    all their scalars. ``other`` stands where there is no element."""


@language_function
def associative_scan(combine_fn: Callable, input_tensor, dim: int, reverse: bool = False):
    """What reduce() has combined so far, at each element."""


@language_function
def cumsum(input_tensor, dim: int, reverse: bool = False):
    """The running sum."""


@language_function
def cumprod(input_tensor, dim: int, reverse: bool = False):
    """The running product."""


@language_function
def join(a, b):
    """Two values side by side along a new last dimension."""


@language_function
def split(tensor):
    """The two halves of a last dimension of 2."""


@language_function
def device_print(prefix: str, *values) -> None:
    """Prints each element when the kernel runs."""


#
# Tiles
#


@language_function
def tile_index(tile):
    """``tile.index``: the indices."""


@language_function
def tile_begin(tile):
    """``tile.begin``: the first index."""


@language_function
def tile_end(tile):
    """``tile.end``: one past the last index that exists."""


@language_function
def tile_id(tile):
    """``tile.id``: the tile's number, ``begin // block_size``."""


@language_function
def tile_count(tile):
    """``tile.count``: the number of tiles in the loop."""


@language_function
def tile_block_size(tile):
    """``tile.block_size``: the most elements a tile of the loop has."""


#
# Not there: each is refused by name where a kernel calls it
#


@language_function
def inline_asm_elementwise(asm, constraints, args, dtype, is_pure=True, pack=1):
    """Machine code per element; no backend of this version takes it."""


@language_function
def inline_triton(triton_source, args, output_like):
    """Triton code; no backend of this version takes it."""


@language_function
def triton_kernel(*args, **kwargs):
    """A function of Triton; no backend of this version takes it."""


@language_function
def signal(*args, **kwargs):
    """Signals to another program; programs of one loop have no order, use barrier() between two loops."""


@language_function
def wait(*args, **kwargs):
    """Waits for another program; programs of one loop have no order, use barrier() between two loops."""


@language_function
def stacktensor_like(*args, **kwargs):
    """Tensors by their addresses; pass them as a list or a tuple and loop over it."""
