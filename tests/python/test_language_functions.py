"""Functions that are arguments of a kernel, and are read in place: which of those in one line, and what their closures hold."""

import functools

import pytest
import torch
import torch.nn.functional as F

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def mapped(x, function):
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = function(x[tile])
    return out


def composed(first, second):
    return lambda v: second(first(v))


one_line = lambda first, second: (lambda v: second(first(v)))  # noqa: E731
X = torch.rand(10) + 1


@pytest.mark.parametrize("compose", [composed, one_line])
def test_a_function_of_functions(compose):
    function = compose(torch.exp, compose(lambda v: v + 1, torch.log))
    torch.testing.assert_close(mapped(X, function), torch.log(torch.exp(X) + 1))
    torch.testing.assert_close(mapped(X, compose(function, torch.neg)), -torch.log(torch.exp(X) + 1))


def test_the_lambdas_of_one_line_are_told_apart():
    a, b, c = (lambda v: v + 1), (lambda v: v + 2), (lambda v: (lambda w: w * 3)(v))
    for function in (a, b, c, a):
        torch.testing.assert_close(mapped(X, function), function(X))


def test_a_closure_that_changes_is_another_function():
    factor = 2.0

    def scaled(v):
        return v * factor

    for factor in (2.0, 3.0, 2.0):
        torch.testing.assert_close(mapped(X, scaled), X * factor)
    for value in (1, 1.0, True):  # equal, and not the same
        torch.testing.assert_close(mapped(X, functools.partial(lambda v, by: v / by, by=value)), X / value)


def test_a_lambda_within_a_compiled_function():
    compiled = torch.compile(lambda x: mapped(x, lambda v: v * 2), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(X), X * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_norms_of_torch_nn_functional(agree, dtype):
    def layer(x, w, b):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile, :] = F.layer_norm(x[tile, :], [x.size(1)], w[:], b[:], eps=1e-4)
        return out

    def rms(x, w, b):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile, :] = F.rms_norm(x[tile, :], (x.size(1),), w[:])
        return out

    arguments = torch.randn(9, 37).to(dtype), torch.randn(37).to(dtype), torch.randn(37).to(dtype)
    agree(layer, arguments, lambda x, w, b: F.layer_norm(x, [37], w, b, 1e-4))
    small = arguments[0] * 1e-4, *arguments[1:]  # where the default epsilon counts
    agree(rms, small, lambda x, w, b: F.rms_norm(x, [37], w))


def test_norms_take_a_tensor_in_memory_as_their_weight():
    @tw.kernel()
    def layer(x, w):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile, :] = F.layer_norm(x[tile, :], [x.size(1)], w)
        return out

    x, w = torch.randn(4, 9), torch.randn(9)
    torch.testing.assert_close(layer(x, w), F.layer_norm(x, [9], w))


def test_norms_are_over_whole_dimensions_of_the_sizes_that_are_named():
    @tw.kernel()
    def of_a_tile(x):
        for tile_m, tile_n in twl.tile(x.size()):
            x[tile_m, tile_n] = F.rms_norm(x[tile_m, tile_n], [x.size(1)])

    @tw.kernel()
    def of_another_size(x):
        for tile in twl.tile(x.size(0)):
            x[tile, :] = F.layer_norm(x[tile, :], [x.size(0)])

    with pytest.raises(tw.Error, match="rms_norm is over whole dimensions"):
        of_a_tile(torch.ones(4, 6))
    with pytest.raises(tw.Error, match=r"layer_norm over \[4\] of a value whose last sizes are \[6\]"):
        of_another_size(torch.ones(4, 6))
