"""PyTorch's dtypes and the core's names of them."""

from __future__ import annotations

import torch

_NAMES = {
    torch.bool: "bool",
    torch.int8: "int8",
    torch.uint8: "uint8",
    torch.int16: "int16",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float8_e4m3fn: "float8_e4m3fn",
    torch.float8_e5m2: "float8_e5m2",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
# Python's types as PyTorch's conversions take them.
_PYTHON_TYPES = {bool: "bool", int: "int64", float: "float32"}


def core_dtype(dtype) -> str:
    """The core's name. Raises TypeError for what is no dtype, and for dtypes that kernels do not have."""
    if isinstance(dtype, torch.dtype):
        return _NAMES.get(dtype) or str(dtype).removeprefix("torch.")  # the core refuses it by name
    if isinstance(dtype, type) and dtype in _PYTHON_TYPES:
        return _PYTHON_TYPES[dtype]
    raise TypeError(f"a dtype is one of torch's, such as torch.float32, found {dtype!r}")


def torch_dtype(name: str) -> torch.dtype:
    return _DTYPES.get(name) or getattr(torch, name)
