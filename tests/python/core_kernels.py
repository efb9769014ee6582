"""Kernels recorded by hand on tilewright._core, for the tests of the core alone."""

import inspect

import torch
from tilewright import _core


def here(depth: int = 1) -> _core.Location:
    frame = inspect.currentframe()
    for _ in range(depth):
        frame = frame.f_back
    return _core.Location(frame.f_code.co_filename, frame.f_lineno)


def call(name, *operands, **parameters):
    return _core.call(name, operands, parameters, location=here(2))


def kernel(record, names, name="test", **options):
    """A kernel whose record callback takes the parameters one by one."""
    options.setdefault("settings", _core.Settings(autotune_effort="none"))
    return _core.Kernel(name, names, lambda parameters: record(*parameters), location=here(2), **options)


def pointwise(compute, names=("x", "y"), **options):
    """out[tile] = compute(x[tile], y[tile], ...) over rank-1 tensors."""

    def record(*tensors):
        where = here()
        out = _core.empty(tensors[0].sizes, tensors[0].dtype, location=where)
        with _core.loop(None, out.sizes, location=where) as tiles:
            values = [_core.load(x, tiles, location=where) if isinstance(x, _core.Tensor) else x for x in tensors]
            _core.store(out, tiles, compute(*values), location=where)
        return _core.Recorded([out], "one")

    return kernel(record, list(names), **options)


def add(**options):
    return pointwise(lambda x, y: call("add", x, y), name="add", **options)


def rows(compute, dtype=None):
    """out[tile] = compute(x[tile, :]) over the rows of a rank-2 tensor, of rank 1."""

    def record(x):
        where = here()
        out = _core.empty(x.sizes[:1], dtype or x.dtype, location=where)
        with _core.loop(None, x.sizes[:1], location=where) as (tile,):
            _core.store(out, [tile], compute(_core.load(x, [tile, slice(None)], location=where)), location=where)
        return _core.Recorded([out], "one")

    return kernel(record, ["x"])


def equal(found, expected, **tolerance):
    torch.testing.assert_close(found, expected, equal_nan=True, **tolerance)
