"""Functions of PyTorch, of math, operator and Python itself, and methods of tensors, as a kernel uses them on the device.

Each takes the arguments that its namesake takes and hands them to an operation of the core by name. The rules of dtypes
and shapes are the core's.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
from typing import Callable

import torch
import torch.nn.functional as F

from . import _core
from .dtypes import core_dtype
from .values import DeviceValue, LoopVariables

# By the callable itself, and by a method's name. They take the reader of the kernel first.
FUNCTIONS: dict[Callable, Callable] = {}
METHODS: dict[str, Callable] = {}
# Those that make new values, so that they are the device's in a loop whatever they are called with.
CREATIONS: set[Callable] = set()

_MODULES = (torch, F, torch.special, torch.linalg, math)


def _register(function: Callable, names: str, *callables, method: bool = True, creation: bool = False) -> None:
    for name in names.split():
        for module in _MODULES:
            if found := getattr(module, name, None):
                if callable(found) and not isinstance(found, type):
                    FUNCTIONS[found] = function
                    if creation:
                        CREATIONS.add(found)
        if method and hasattr(torch.Tensor, name):
            METHODS[name] = function
            FUNCTIONS[getattr(torch.Tensor, name)] = function  # torch.Tensor.exp(x)
    for found in callables:
        FUNCTIONS[found] = function


def _device(names: str, *callables, method: bool = True, creation: bool = False):
    def decorate(function):
        _register(function, names, *callables, method=method, creation=creation)
        return function

    return decorate


#
# Pointwise operations, from the registry
#

_OPERAND_NAMES = {
    "lerp": ("input", "end", "weight"),
    "addcmul": ("input", "tensor1", "tensor2"),
    "addcdiv": ("input", "tensor1", "tensor2"),
    "pow": ("input", "exponent"),
    "heaviside": ("input", "values"),
    "clamp_min": ("input", "min"),
    "clamp_max": ("input", "max"),
    "copysign": ("input", "other"),
}
_ALIASES = {
    "abs": "absolute fabs",
    "neg": "negative",
    "mul": "multiply",
    "sub": "subtract",
    "div": "divide",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "sigmoid": "expit",
    "trunc": "fix",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "ne": "not_equal",
    "lgamma": "gammaln",
    "fmin": "",
}


def _pointwise(operation: _core.Operation) -> Callable:
    names = _OPERAND_NAMES.get(operation.name, ("input", "other", "third")[: operation.operands])
    parameter_names = [name for name, _ in operation.parameters]
    kinds = inspect.Parameter
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in names]
    parameters += [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=None) for name in parameter_names]
    if not parameter_names:
        parameters.append(kinds("inplace", kinds.POSITIONAL_OR_KEYWORD, default=False))
    else:
        parameters.append(kinds("inplace", kinds.KEYWORD_ONLY, default=False))
    signature = inspect.Signature(parameters)

    def function(reader, *args, **kwargs):
        if len(names) == 1 and not args and "x" in kwargs:
            kwargs["input"] = kwargs.pop("x")
        given = signature.bind(*args, **kwargs).arguments
        operands = [given[name] for name in names]
        return reader.call(operation.name, operands, {name: given[name] for name in parameter_names if name in given})

    function.__name__ = operation.name
    return function


for _operation in _core.operations():
    if _operation.is_pointwise:
        _register(_pointwise(_operation), f"{_operation.name} {_ALIASES.get(_operation.name, '')}")


def _scaled(name: str):
    def function(reader, input, other, *, alpha=1):
        if not (isinstance(alpha, int) and alpha == 1):
            other = reader.call("mul", [other, alpha])
        return reader.call(name, [input, other])

    return function


_register(_scaled("add"), "add")
_register(_scaled("sub"), "sub subtract")


@_device("div divide true_divide")
def _div(reader, input, other, *, rounding_mode=None):
    name = {None: "div", "floor": "div_floor", "trunc": "div_trunc"}.get(rounding_mode)
    if name is None:
        raise reader.error(f'rounding_mode is None, "floor" or "trunc", found {rounding_mode!r}')
    return reader.call(name, [input, other])


@_device("clamp clip")
def _clamp(reader, input, min=None, max=None):
    if min is None and max is None:
        raise reader.error("clamp needs min, max or both")
    if min is None:
        return reader.call("clamp_max", [input, max])
    if max is None:
        return reader.call("clamp_min", [input, min])
    return reader.call("clamp", [input, min, max])


@_device("nan_to_num")
def _nan_to_num(reader, input, nan=None, posinf=None, neginf=None):
    if nan is None and posinf is None and neginf is None:
        return reader.call("nan_to_num", [input])
    dtype = reader.dtype_of(input)
    if not dtype.is_floating_point:
        return input
    info = torch.finfo(dtype)
    return reader.call("nan_to_num_as", [input], {"nan": 0.0 if nan is None else nan, "posinf": info.max if posinf is None else posinf,
                                                  "neginf": info.min if neginf is None else neginf})


@_device("gelu")
def _gelu(reader, input, *, approximate="none"):
    return reader.call({"none": "gelu", "tanh": "gelu_tanh"}[approximate], [input])


@_device("logit")
def _logit(reader, input, eps=None):
    return reader.call("logit", [input], {} if eps is None else {"eps": eps})


@_device("round")
def _round(reader, input, *, decimals=0):
    if decimals == 0:
        return reader.call("round", [input])
    scale = 10.0**decimals
    return reader.call("div", [reader.call("round", [reader.call("mul", [input, scale])]), scale])


@_device("where")
def _where(reader, condition, input, other):
    return reader.call("where", [condition, input, other])


METHODS["where"] = lambda reader, input, condition, other: _where(reader, condition, input, other)


@_device("masked_fill")
def _masked_fill(reader, input, mask, value):
    return reader.call("to", [reader.call("where", [mask, value, input])], {"dtype": reader.dtype_name(input)})


@_device("hardtanh")
def _hardtanh(reader, input, min_val=-1.0, max_val=1.0, inplace=False):
    return reader.call("hardtanh", [input], {"min_val": min_val, "max_val": max_val})


@_device("glu")
def _glu(reader, input, dim=-1):
    a, b = reader.call("chunk", [input], {"count": 2, "dim": dim})
    return reader.call("mul", [a, reader.call("sigmoid", [b])])


@_device("dropout")
def _dropout(reader, input, p=0.5, training=True, inplace=False):
    if training and p != 0:
        raise reader.error("dropout has no seed here: compare twl.rand(shape, seed) with p and scale by 1 / (1 - p)")
    return input


#
# Reductions and scans
#


def _converted(reader, input, dtype):
    return input if dtype is None else reader.call("to", [input], {"dtype": core_dtype(dtype)})


def _dims(dim):
    if dim is None:
        return None
    return [int(d) for d in dim] if isinstance(dim, (tuple, list)) else [int(dim)]


def _reduction(name: str):
    def function(reader, input, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=False):
        dims = _dims(axis if dim is None else dim)
        return reader.call(name, [_converted(reader, input, dtype)], {"dims": dims, "keepdim": keepdim or keepdims})

    function.__name__ = name
    return function


for _name in ("sum", "mean", "prod", "amax", "amin", "any", "all", "count_nonzero", "logsumexp"):
    _register(_reduction(_name), _name)


def _spread(name: str):
    def function(reader, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        return reader.call(name, [input], {"dims": _dims(dim), "correction": correction, "keepdim": keepdim})

    return function


for _name in ("var", "std", "var_mean"):
    _register(_spread(_name), _name)


def _extremum(name: str):
    def function(reader, input, dim=None, keepdim=False, *, other=None):
        other = dim if isinstance(dim, DeviceValue) or isinstance(dim, float) else other
        if other is not None:
            return reader.call("maximum" if name == "max" else "minimum", [input, other])
        if dim is None:
            return reader.call(name, [input])
        values, indices = reader.call(name, [input], {"dim": int(dim), "keepdim": keepdim})
        return _Extremum(values, indices)

    return function


class _Extremum(tuple):
    """(values, indices), as torch.max gives them."""

    def __new__(cls, values, indices):
        return super().__new__(cls, (values, indices))

    values = property(operator.itemgetter(0))
    indices = property(operator.itemgetter(1))


for _name in ("max", "min"):
    _register(_extremum(_name), _name)


def _position(name: str):
    def function(reader, input, dim=None, keepdim=False):
        return reader.call(name, [input], {"dim": None if dim is None else int(dim), "keepdim": keepdim})

    return function


for _name in ("argmax", "argmin"):
    _register(_position(_name), _name)


@_device("norm", torch.linalg.vector_norm)
def _norm(reader, input, p=2, dim=None, keepdim=False, *, ord=None, dtype=None):
    p = ord if ord is not None else p
    if p is None or p == "fro":
        p = 2
    return reader.call("norm", [_converted(reader, input, dtype)], {"p": p, "dims": _dims(dim), "keepdim": keepdim})


def _along(name: str):
    def function(reader, input, dim=None, _stacklevel=3, dtype=None, *, axis=None):
        if dim is None and axis is None:
            raise reader.error(f"{name} needs a dimension: dim=-1 is the last one")
        return reader.call(name, [_converted(reader, input, dtype)], {"dim": int(axis if dim is None else dim)})

    return function


for _name in ("softmax", "log_softmax", "cumsum", "cumprod"):
    _register(_along(_name), _name)


def _running(name: str):
    def function(reader, input, dim):
        return _Extremum(*reader.call(name, [input], {"dim": int(dim)}))

    return function


for _name in ("cummax", "cummin"):
    _register(_running(_name), _name)


#
# Matrix products
#


def _product(name: str):
    def function(reader, input, mat2, out_dtype=None):
        if out_dtype is not None:
            return _converted(reader, reader.call("dot", [input, mat2]), out_dtype)
        return reader.call(name, [input, mat2])

    return function


for _name in ("matmul", "mm", "bmm"):
    _register(_product(_name), _name)
FUNCTIONS[operator.matmul] = FUNCTIONS[torch.matmul]


def _added_product(name: str):
    def function(reader, input, mat1, mat2, *, beta=1, alpha=1, out_dtype=None):
        if alpha != 1 or beta != 1:
            product = reader.call("matmul", [mat1, mat2])
            scaled = product if alpha == 1 else reader.call("mul", [product, alpha])
            added = input if beta == 1 else reader.call("mul", [input, beta])
            return reader.call("add", [added, scaled])
        return _converted(reader, reader.call(name, [input, mat1, mat2]), out_dtype)

    return function


for _name in ("addmm", "baddbmm"):
    _register(_added_product(_name), _name)


@_device("linear")
def _linear(reader, input, weight, bias=None):
    result = reader.call("matmul", [input, reader.call("t", [weight])])
    return result if bias is None else reader.call("add", [result, bias])


#
# Shapes
#


def _unpacked(sizes):
    return sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list, torch.Size)) else sizes


@_device("transpose swapaxes swapdims")
def _transpose(reader, input, dim0, dim1):
    return reader.call("transpose", [input], {"dim0": int(dim0), "dim1": int(dim1)})


@_device("t")
def _t(reader, input):
    return reader.call("t", [input])


@_device("permute")
def _permute(reader, input, *dims):
    return reader.call("permute", [input], {"dims": [int(d) for d in _unpacked(dims)]})


@_device("unsqueeze")
def _unsqueeze(reader, input, dim):
    return reader.call("unsqueeze", [input], {"dim": int(dim)})


@_device("squeeze")
def _squeeze(reader, input, dim=None):
    return reader.call("squeeze", [input], {"dims": _dims(dim)})


def _shaped(name: str):
    def function(reader, input, *shape, size=None):
        shape = size if size is not None else _unpacked(shape)
        if len(shape) == 1 and isinstance(shape[0], torch.dtype):
            return reader.bit_view(input, shape[0])
        return reader.call(name, [input], {"shape": reader.shape(shape)})

    return function


for _name in ("reshape", "view", "expand", "broadcast_to"):
    _register(_shaped(_name), _name)
METHODS["view"] = _shaped("view")


@_device("flatten")
def _flatten(reader, input, start_dim=0, end_dim=-1):
    return reader.call("flatten", [input], {"first_dim": int(start_dim), "last_dim": int(end_dim)})


@_device("expand_as")
def _expand_as(reader, input, other):
    return reader.call("expand_as", [input, other])


METHODS["view_as"] = METHODS["reshape_as"] = lambda reader, input, other: reader.call(
    "reshape", [input], {"shape": reader.shape(reader.value_shape(other))})


@_device("stack", method=False)
def _stack(reader, tensors, dim=0):
    return reader.call("stack", list(tensors), {"dim": int(dim)})


@_device("cat concat concatenate", method=False)
def _cat(reader, tensors, dim=0):
    return reader.call("cat", list(tensors), {"dim": int(dim)})


@_device("split")
def _split(reader, tensor, split_size_or_sections, dim=0):
    if isinstance(split_size_or_sections, (tuple, list)):
        sections = [int(s) for s in split_size_or_sections]
        if len(set(sections)) != 1:
            raise reader.error("torch.split into pieces of different sizes is not there; split into pieces of one size")
        split_size_or_sections = sections[0]
    return tuple(reader.call("split", [tensor], {"size": split_size_or_sections, "dim": int(dim)}))


@_device("chunk")
def _chunk(reader, input, chunks, dim=0):
    return tuple(reader.call("chunk", [input], {"count": chunks, "dim": int(dim)}))


@_device("unbind")
def _unbind(reader, input, dim=0):
    pieces = reader.call("split", [input], {"size": 1, "dim": int(dim)})
    return tuple(reader.call("squeeze", [piece], {"dims": [int(dim)]}) for piece in pieces)


@_device("flip")
def _flip(reader, input, *dims):
    return reader.call("flip", [input], {"dims": [int(d) for d in _unpacked(dims)]})


@_device("gather")
def _gather(reader, input, dim, index):
    return reader.call("gather", [input, index], {"dim": int(dim)})


@_device("take_along_dim")
def _take_along_dim(reader, input, indices, dim):
    return reader.call("gather", [input, indices], {"dim": int(dim)})


@_device("broadcast_tensors", method=False)
def _broadcast_tensors(reader, *tensors):
    tensors = _unpacked(tensors)
    shape = functools.reduce(lambda a, b: reader.call("add", [reader.call("zeros_like", [a]), reader.call("zeros_like", [b])]), tensors)
    return tuple(reader.call("expand_as", [tensor, shape]) for tensor in tensors)


@_device("tril triu")
def _triangle(reader, input, diagonal=0):
    raise reader.error("torch.tril and triu are not there on tiles: compare tile.index of rows and columns, and use torch.where")


@_device("sort")
def _sort(reader, input, dim=-1, descending=False, stable=False):
    values, indices = reader.call("sort", [input], {"dim": int(dim), "descending": descending})
    return _Extremum(values, indices)


@_device("topk")
def _topk(reader, input, k, dim=-1, largest=True, sorted=True):
    values, indices = reader.call("topk", [input], {"k": k, "dim": int(dim), "largest": largest})
    return _Extremum(values, indices)


@_device("argsort")
def _argsort(reader, input, dim=-1, descending=False, stable=False):
    return _sort(reader, input, dim, descending)[1]


#
# New values
#


def _dtype_parameter(dtype):
    return {} if dtype is None else {"dtype": core_dtype(dtype)}


def _filled(value: int):
    def function(reader, *size, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
        return reader.call("full", [value], {"shape": reader.shape(_unpacked(size)), "dtype": core_dtype(dtype or torch.float32)})

    return function


_register(_filled(0), "zeros empty", method=False, creation=True)
_register(_filled(1), "ones", method=False, creation=True)


@_device("full", method=False, creation=True)
def _full(reader, size, fill_value, *, dtype=None, device=None, layout=None, requires_grad=False):
    if dtype is None:
        dtype = reader.number_dtype(fill_value)
    return reader.call("full", [fill_value], {"shape": reader.shape(size), "dtype": core_dtype(dtype)})


def _filled_like(name: str):
    def function(reader, input, *, dtype=None, device=None, layout=None, requires_grad=False, memory_format=None):
        return reader.call(name, [input], _dtype_parameter(dtype))

    return function


_register(_filled_like("zeros_like"), "zeros_like empty_like", method=False)
_register(_filled_like("ones_like"), "ones_like", method=False)


@_device("full_like", method=False)
def _full_like(reader, input, fill_value, *, dtype=None, device=None, layout=None, requires_grad=False):
    return reader.call("full_like", [_converted(reader, input, dtype), fill_value])


def _new(name: str):
    def function(reader, input, *size, dtype=None, device=None, layout=None, requires_grad=False):
        return reader.call(name, [_converted(reader, input, dtype)], {"shape": reader.shape(_unpacked(size))})

    return function


for _name in ("new_zeros", "new_ones", "new_empty"):
    METHODS[_name] = _new(_name)
METHODS["new_full"] = lambda reader, input, size, fill_value, *, dtype=None, device=None: reader.call(
    "new_full", [_converted(reader, input, dtype), fill_value], {"shape": reader.shape(size)})


@_device("arange", method=False, creation=True)
def _arange(reader, *bounds, dtype=None, device=None, layout=None, requires_grad=False, step=1, start=None, end=None):
    bounds = list(bounds) + [bound for bound in (start, end) if bound is not None]
    if len(bounds) == 3:
        step = bounds.pop()
    return reader.arange(bounds, step, dtype)


@_device("tensor scalar_tensor as_tensor", method=False, creation=True)
def _tensor(reader, data, *, dtype=None, device=None, requires_grad=False):
    if isinstance(data, DeviceValue):
        return _converted(reader, data, dtype)
    if not isinstance(data, (bool, int, float)):
        raise reader.error("torch.tensor makes a scalar of a number here; pass other data to the kernel as a tensor")
    return reader.call("full", [data], {"shape": [], "dtype": core_dtype(dtype or reader.number_dtype(data))})


@_device("rand randn randint rand_like randn_like randint_like bernoulli multinomial normal uniform_ randperm", creation=True)
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
    METHODS[_name] = functools.partial(lambda dtype, reader, input, memory_format=None: _converted(reader, input, dtype), _dtype)


@_device("to", method=True)
def _to(reader, input, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    for argument in args:
        if isinstance(argument, torch.dtype):
            dtype = argument
        elif isinstance(argument, DeviceValue):
            dtype = reader.dtype_of(argument)
        elif reader.is_tensor_proxy(argument):
            dtype = argument.dtype
    return _converted(reader, input, dtype)


@_device("type")
def _type(reader, input, dtype=None):
    return reader.dtype_of(input) if dtype is None else _converted(reader, input, dtype)


METHODS["type_as"] = lambda reader, input, other: _converted(reader, input, reader.dtype_of(other))
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


@_device("numel")
def _numel(reader, input):
    return functools.reduce(operator.mul, reader.value_shape(input), 1)


@_device("item tolist numpy", method=True)
def _item(reader, input):
    if input.core.rank == 0:
        return input
    raise reader.error("the elements of a value are not known while the kernel is read; a scalar is used as it is, without .item()")


#
# Python's own
#


def _python_extremum(name: str, binary: str):
    def function(reader, *args, key=None, default=None):
        args = list(args[0]) if len(args) == 1 else list(args)
        if key is not None or not args:
            raise reader.error(f"{name}() of values on the device takes two or more of them, and no key")
        return functools.reduce(lambda a, b: reader.extremum(binary, a, b), args)

    return function


FUNCTIONS[builtins.max] = _python_extremum("max", "maximum")
FUNCTIONS[builtins.min] = _python_extremum("min", "minimum")
FUNCTIONS[builtins.abs] = lambda reader, x: reader.call("abs", [x])
FUNCTIONS[builtins.pow] = lambda reader, base, exponent: reader.call("pow", [base, exponent])
FUNCTIONS[builtins.round] = lambda reader, x, ndigits=0: _round(reader, x, decimals=ndigits or 0)
FUNCTIONS[builtins.float] = lambda reader, x=0.0: _converted(reader, x, torch.float32)
FUNCTIONS[builtins.int] = lambda reader, x=0: reader.to_int(x)
FUNCTIONS[builtins.bool] = lambda reader, x=False: _converted(reader, x, torch.bool)
FUNCTIONS[builtins.divmod] = lambda reader, a, b: (reader.call("floor_divide", [a, b]), reader.call("remainder", [a, b]))
FUNCTIONS[math.pow] = lambda reader, a, b: reader.call("pow", [a, b])
FUNCTIONS[math.isclose] = lambda reader, *args, **kwargs: (_ for _ in ()).throw(
    reader.error("math.isclose is not there on the device: compare abs(a - b)"))

# The spelling of an operator: its operation.
OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "div", "FloorDiv": "floor_divide", "Mod": "remainder", "Pow": "pow",
    "BitAnd": "bitwise_and", "BitOr": "bitwise_or", "BitXor": "bitwise_xor", "LShift": "bitwise_left_shift",
    "RShift": "bitwise_right_shift", "MatMult": "matmul", "Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt",
    "GtE": "ge", "USub": "neg", "Invert": "bitwise_not", "Not": "logical_not",
}


def in_place_cure(name: str) -> str | None:
    """What to write instead of an in-place method; None for a name that is none."""
    if name.endswith("_") and not name.startswith("_") and name[:-1] in METHODS:
        return f"values never change in place: write x = x.{name[:-1]}(...)"
    return None


__all__ = ["CREATIONS", "FUNCTIONS", "LoopVariables", "METHODS", "OPERATORS", "in_place_cure"]
