"""Functions of shapes, and what takes values apart and together."""

from __future__ import annotations

import functools

import torch

from .function_table import METHODS, device, dims_of, register, unpacked
from .reduction_functions import Extremum


@device("transpose swapaxes swapdims")
def _transpose(reader, input, dim0, dim1):
    return reader.call("transpose", [input], {"dim0": int(dim0), "dim1": int(dim1)})


@device("t")
def _t(reader, input):
    return reader.call("t", [input])


@device("permute")
def _permute(reader, input, *dims):
    return reader.call("permute", [input], {"dims": [int(d) for d in unpacked(dims)]})


@device("unsqueeze")
def _unsqueeze(reader, input, dim):
    return reader.call("unsqueeze", [input], {"dim": int(dim)})


@device("squeeze")
def _squeeze(reader, input, dim=None):
    return reader.call("squeeze", [input], {"dims": dims_of(dim)})


def _shaped(name: str):
    def function(reader, input, *shape, size=None, dtype=None):
        if dtype is not None:
            shape = (dtype,)
        shape = size if size is not None else unpacked(shape)
        if len(shape) == 1 and isinstance(shape[0], torch.dtype):
            return reader.bit_view(input, shape[0])
        return reader.call(name, [input], {"shape": reader.shape(shape)})

    return function


for _name in ("reshape", "view", "expand", "broadcast_to"):
    register(_shaped(_name), _name)
METHODS["view"] = _shaped("view")


@device("flatten")
def _flatten(reader, input, start_dim=0, end_dim=-1):
    return reader.call("flatten", [input], {"first_dim": int(start_dim), "last_dim": int(end_dim)})


@device("expand_as")
def _expand_as(reader, input, other):
    return reader.call("expand_as", [input, other])


METHODS["view_as"] = METHODS["reshape_as"] = lambda reader, input, other: reader.call(
    "reshape", [input], {"shape": reader.shape(reader.value_shape(other))})


@device("stack", method=False)
def _stack(reader, tensors, dim=0):
    return reader.call("stack", list(tensors), {"dim": int(dim)})


@device("cat concat concatenate", method=False)
def _cat(reader, tensors, dim=0):
    return reader.call("cat", list(tensors), {"dim": int(dim)})


@device("split")
def _split(reader, tensor, split_size_or_sections, dim=0):
    if isinstance(split_size_or_sections, (tuple, list)):
        sections = [int(s) for s in split_size_or_sections]
        if len(set(sections)) != 1:
            raise reader.error("torch.split into pieces of different sizes is not there; split into pieces of one size")
        split_size_or_sections = sections[0]
    return tuple(reader.call("split", [tensor], {"size": split_size_or_sections, "dim": int(dim)}))


@device("chunk")
def _chunk(reader, input, chunks, dim=0):
    return tuple(reader.call("chunk", [input], {"count": chunks, "dim": int(dim)}))


@device("unbind")
def _unbind(reader, input, dim=0):
    pieces = reader.call("split", [input], {"size": 1, "dim": int(dim)})
    return tuple(reader.call("squeeze", [piece], {"dims": [int(dim)]}) for piece in pieces)


@device("flip")
def _flip(reader, input, *dims):
    return reader.call("flip", [input], {"dims": [int(d) for d in unpacked(dims)]})


@device("gather")
def _gather(reader, input, dim, index):
    return reader.call("gather", [input, index], {"dim": int(dim)})


@device("take_along_dim")
def _take_along_dim(reader, input, indices, dim):
    return reader.call("gather", [input, indices], {"dim": int(dim)})


@device("broadcast_tensors", method=False)
def _broadcast_tensors(reader, *tensors):
    tensors = unpacked(tensors)
    shape = functools.reduce(lambda a, b: reader.call("add", [reader.call("zeros_like", [a]), reader.call("zeros_like", [b])]), tensors)
    return tuple(reader.call("expand_as", [tensor, shape]) for tensor in tensors)


@device("tril triu")
def _triangle(reader, input, diagonal=0):
    raise reader.error("torch.tril and triu are not there on tiles: compare tile.index of rows and columns, and use torch.where")


@device("sort")
def _sort(reader, input, dim=-1, descending=False, stable=False):
    values, indices = reader.call("sort", [input], {"dim": int(dim), "descending": descending})
    return Extremum(values, indices)


@device("topk")
def _topk(reader, input, k, dim=-1, largest=True, sorted=True):
    values, indices = reader.call("topk", [input], {"k": k, "dim": int(dim), "largest": largest})
    return Extremum(values, indices)


@device("argsort")
def _argsort(reader, input, dim=-1, descending=False, stable=False):
    return _sort(reader, input, dim, descending)[1]
