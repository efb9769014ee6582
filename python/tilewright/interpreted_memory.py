"""Loads, stores and atomics of a kernel that runs on PyTorch."""

from __future__ import annotations

import functools

import torch

from .errors import Error
from .interpreted_blocks import block_length, note_shape, whole_shape
from .interpreted_tile import InterpretedTile, Tiles, number


def _without_modes(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        with torch._C.DisableTorchFunction():
            return function(*args, **kwargs)

    return call


class _Place:
    """The elements that subscripts address: an index tensor for each dimension of the tensor, which broadcast together."""

    def __init__(self, tensor: torch.Tensor, subscripts, mask):
        self.tensor = tensor
        groups, self.whole_shape = _groups(tensor, subscripts)
        rank = sum(len(dims) for _, dims in groups)
        self.shape = [size for _, dims in groups for size in dims]
        indices, position = [], 0
        for group, dims in groups:
            view = [1] * position + list(dims) + [1] * (rank - position - len(dims))
            for index in group:
                own = list(index.shape)
                index = index.reshape([1] * (len(dims) - len(own)) + own)
                indices.append(index.expand(dims).reshape(view).expand(self.shape))
            position += len(dims)
        self.mask = None if mask is None else torch.as_tensor(mask).expand(self.shape)
        for dim, index in enumerate(indices):
            wrong = (index < 0) | (index >= tensor.shape[dim])
            if self.mask is not None:
                wrong &= self.mask
                index = indices[dim] = index.clamp(0, max(tensor.shape[dim] - 1, 0))
            if wrong.any():
                raise Error(f"index {int(index[wrong].flatten()[0])} is out of range for dimension {dim} of a tensor of "
                            f"{list(tensor.shape)}")
        self.indices = tuple(indices)


def _groups(tensor: torch.Tensor, subscripts):
    """Pairs of the index tensors that broadcast together, one for each dimension of the tensor, and their dimensions; and the
    shape of all of these in a block that does not end early."""
    flat = []
    for part in subscripts if type(subscripts) in (tuple, Tiles, list) else (subscripts,):
        flat.extend(part) if isinstance(part, (tuple, Tiles)) else flat.append(part)
    taken = sum(1 for part in flat if part is not None and part is not Ellipsis)
    if taken > tensor.ndim:
        raise Error(f"{taken} subscripts for a tensor of rank {tensor.ndim}")
    missing = [slice(None)] * (tensor.ndim - taken)
    where = next((i for i, part in enumerate(flat) if part is Ellipsis), len(flat))
    flat = flat[:where] + missing + flat[where + 1:]
    groups, whole, dim, run = [], [], 0, []
    own_whole = whole_shape(tensor)

    def close_run():
        if not run:
            return
        if any(index.ndim > 1 for index in run):
            groups.append((list(run), list(torch.broadcast_shapes(*(index.shape for index in run)))))
            whole.extend(torch.broadcast_shapes(*map(whole_shape, run)))
        else:
            groups.extend(([index], list(index.shape)) for index in run)
            whole.extend(size for index in run for size in whole_shape(index))
        run.clear()

    for part in flat:
        if isinstance(part, torch.Tensor) and part.ndim > 0:
            if part.dtype == torch.bool:
                raise Error("a mask is no subscript; extra_mask= of twl.load switches elements off")
            run.append(note_shape(part.long(), whole_shape(part)))
            dim += 1
            continue
        close_run()
        if part is None:
            groups.append(([], [1]))
            whole.append(1)
            continue
        size = tensor.shape[dim]
        dim += 1
        if isinstance(part, InterpretedTile):
            begin, end = part.range
            whole.append(block_length(part))
            if size == 1 and (begin, end) != (0, 1):
                groups.append(([torch.zeros(max(end - begin, 0), dtype=torch.int64)], [max(end - begin, 0)]))
            else:
                groups.append(([torch.arange(begin, max(begin, end))], [max(end - begin, 0)]))
        elif isinstance(part, slice):
            bounds = slice(*(None if b is None else int(number(b)) for b in (part.start, part.stop, part.step)))
            chosen = range(*bounds.indices(size))
            groups.append(([torch.tensor(list(chosen), dtype=torch.int64)], [len(chosen)]))
            on_device = isinstance(part.start, torch.Tensor)  # and so as long as it says, but for what the tensor lacks
            whole.append(own_whole[dim - 1] if chosen == range(size) else bounds.stop - bounds.start if on_device else len(chosen))
        else:
            index = int(number(part))
            if index < 0 and not isinstance(part, torch.Tensor):
                index += size
            groups.append(([torch.tensor(index)], []))
    close_run()
    return groups, whole


@_without_modes
def load(tensor: torch.Tensor, subscripts, mask=None) -> torch.Tensor:
    place = _Place(tensor, subscripts, mask)
    if tensor.ndim == 0:
        return tensor.reshape(place.shape).clone()
    if any(size == 0 for size in tensor.shape):
        return torch.zeros(place.shape, dtype=tensor.dtype)
    values = tensor[place.indices].reshape(place.shape)
    values = values.clone() if place.mask is None else torch.where(place.mask, values, torch.zeros((), dtype=tensor.dtype))
    return note_shape(values, place.whole_shape)


def _fitting(value, place: _Place) -> torch.Tensor:
    """Broadcast; of a whole block only what is there."""
    value = torch.as_tensor(value)
    lead = len(place.shape) - value.ndim
    if lead >= 0:
        value = value[tuple(slice(0, size) if have > size != 1 or have > size else slice(None)
                            for have, size in zip(value.shape, place.shape[lead:]))]
    return value.to(place.tensor.dtype).expand(place.shape)


@_without_modes
def store(tensor: torch.Tensor, subscripts, value, mask=None) -> None:
    place = _Place(tensor, subscripts, mask)
    _write(place, _fitting(value, place))


def _write(place: _Place, value: torch.Tensor) -> None:
    if place.mask is not None:
        indices, value = tuple(index[place.mask] for index in place.indices), value[place.mask]
    else:
        indices = place.indices
    if place.tensor.ndim == 0:
        if value.numel():
            place.tensor.copy_(value.reshape(()))
    elif value.numel():
        place.tensor.index_put_(indices, value)


_STEPS = {
    "add": lambda old, value: old + value,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "xchg": lambda old, value: value,
    "max": torch.maximum,
    "min": torch.minimum,
}


@_without_modes
def atomic(name: str, tensor: torch.Tensor, subscripts, value, expected=None) -> torch.Tensor:
    """One element after the other, in order."""
    place = _Place(tensor, tuple(subscripts) if isinstance(subscripts, list) else subscripts, None)
    values = _fitting(value, place).reshape(-1)
    wanted = None if expected is None else _fitting(expected, place).reshape(-1)
    old = torch.empty(values.shape, dtype=tensor.dtype)
    flat = [index.reshape(-1) for index in place.indices]
    for i in range(values.numel()):
        at = tuple(int(index[i]) for index in flat)
        old[i] = tensor[at]
        if wanted is not None:
            if tensor[at] == wanted[i]:
                tensor[at] = values[i]
        else:
            tensor[at] = _STEPS[name](old[i], values[i])
    return old.reshape(place.shape)
