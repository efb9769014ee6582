"""Device work: operands, shapes and subscripts as the core takes them, and its results as values."""

from __future__ import annotations

import torch

from . import _core
from .dtypes import core_dtype, torch_dtype
from .errors import KernelError
from .values import (
    BlockSize,
    DeviceValue,
    LoopVariables,
    NeedsValue,
    NumberArgument,
    RegisteredBlockSize,
    RunTimeNumber,
    Size,
    TensorProxy,
    TileProxy,
    size_of,
)


class Device:
    """A part of the Reader: what it records on the device. All of it is at the expression that is being read."""

    def error(self, message: str) -> KernelError:
        return KernelError.at(self.frame.source, self.node, message)

    @property
    def location(self) -> _core.Location:
        return _core.Location(self.frame.source.filename, self.node.lineno, self.node.col_offset + 1)

    #
    # Values
    #

    def wrap(self, result):
        if isinstance(result, _core.Value):
            return DeviceValue(result)
        if isinstance(result, (list, tuple)):
            return tuple(self.wrap(part) for part in result)
        return result

    def operand(self, value):
        """A device value or a number, for the core."""
        if isinstance(value, DeviceValue):
            return value.core
        if isinstance(value, Size):
            return value.symbol
        if isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, TensorProxy):
            if value.rank == 0 and self.depth > 0:
                return _core.load(value.core, [], location=self.location)
            raise self.error("a tensor lies in memory: it is read in a tile loop by a subscript, as in x[tile]")
        if isinstance(value, (TileProxy, LoopVariables)):
            raise self.error("a tile is a range of indices, not a number: tile.index has its indices, tile.begin and "
                             "tile.end its bounds")
        if isinstance(value, torch.Tensor) and value.ndim == 0:
            raise self.error("a tensor of PyTorch is read here that is no argument of the kernel; pass it as one")
        if value is None:
            raise self.error("None is used as a value; an argument that may be None is tested before: if bias is not None:")
        if hasattr(value, "__float__") and not isinstance(value, torch.Tensor):  # numbers of numpy, fractions
            return int(value) if hasattr(value, "__index__") else float(value)
        raise self.error(f"a value on the device or a number belongs here, found {_described(value)}")

    def call(self, name: str, operands, parameters=None):
        """An operation of the core by name."""
        if self.depth == 0:
            self.not_on_host(operands, name)
        result = self.wrap(_core.call(name, [self.operand(o) for o in operands],
                                      {key: self.parameter(value) for key, value in (parameters or {}).items()},
                                      location=self.location))
        if not parameters and isinstance(result, DeviceValue) and _are_numbers(operands):
            return RunTimeNumber(result.core)
        return result

    def parameter(self, value):
        return self.operand(value) if isinstance(value, (DeviceValue, Size)) else value

    def not_on_host(self, operands, name):
        for operand in operands:
            if isinstance(operand, NumberArgument):
                raise NeedsValue(operand.index)
        raise self.error(f"{name} is work on the device: it belongs into a tile loop, as in for tile in twl.tile(n):")

    def operator(self, name: str, *operands):
        """For the operators of values that plain Python code meets."""
        return self.call(name, operands)

    def dtype_name(self, value) -> str:
        return value.core.dtype if isinstance(value, (DeviceValue, TensorProxy)) else core_dtype(self.number_dtype(value))

    def dtype_of(self, value) -> torch.dtype:
        return torch_dtype(self.dtype_name(value))

    def number_dtype(self, number) -> torch.dtype:
        if isinstance(number, DeviceValue):
            return self.dtype_of(number)
        return torch.bool if isinstance(number, bool) else torch.int64 if isinstance(number, int) else torch.float32

    def is_tensor_proxy(self, value) -> bool:
        return isinstance(value, TensorProxy)

    def extremum(self, name: str, a, b):
        """Python's max or min of two."""
        return self.call(name, [a, b])

    def to_int(self, value):
        return value if isinstance(value, BlockSize) else self.call("to", [value], {"dtype": "int64"})

    def bit_view(self, value, dtype: torch.dtype):
        return self.call("view_bits", [value], {"dtype": core_dtype(dtype)})

    def arange(self, bounds, step, dtype):
        for bound in bounds:
            if isinstance(bound, NumberArgument):
                raise NeedsValue(bound.index)
        step = self.static_int(step, "the step of arange")
        if any(isinstance(bound, float) for bound in bounds):
            raise self.error("arange takes whole numbers here; scale its result for others")
        if step != 1:
            begin, end = bounds if len(bounds) == 2 else (0, bounds[0])
            count = max(-((self.static_int(begin, "the begin of arange") - self.static_int(end, "the end of arange")) // step), 0)
            numbers = self.call("arange", [count], {"dtype": core_dtype(dtype or torch.int64)})
            return self.call("add", [self.call("mul", [numbers, step]), begin])
        if len(bounds) == 2 and isinstance(bounds[0], DeviceValue) and not isinstance(bounds[0], BlockSize):
            length = self.length_between(*self.node.args[:2]) if len(getattr(self.node, "args", [])) >= 2 else None
            if length is not None:  # arange(b, b + n)
                numbers = self.call("arange", [length], {"dtype": core_dtype(dtype or torch.int64)})
                return self.call("add", [numbers, bounds[0]])
        return self.call("arange", bounds, {"dtype": core_dtype(dtype or torch.int64)})

    #
    # Numbers that must be known
    #

    def host_number(self, block: RegisteredBlockSize) -> int:
        """What the config says of it."""
        return _core.host_number(block.core, location=self.location)

    def on_host(self, value):
        """Before the loops, the numbers in a value that the config says as the integers that they are there."""
        if self.depth > 0:
            return value
        if isinstance(value, RegisteredBlockSize):
            return self.host_number(value)
        if type(value) in (tuple, list) and any(isinstance(part, (RegisteredBlockSize, tuple, list)) for part in value):
            return type(value)(map(self.on_host, value))
        return value

    def static_int(self, value, what: str) -> int:
        if isinstance(value, NumberArgument):
            raise NeedsValue(value.index)
        if isinstance(value, RegisteredBlockSize):
            return self.host_number(value)
        if isinstance(value, bool) or not isinstance(value, int):
            if isinstance(value, DeviceValue):
                raise self.error(f"{what} must be known while the kernel is read: a number, or a size")
            if hasattr(value, "__index__"):
                return value.__index__()
            raise self.error(f"{what} must be a whole number, found {_described(value)}")
        return value

    #
    # Shapes and subscripts
    #

    def shape(self, sizes) -> list:
        """The dimensions of a new value, from tiles and numbers."""
        if isinstance(sizes, (TileProxy, DeviceValue, int)):
            sizes = [sizes]
        dims = []
        for size in sizes:
            if isinstance(size, LoopVariables):
                dims += [tile.core for tile in size]
            elif isinstance(size, TileProxy):
                dims.append(size.core)
            elif isinstance(size, NumberArgument):
                raise NeedsValue(size.index)
            elif isinstance(size, DeviceValue):
                dims.append(size.core)
            elif isinstance(size, Size):
                dims.append(size.symbol)
            else:
                dims.append(self.static_int(size, "a size"))
        return dims

    def value_shape(self, value) -> tuple:
        if isinstance(value, TensorProxy):
            return tuple(value.sizes)
        return tuple(BlockSize(dim) if isinstance(dim, _core.Value) else size_of(dim) if isinstance(dim, _core.Size) else dim
                     for dim in value.core.shape)

    def subscripts(self, index, tensor: TensorProxy | None = None) -> list:
        """As the core takes them, from what stands in the brackets of a tensor in memory, or of a value."""
        if isinstance(index, LoopVariables) or not isinstance(index, (tuple, list)):
            index = [index]
        if tensor is not None and any(isinstance(part, RunTimeNumber) for part in index):
            index = self.counted_from_the_end(index, tensor)
        return [self.one_subscript(part) for part in index]

    def counted_from_the_end(self, index, tensor: TensorProxy) -> list:
        """With numbers that may be negative at run time as Python reads them. What the device computes is never so."""
        taken = sum(map(_dims_taken, index))
        dim, parts = 0, []
        for part in index:
            if isinstance(part, RunTimeNumber) and dim < tensor.rank:
                from_end = self.call("add", [part, tensor.sizes[dim]])
                part = self.call("where", [self.call("lt", [part, 0]), from_end, part])
            parts.append(part)
            dim += tensor.rank - taken if part is Ellipsis else _dims_taken(part)
        return parts

    def one_subscript(self, part):
        if isinstance(part, LoopVariables):
            return tuple(tile.core for tile in part)
        if isinstance(part, tuple) and part and all(isinstance(tile, TileProxy) for tile in part):
            return tuple(tile.core for tile in part)
        if isinstance(part, TileProxy):
            return part.core
        if isinstance(part, slice):
            return slice(*(self.slice_bound(bound) for bound in (part.start, part.stop, part.step)))
        if part is None or part is Ellipsis or isinstance(part, _core.SliceFrom):
            return part
        if isinstance(part, bool):
            raise self.error("a subscript is a tile, a whole number, a tensor of them, :, ... or None, found a bool")
        if isinstance(part, float):
            raise self.error("a subscript is a tile or a whole number, not a fraction")
        return self.operand(part)

    def slice_bound(self, bound):
        if bound is None:
            return None
        if isinstance(bound, DeviceValue) and not isinstance(bound, NumberArgument):
            return bound.core
        if isinstance(bound, Size):
            return bound.symbol
        return self.static_int(bound, "a bound of a slice")

    def subscript(self, value, index):
        """value[index] of a value on the device or a tensor in memory."""
        subscripts = self.subscripts(index, value if isinstance(value, TensorProxy) else None)
        if isinstance(value, TensorProxy):
            return self.wrap(_core.load(value.core, subscripts, location=self.location))
        return self.wrap(_core.subscript(value.core, subscripts, location=self.location))

    def store(self, tensor: TensorProxy, index, value) -> None:
        _core.store(tensor.core, self.subscripts(index, tensor), self.operand(value), location=self.location)

    def shift(self, tile: TileProxy, by, back: bool) -> TileProxy:
        if isinstance(by, DeviceValue) and by.core.rank > 0:
            raise self.error("a tile is a range of indices: tile + 1 moves it, and tile.index has its indices as a value, for arithmetic "
                             "with other values")
        return TileProxy(_core.shift_tile(tile.core, self.operand(by), back=back, location=self.location))


def _are_numbers(operands) -> bool:
    """Whether they are all numbers of Python, and not all are known."""
    return (all(isinstance(operand, (RunTimeNumber, bool, int, float)) for operand in operands)
            and any(isinstance(operand, RunTimeNumber) for operand in operands))


def _dims_taken(part) -> int:
    """How many dimensions of a tensor a subscript is for; `...`, which is for all others, counts as none."""
    if part is None or part is Ellipsis:
        return 0
    return len(part) if isinstance(part, tuple) else 1


def _described(value) -> str:
    if isinstance(value, torch.Tensor):
        return "a tensor of PyTorch"
    if isinstance(value, (str, bytes)):
        return f"{value!r}"
    if type(value).__name__ == "LoopSpec":
        return "a loop, which a for statement walks over"
    return f"a {type(value).__name__}"
