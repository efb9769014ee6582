"""F.layer_norm and F.rms_norm on the device, of the operations that they are made of."""

from __future__ import annotations

import torch

from .dtypes import core_dtype
from .function_table import converted, device
from .values import TensorProxy


def _last_dims(reader, name: str, input, normalized_shape) -> list[int]:
    """The dimensions that are normalised over: the last ones, which must be whole ones of these sizes."""
    wanted = list(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else [normalized_shape]
    rank = input.core.rank
    if not wanted or len(wanted) > rank:
        raise reader.error(f"{name} over {len(wanted)} dimensions of a value of rank {rank}")
    sizes = reader.value_shape(input)[rank - len(wanted):]
    for size, want in zip(sizes, wanted):
        if not isinstance(size, int):
            raise reader.error(f"{name} is over whole dimensions, as in x[tile, :]; this one is a tile of it")
        if int(size) != reader.static_int(want, "a normalised size"):
            raise reader.error(f"{name} over {[int(one) for one in wanted]} of a value whose last sizes are {list(map(int, sizes))}")
    return list(range(rank - len(wanted), rank))


def _wide(reader, input):
    """In the dtype that it is computed in."""
    return converted(reader, input, torch.float64 if reader.dtype_of(input) == torch.float64 else torch.float32)


def _operand(reader, value):
    """A weight: a value, or a tensor in memory, which is read whole."""
    if isinstance(value, TensorProxy):
        value = reader.subscript(value, (slice(None),) * value.rank)
    return _wide(reader, value)


def _mean(reader, input, dims):
    return reader.call("mean", [input], {"dims": dims, "keepdim": True})


def _normalised(reader, centred, dims, eps):
    """centred / sqrt(mean(centred ** 2) + eps)"""
    spread = reader.call("add", [_mean(reader, reader.call("mul", [centred, centred]), dims), eps])
    return reader.call("mul", [centred, reader.call("rsqrt", [spread])])


def _finished(reader, value, input, weight, bias):
    if weight is not None:
        value = reader.call("mul", [value, _operand(reader, weight)])
    if bias is not None:
        value = reader.call("add", [value, _operand(reader, bias)])
    return reader.call("to", [value], {"dtype": core_dtype(reader.dtype_of(input))})


@device("layer_norm", method=False)
def _layer_norm(reader, input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    dims = _last_dims(reader, "layer_norm", input, normalized_shape)
    wide = _wide(reader, input)
    centred = reader.call("sub", [wide, _mean(reader, wide, dims)])
    return _finished(reader, _normalised(reader, centred, dims, eps), input, weight, bias)


@device("rms_norm", method=False)
def _rms_norm(reader, input, normalized_shape, weight=None, eps=None):
    dims = _last_dims(reader, "rms_norm", input, normalized_shape)
    wide = _wide(reader, input)
    if eps is None:
        eps = torch.finfo(reader.dtype_of(wide)).eps
    return _finished(reader, _normalised(reader, wide, dims, eps), input, weight, None)
