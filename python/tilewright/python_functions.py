"""Python's own functions of numbers, on values of the device."""

from __future__ import annotations

import builtins
import functools
import math

import torch

from .function_table import FUNCTIONS, converted
from .pointwise_functions import rounded


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
FUNCTIONS[builtins.round] = lambda reader, x, ndigits=0: rounded(reader, x, decimals=ndigits or 0)
FUNCTIONS[builtins.float] = lambda reader, x=0.0: converted(reader, x, torch.float32)
FUNCTIONS[builtins.int] = lambda reader, x=0: reader.to_int(x)
FUNCTIONS[builtins.bool] = lambda reader, x=False: converted(reader, x, torch.bool)
FUNCTIONS[builtins.divmod] = lambda reader, a, b: (reader.call("floor_divide", [a, b]), reader.call("remainder", [a, b]))
FUNCTIONS[math.pow] = lambda reader, a, b: reader.call("pow", [a, b])
