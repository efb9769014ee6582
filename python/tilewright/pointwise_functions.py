"""Pointwise functions: those of the registry, and those whose parameters say more."""

from __future__ import annotations

import inspect
from typing import Callable

import torch

from . import _core
from .function_table import METHODS, device, register

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
        register(_pointwise(_operation), f"{_operation.name} {_ALIASES.get(_operation.name, '')}")


def _scaled(name: str):
    def function(reader, input, other, *, alpha=1):
        if not (isinstance(alpha, int) and alpha == 1):
            other = reader.call("mul", [other, alpha])
        return reader.call(name, [input, other])

    return function


register(_scaled("add"), "add")
register(_scaled("sub"), "sub subtract")


@device("div divide true_divide")
def _div(reader, input, other, *, rounding_mode=None):
    name = {None: "div", "floor": "div_floor", "trunc": "div_trunc"}.get(rounding_mode)
    if name is None:
        raise reader.error(f'rounding_mode is None, "floor" or "trunc", found {rounding_mode!r}')
    return reader.call(name, [input, other])


@device("clamp clip")
def _clamp(reader, input, min=None, max=None):
    if min is None and max is None:
        raise reader.error("clamp needs min, max or both")
    if min is None:
        return reader.call("clamp_max", [input, max])
    if max is None:
        return reader.call("clamp_min", [input, min])
    return reader.call("clamp", [input, min, max])


@device("nan_to_num")
def _nan_to_num(reader, input, nan=None, posinf=None, neginf=None):
    if nan is None and posinf is None and neginf is None:
        return reader.call("nan_to_num", [input])
    dtype = reader.dtype_of(input)
    if not dtype.is_floating_point:
        return input
    info = torch.finfo(dtype)
    return reader.call("nan_to_num_as", [input], {"nan": 0.0 if nan is None else nan, "posinf": info.max if posinf is None else posinf,
                                                  "neginf": info.min if neginf is None else neginf})


@device("gelu")
def _gelu(reader, input, *, approximate="none"):
    return reader.call({"none": "gelu", "tanh": "gelu_tanh"}[approximate], [input])


@device("logit")
def _logit(reader, input, eps=None):
    return reader.call("logit", [input], {} if eps is None else {"eps": eps})


@device("round")
def rounded(reader, input, *, decimals=0):
    if decimals == 0:
        return reader.call("round", [input])
    scale = 10.0**decimals
    return reader.call("div", [reader.call("round", [reader.call("mul", [input, scale])]), scale])


@device("where")
def _where(reader, condition, input, other):
    return reader.call("where", [condition, input, other])


METHODS["where"] = lambda reader, input, condition, other: _where(reader, condition, input, other)


@device("masked_fill")
def _masked_fill(reader, input, mask, value):
    return reader.call("to", [reader.call("where", [mask, value, input])], {"dtype": reader.dtype_name(input)})


@device("hardtanh")
def _hardtanh(reader, input, min_val=-1.0, max_val=1.0, inplace=False):
    return reader.call("hardtanh", [input], {"min_val": min_val, "max_val": max_val})


@device("glu")
def _glu(reader, input, dim=-1):
    a, b = reader.call("chunk", [input], {"count": 2, "dim": dim})
    return reader.call("mul", [a, reader.call("sigmoid", [b])])


@device("dropout")
def _dropout(reader, input, p=0.5, training=True, inplace=False):
    if training and p != 0:
        raise reader.error("dropout has no seed here: compare twl.rand(shape, seed) with p and scale by 1 / (1 - p)")
    return input
