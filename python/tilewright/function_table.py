"""The functions of PyTorch, of math, operator and Python itself, and the methods of tensors, that a kernel may use on the
device: a table, which the modules beside this one fill.

Each takes the reader of the kernel, then the arguments that its namesake takes, and hands them to an operation of the core by
name. The rules of dtypes and shapes are the core's.
"""

from __future__ import annotations

import difflib
import math
from typing import Callable

import torch
import torch.nn.functional as F

from .dtypes import core_dtype

# By the callable itself, and by a method's name.
FUNCTIONS: dict[Callable, Callable] = {}
METHODS: dict[str, Callable] = {}
# Those that make new values, so that they are the device's in a loop whatever they are called with.
CREATIONS: set[Callable] = set()

_MODULES = (torch, F, torch.special, torch.linalg, math)


def register(function: Callable, names: str, *callables, method: bool = True, creation: bool = False) -> None:
    """Names that PyTorch's modules and math have mean the function in kernels; with `method`, also a tensor's methods of
    these names; and so do the callables."""
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


def device(names: str, *callables, method: bool = True, creation: bool = False):
    """register() as a decorator."""

    def decorate(function):
        register(function, names, *callables, method=method, creation=creation)
        return function

    return decorate


def converted(reader, value, dtype):
    return value if dtype is None else reader.call("to", [value], {"dtype": core_dtype(dtype)})


def dims_of(dim) -> list[int] | None:
    """A dimension, or several, as PyTorch's functions take them."""
    if dim is None:
        return None
    return [int(d) for d in dim] if isinstance(dim, (tuple, list)) else [int(dim)]


def unpacked(sizes):
    """f(2, 3) and f([2, 3])."""
    return sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list, torch.Size)) else sizes


def public_name(function) -> str:
    """As users write it: torch.linalg.qr."""
    for module in (torch, F, torch.linalg, torch.special, torch.fft, math):
        for name, found in vars(module).items():
            if found is function and not name.startswith("_"):
                return f"{module.__name__}.{name}"
    name = getattr(function, "__name__", repr(function))
    module = (getattr(function, "__module__", None) or "torch").partition(".")[0]
    return f"{module}.{name}"


def near_names(name: str) -> str:
    """Operations of the device with a name like this one, as the end of a message; "" where there is none."""
    known = {getattr(function, "__name__", "") for function in FUNCTIONS} | set(METHODS)
    plain = sorted(one for one in known if one and not one.startswith(("_", "linalg_", "special_")))
    near = difflib.get_close_matches(name, plain, n=2, cutoff=0.75)
    return f"; near it are {' and '.join(near)}" if near else ""


def in_place_cure(name: str) -> str | None:
    """What to write instead of an in-place method; None for a name that is none."""
    if name.endswith("_") and not name.startswith("_") and name[:-1] in METHODS:
        return f"values never change in place: write x = x.{name[:-1]}(...)"
    return None
