"""Reductions, scans and matrix products."""

from __future__ import annotations

import operator

import torch

from .function_table import FUNCTIONS, converted, device, dims_of, register
from .values import DeviceValue


def _reduction(name: str):
    def function(reader, input, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=False):
        dims = dims_of(axis if dim is None else dim)
        return reader.call(name, [converted(reader, input, dtype)], {"dims": dims, "keepdim": keepdim or keepdims})

    function.__name__ = name
    return function


for _name in ("sum", "mean", "prod", "amax", "amin", "any", "all", "count_nonzero", "logsumexp"):
    register(_reduction(_name), _name)


def _spread(name: str):
    def function(reader, input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        return reader.call(name, [input], {"dims": dims_of(dim), "correction": correction, "keepdim": keepdim})

    return function


for _name in ("var", "std", "var_mean"):
    register(_spread(_name), _name)


def _extremum(name: str):
    def function(reader, input, dim=None, keepdim=False, *, other=None):
        other = dim if isinstance(dim, DeviceValue) or isinstance(dim, float) else other
        if other is not None:
            return reader.call("maximum" if name == "max" else "minimum", [input, other])
        if dim is None:
            return reader.call(name, [input])
        values, indices = reader.call(name, [input], {"dim": int(dim), "keepdim": keepdim})
        return Extremum(values, indices)

    return function


class Extremum(tuple):
    """(values, indices), as torch.max gives them."""

    def __new__(cls, values, indices):
        return super().__new__(cls, (values, indices))

    values = property(operator.itemgetter(0))
    indices = property(operator.itemgetter(1))


for _name in ("max", "min"):
    register(_extremum(_name), _name)


def _position(name: str):
    def function(reader, input, dim=None, keepdim=False):
        return reader.call(name, [input], {"dim": None if dim is None else int(dim), "keepdim": keepdim})

    return function


for _name in ("argmax", "argmin"):
    register(_position(_name), _name)


@device("norm", torch.linalg.vector_norm)
def _norm(reader, input, p=2, dim=None, keepdim=False, *, ord=None, dtype=None):
    p = ord if ord is not None else p
    if p is None or p == "fro":
        p = 2
    return reader.call("norm", [converted(reader, input, dtype)], {"p": p, "dims": dims_of(dim), "keepdim": keepdim})


def _along(name: str):
    def function(reader, input, dim=None, _stacklevel=3, dtype=None, *, axis=None):
        if dim is None and axis is None:
            raise reader.error(f"{name} needs a dimension: dim=-1 is the last one")
        return reader.call(name, [converted(reader, input, dtype)], {"dim": int(axis if dim is None else dim)})

    return function


for _name in ("softmax", "log_softmax", "cumsum", "cumprod"):
    register(_along(_name), _name)


def _running(name: str):
    def function(reader, input, dim):
        return Extremum(*reader.call(name, [input], {"dim": int(dim)}))

    return function


for _name in ("cummax", "cummin"):
    register(_running(_name), _name)


#
# Matrix products
#


def _product(name: str):
    def function(reader, input, mat2, out_dtype=None):
        if out_dtype is not None:
            return converted(reader, reader.call("dot", [input, mat2]), out_dtype)
        return reader.call(name, [input, mat2])

    return function


for _name in ("matmul", "mm", "bmm"):
    register(_product(_name), _name)
FUNCTIONS[operator.matmul] = FUNCTIONS[torch.matmul]


def _added_product(name: str):
    def function(reader, input, mat1, mat2, *, beta=1, alpha=1, out_dtype=None):
        if alpha != 1 or beta != 1:
            product = reader.call("matmul", [mat1, mat2])
            scaled = product if alpha == 1 else reader.call("mul", [product, alpha])
            added = input if beta == 1 else reader.call("mul", [input, beta])
            return reader.call("add", [added, scaled])
        return converted(reader, reader.call(name, [input, mat1, mat2]), out_dtype)

    return function


for _name in ("addmm", "baddbmm"):
    register(_added_product(_name), _name)


@device("linear")
def _linear(reader, input, weight, bias=None):
    result = reader.call("matmul", [input, reader.call("t", [weight])])
    return result if bias is None else reader.call("add", [result, bias])
