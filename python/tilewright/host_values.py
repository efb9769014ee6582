"""The host part while it is recorded: tensors, sizes and allocations, and which functions give the same at each call."""

from __future__ import annotations

import types

import torch

from . import _core
from .dtypes import core_dtype
from .errors import NeedsView, NotRecordable
from .values import NeedsValue, NumberArgument, Size, TensorProxy

_PURE_BUILTINS = frozenset(
    (abs, all, any, bool, dict, divmod, enumerate, filter, float, format, frozenset, int, isinstance, issubclass, len, list, map, max,
     min, pow, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, type, zip, hasattr, callable, complex, ord, chr))
_PURE_TORCH = frozenset((torch.promote_types, torch.finfo, torch.iinfo, torch.Size, torch.device, torch.is_tensor,
                         torch.can_cast, torch.get_default_dtype))


# What gives a view of a tensor's memory, and no copy.
_VIEWS = frozenset(("T", "mT", "diagonal", "expand", "expand_as", "movedim", "narrow", "permute", "select", "squeeze", "swapaxes",
                    "swapdims", "t", "transpose", "unflatten", "unfold", "unsqueeze", "view", "view_as"))


def is_pure(function) -> bool:
    """Whether a call gives the same at each call of the kernel: of Python's own functions on numbers and containers."""
    try:
        if function in _PURE_BUILTINS or function in _PURE_TORCH:
            return True
    except TypeError:
        return False
    module = getattr(function, "__module__", None)
    if module in ("math", "_operator", "operator", "_functools", "itertools"):
        return True
    if module is not None and module.startswith("tilewright."):
        return getattr(function, "is_pure", False)
    owner = getattr(function, "__self__", None)
    if isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)):
        return isinstance(owner, (str, int, float, tuple, list, dict, set, torch.dtype, torch.Size))
    if isinstance(function, type) and (issubclass(function, (tuple, BaseException)) or hasattr(function, "__dataclass_fields__")):
        return True
    return False


#
# Tensors
#


class HostTensors:
    """A part of the Reader: tensors in memory, their metadata, and new ones."""

    def tensor_attribute(self, tensor: TensorProxy, name: str):
        from .expressions import Method

        if name == "shape":
            return tuple(tensor.sizes)
        if name == "dtype":
            return tensor.dtype
        if name == "ndim":
            return tensor.rank
        if name == "device":
            return torch.device(self.device_type)
        if name in ("is_cuda", "is_cpu"):
            return name == f"is_{self.device_type}"
        if name == "itemsize":
            return tensor.dtype.itemsize
        if name in TENSOR_METHODS:
            return Method(tensor, name)
        if name in _VIEWS and self.may_make_view(self.node):
            raise NeedsView(self.node)
        if self.depth == 0:
            raise NotRecordable(f".{name} of a tensor")
        if hasattr(torch.Tensor, name):
            cure = "; or, for a view of it, make that before the loops" if name in _VIEWS else ""
            raise self.error(f"a tensor lies in memory: read it first, as in x[tile].{name}{cure}")
        raise self.error(f"a tensor has no {name}")

    def tensor_method(self, tensor: TensorProxy, name: str, args, kwargs):
        if self.depth > 0 and name.startswith("new_"):
            return self.new_value(tensor, name, *args, **kwargs)
        return TENSOR_METHODS[name](self, tensor, *args, **kwargs)

    def new_value(self, tensor: TensorProxy, name: str, *size, dtype=None, device=None, **kwargs):
        """x.new_zeros(...) in a loop: a value of x's dtype."""
        sizes = _sizes(size[:1] if name == "new_full" else size)
        value = size[1] if name == "new_full" else int(name == "new_ones")
        return self.call("full", [value], {"shape": self.shape(sizes), "dtype": core_dtype(dtype or tensor.dtype)})

    def allocate(self, sizes, dtype, device, fill=None) -> TensorProxy:
        if self.depth > 0:
            raise self.error("a tensor in memory is allocated before the tile loops; twl.zeros and twl.full make values in them")
        sizes = [self.static_int(size, "a size") for size in sizes]
        if device is not None and torch.device(device).type != self.device_type:
            raise NotRecordable("a tensor on another device")
        if self.had_loops:
            raise NotRecordable("an allocation after the loops")
        dtype = dtype or torch.get_default_dtype()
        core = _core.empty([size.symbol if isinstance(size, Size) else size for size in sizes], core_dtype(dtype),
                           location=self.location)
        if fill is not None:
            _core.fill(core, fill, location=self.location)
        like = torch.empty([int(size) for size in sizes], dtype=dtype, device="meta")
        proxy = TensorProxy(core, like, flat=None)
        self.allocated.append(proxy)
        return proxy


def _plain(reader, kwargs) -> None:
    if any(value not in (None, False, torch.strided, torch.contiguous_format, torch.preserve_format) for value in kwargs.values()):
        raise NotRecordable("an option of an allocation")


def _sizes(sizes):
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else list(sizes)


def _new(fill):
    def function(reader, *size, dtype=None, device=None, **kwargs):
        _plain(reader, kwargs)
        return reader.allocate(_sizes(size), dtype, device, fill)

    return function


def _full(reader, size, fill_value, *, dtype=None, device=None, **kwargs):
    _plain(reader, kwargs)
    value = _number(reader, fill_value)
    return reader.allocate(_sizes((size,)), dtype or reader.number_dtype(value), device, value)


def _number(reader, value):
    value = reader.on_host(value)
    if isinstance(value, NumberArgument):
        raise NeedsValue(value.index)
    if not isinstance(value, (bool, int, float)):
        raise NotRecordable("a fill with other than a number")
    return value


def _new_like(fill):
    def function(reader, input, *, dtype=None, device=None, **kwargs):
        _plain(reader, kwargs)
        return reader.allocate(_like_sizes(reader, input), dtype or input.dtype, device, fill)

    return function


def _like_sizes(reader, input) -> list:
    if not isinstance(input, TensorProxy):
        raise NotRecordable("a tensor from outside of the kernel")
    if not input.like.is_contiguous():
        raise NotRecordable("a tensor like one with strides of its own")  # whose strides PyTorch keeps
    return input.sizes


def _full_like(reader, input, fill_value, *, dtype=None, device=None, **kwargs):
    _plain(reader, kwargs)
    return reader.allocate(_like_sizes(reader, input), dtype or input.dtype, device, _number(reader, fill_value))


HOST_FUNCTIONS = {
    torch.empty: _new(None),
    torch.zeros: _new(0),
    torch.ones: _new(1),
    torch.full: _full,
    torch.empty_like: _new_like(None),
    torch.zeros_like: _new_like(0),
    torch.ones_like: _new_like(1),
    torch.full_like: _full_like,
}


def _of_tensor(fill):
    def method(reader, tensor, *size, dtype=None, device=None, **kwargs):
        _plain(reader, kwargs)
        return reader.allocate(_sizes(size), dtype or tensor.dtype, device, fill)

    return method


def _tensor_size(reader, tensor, dim=None):
    return tuple(tensor.sizes) if dim is None else tensor.sizes[dim]


def _numel(reader, tensor):
    product = 1
    for size in tensor.sizes:
        product = product * size
    return product


def _stride(reader, tensor, dim=None):
    return tensor.like.stride() if dim is None else tensor.like.stride(dim)


TENSOR_METHODS = {
    "size": _tensor_size,
    "dim": lambda reader, tensor: tensor.rank,
    "ndimension": lambda reader, tensor: tensor.rank,
    "numel": _numel,
    "nelement": _numel,
    "stride": _stride,
    "is_contiguous": lambda reader, tensor: tensor.like.is_contiguous(),
    "is_floating_point": lambda reader, tensor: tensor.dtype.is_floating_point,
    "element_size": lambda reader, tensor: tensor.dtype.itemsize,
    "new_empty": _of_tensor(None),
    "new_zeros": _of_tensor(0),
    "new_ones": _of_tensor(1),
    "new_full": lambda reader, tensor, size, fill_value, *, dtype=None, device=None: reader.allocate(
        _sizes((size,)), dtype or tensor.dtype, device, _number(reader, fill_value)),
}
