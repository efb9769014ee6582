"""What stands for sizes, tensors, tiles and device values while a kernel is read.

Device values compute through the reader of the kernel, so that they also work where plain Python code meets them: in
sum() over a list of them, in functools.reduce, in a user's class.
"""

from __future__ import annotations

import torch

from . import _core
from .dtypes import torch_dtype
from .language import machine


class Size(int):
    """A size of a tensor, or what +, - and * made of sizes: a plain int that knows how it depends on the arguments."""

    symbol: _core.Size

    def __new__(cls, symbol: _core.Size):
        size = super().__new__(cls, symbol.value)
        size.symbol = symbol
        return size

    def __reduce__(self):
        return int, (int(self),)


def size_of(symbol: _core.Size) -> int:
    return Size(symbol) if symbol.is_symbolic else symbol.value


def _size_operator(name: str):
    plain = getattr(int, name)

    def method(self, other):
        if isinstance(other, int) and not isinstance(other, bool):
            return size_of(getattr(self.symbol, name)(other.symbol if isinstance(other, Size) else int(other)))
        return plain(self, other)

    return method


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__"):
    setattr(Size, _name, _size_operator(_name))


class DeviceValue:
    """A value on the device: a tensor of a tile's shape, or a scalar."""

    __slots__ = ("core",)

    def __init__(self, core: _core.Value):
        self.core = core

    def __bool__(self):
        raise current_reader().error("a value on the device has no truth while the kernel is read; here only constants and "
                                     "sizes can be decided on: use torch.where, or an if statement on a scalar")

    def __iter__(self):
        raise current_reader().error("a value on the device cannot be iterated over or unpacked; torch.split and indexing of "
                                     "tensors give its parts")

    def __index__(self):
        raise current_reader().error("a value on the device cannot be used as a number of Python here, because it is not known "
                                     "before the kernel runs")

    __int__ = __float__ = __len__ = __index__

    def __repr__(self):
        return f"<{self.core.dtype} value of rank {self.core.rank} on the device>"

    __hash__ = object.__hash__


class BlockSize(DeviceValue):
    """A number of elements that the config chooses: of register_block_size(), or a tile's."""

    __slots__ = ()


class RegisteredBlockSize(BlockSize):
    """What register_block_size() gives. Before the loops it is an integer as well, the config's: a kernel that uses it as one
    is read for each number that is tried."""

    __slots__ = ()

    def __index__(self):
        return current_reader().host_number(self)

    __int__ = __index__

    def __float__(self):
        return float(self.__index__())

    __hash__ = object.__hash__


class RunTimeNumber(DeviceValue):
    """A number of Python that is known at run time only: an argument, or computed of arguments and constants alone."""

    __slots__ = ()


class NumberArgument(RunTimeNumber):
    """An argument that is a number of Python: known at run time only, unless the kernel needs to know it before.

    `index` is the parameter's place, `flat` the place among the flat arguments (see arguments.py).
    """

    __slots__ = ("index", "flat")

    def __init__(self, core: _core.Value, index: int, flat: int):
        super().__init__(core)
        self.index = index
        self.flat = flat

    def __bool__(self):
        raise NeedsValue(self.index)

    __index__ = __int__ = __float__ = __bool__
    __hash__ = object.__hash__


class NeedsValue(Exception):
    """A number among the arguments has to be known while the kernel is read: it becomes a constant, compiled by value."""

    def __init__(self, index: int):
        super().__init__(index)
        self.index = index


def current_reader():
    return machine.current


_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder",
    "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift", "matmul": "matmul",
}
_COMPARISONS = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


def _binary(operation: str, swap: bool):
    def method(self, other):
        return current_reader().operator(operation, *((other, self) if swap else (self, other)))

    return method


for _name, _operation in _OPERATORS.items():
    setattr(DeviceValue, f"__{_name}__", _binary(_operation, False))
    setattr(DeviceValue, f"__r{_name}__", _binary(_operation, True))
for _name, _operation in _COMPARISONS.items():
    setattr(DeviceValue, f"__{_name}__", _binary(_operation, False))
DeviceValue.__neg__ = lambda self: current_reader().operator("neg", self)
DeviceValue.__pos__ = lambda self: self
DeviceValue.__invert__ = lambda self: current_reader().operator("bitwise_not", self)
DeviceValue.__abs__ = lambda self: current_reader().operator("abs", self)
DeviceValue.__getitem__ = lambda self, index: current_reader().subscript(self, index)


class TensorProxy:
    """A tensor in memory, on the host: an argument, or one that the kernel allocates.

    Attributes:
        core: what the recording knows it by.
        like: a tensor without data of its dtype, sizes and strides.
        flat: the place of an argument among the flat ones; None for what the kernel allocates.
    """

    def __init__(self, core: _core.Tensor, like: torch.Tensor, flat: int | None):
        self.core = core
        self.like = like
        self.flat = flat

    @property
    def sizes(self) -> list[int]:
        return [size_of(size) for size in self.core.sizes]

    @property
    def dtype(self) -> torch.dtype:
        return torch_dtype(self.core.dtype)

    @property
    def rank(self) -> int:
        return self.core.rank

    def __repr__(self):
        return f"<tensor of {list(map(int, self.sizes))}, {self.dtype}>"


class TileProxy:
    """The indices that one pass of a tile loop has of a dimension."""

    __slots__ = ("core",)

    def __init__(self, core: _core.Tile):
        self.core = core

    def __add__(self, other):
        return current_reader().shift(self, other, back=False)

    __radd__ = __add__

    def __sub__(self, other):
        return current_reader().shift(self, other, back=True)

    def __repr__(self):
        return "<tile>"

    def _refused(self, *_):
        raise current_reader().error("a tile is a range of indices, not a number: tile.index has its indices, tile.begin and "
                                     "tile.end its bounds")

    __bool__ = __int__ = __float__ = __index__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = _refused
    __mod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = __rsub__ = __iter__ = __len__ = _refused


class LoopVariables(tuple):
    """The tiles of one loop over several dimensions, which may be used as one subscript."""
