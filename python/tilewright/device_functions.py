"""All functions that a kernel may use on the device; importing this fills the table."""

from __future__ import annotations

from . import (  # noqa: F401
    creation_functions,
    normalisation_functions,
    pointwise_functions,
    python_functions,
    reduction_functions,
    shape_functions,
)
from .function_table import CREATIONS, FUNCTIONS, METHODS, in_place_cure, near_names, public_name

# The spelling of an operator: its operation.
OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "div", "FloorDiv": "floor_divide", "Mod": "remainder", "Pow": "pow",
    "BitAnd": "bitwise_and", "BitOr": "bitwise_or", "BitXor": "bitwise_xor", "LShift": "bitwise_left_shift",
    "RShift": "bitwise_right_shift", "MatMult": "matmul", "Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt",
    "GtE": "ge", "USub": "neg", "Invert": "bitwise_not", "Not": "logical_not",
}

__all__ = ["CREATIONS", "FUNCTIONS", "METHODS", "OPERATORS", "in_place_cure", "near_names", "public_name"]
