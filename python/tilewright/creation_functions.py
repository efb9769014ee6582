"""New values, conversions and metadata."""

from __future__ import annotations

import functools
import operator

import torch

from .dtypes import core_dtype
from .function_table import FUNCTIONS, METHODS, converted, device, register, unpacked
from .values import DeviceValue


def _dtype_parameter(dtype):
    return {} if dtype is None else {"dtype": core_dtype(dtype)}


def _filled(value: int):
    def function(reader, *size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
        return reader.call("full", [value], {"shape": reader.shape(unpacked(size)), "dtype": core_dtype(dtype or torch.float32)})

    return function


register(_filled(0), "zeros empty", method=False, creation=True)
register(_filled(1), "ones", method=False, creation=True)


@device("full", method=False, creation=True)
def _full(reader, size, fill_value, *, dtype=None, device=None, layout=None, requires_grad=False):
    if dtype is None:
        dtype = reader.number_dtype(fill_value)
    return reader.call("full", [fill_value], {"shape": reader.shape(size), "dtype": core_dtype(dtype)})


def _filled_like(name: str):
    def function(reader, input, *, dtype=None, device=None, layout=None, requires_grad=False, memory_format=None):
        return reader.call(name, [input], _dtype_parameter(dtype))

    return function


register(_filled_like("zeros_like"), "zeros_like empty_like", method=False)
register(_filled_like("ones_like"), "ones_like", method=False)


@device("full_like", method=False)
def _full_like(reader, input, fill_value, *, dtype=None, device=None, layout=None, requires_grad=False):
    return reader.call("full_like", [converted(reader, input, dtype), fill_value])


def _new(name: str):
    def function(reader, input, *size, dtype=None, device=None, layout=None, requires_grad=False):
        return reader.call(name, [converted(reader, input, dtype)], {"shape": reader.shape(unpacked(size))})

    return function


for _name in ("new_zeros", "new_ones", "new_empty"):
    METHODS[_name] = _new(_name)
METHODS["new_full"] = lambda reader, input, size, fill_value, *, dtype=None, device=None: reader.call(
    "new_full", [converted(reader, input, dtype), fill_value], {"shape": reader.shape(size)})


@device("arange", method=False, creation=True)
def _arange(reader, *bounds, dtype=None, device=None, layout=None, requires_grad=False, step=1, start=None, end=None):
    bounds = list(bounds) + [bound for bound in (start, end) if bound is not None]
    if len(bounds) == 3:
        step = bounds.pop()
    return reader.arange(bounds, step, dtype)


@device("tensor scalar_tensor as_tensor", method=False, creation=True)
def _tensor(reader, data, *, dtype=None, device=None, requires_grad=False):
    if isinstance(data, DeviceValue):
        return converted(reader, data, dtype)
    if not isinstance(data, (bool, int, float)):
        raise reader.error("torch.tensor makes a scalar of a number here; pass other data to the kernel as a tensor")
    return reader.call("full", [data], {"shape": [], "dtype": core_dtype(dtype or reader.number_dtype(data))})


@device("rand randn randint rand_like randn_like randint_like bernoulli multinomial normal uniform_ randperm", creation=True)
def _random(reader, *args, **kwargs):
    raise reader.error("PyTorch's random numbers have no seed of their own in a kernel: use twl.rand(shape, seed), twl.randn or "
                       "twl.randint")


#
# Dtypes and copies
#

_CONVERSIONS = {"float": torch.float32, "double": torch.float64, "half": torch.float16, "bfloat16": torch.bfloat16,
                "int": torch.int32, "long": torch.int64, "short": torch.int16, "char": torch.int8, "byte": torch.uint8,
                "bool": torch.bool}
for _name, _dtype in _CONVERSIONS.items():
    METHODS[_name] = functools.partial(lambda dtype, reader, input, memory_format=None: converted(reader, input, dtype), _dtype)


@device("to", method=True)
def _to(reader, input, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    for argument in args:
        if isinstance(argument, torch.dtype):
            dtype = argument
        elif isinstance(argument, DeviceValue):
            dtype = reader.dtype_of(argument)
        elif reader.is_tensor_proxy(argument):
            dtype = argument.dtype
    return converted(reader, input, dtype)


@device("type")
def _type(reader, input, dtype=None):
    return reader.dtype_of(input) if dtype is None else converted(reader, input, dtype)


METHODS["type_as"] = lambda reader, input, other: converted(reader, input, reader.dtype_of(other))
for _name in ("contiguous", "clone", "detach", "cpu", "data"):
    METHODS[_name] = lambda reader, input, *args, **kwargs: input
FUNCTIONS[torch.clone] = METHODS["clone"]
METHODS["dim"] = METHODS["ndimension"] = lambda reader, input: input.core.rank
METHODS["is_floating_point"] = lambda reader, input: reader.dtype_of(input).is_floating_point
FUNCTIONS[torch.is_floating_point] = METHODS["is_floating_point"]
METHODS["element_size"] = lambda reader, input: reader.dtype_of(input).itemsize


def _size(reader, input, dim=None):
    shape = reader.value_shape(input)
    return shape if dim is None else shape[dim]


METHODS["size"] = _size


@device("numel")
def _numel(reader, input):
    return functools.reduce(operator.mul, reader.value_shape(input), 1)


@device("item tolist numpy", method=True)
def _item(reader, input):
    if input.core.rank == 0:
        return input
    raise reader.error("the elements of a value are not known while the kernel is read; a scalar is used as it is, without .item()")
