"""Kernels through the triton backend, on Triton's interpreter, which takes tensors on the CPU."""

import json
import os
import sys

import pytest
import torch
from core_kernels import call, equal, here, kernel, pointwise
from tilewright import _core

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "triton"))
import interpreter  # noqa: E402 of tests/triton: what Triton's interpreter lacks of a GPU


@pytest.fixture(autouse=True, scope="module")
def installed():
    interpreter.install()


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_call_runs_and_a_second_one_too():
    k = pointwise(lambda x, y: call("add", x, y), triton=True)
    for n in (100, 100, 33):
        x, y = torch.randn(n), torch.randn(n)
        equal(k(x, y), x + y)


def test_numbers_are_passed():
    k = pointwise(lambda x, scale: call("mul", x, scale), ("x", "scale"), triton=True)
    x = torch.randn(50)
    for scale in (2.0, 1.0, 3):
        equal(k(x, scale), x * scale)


def test_arguments_are_stored_to_and_given_back():
    def record(x):
        with _core.loop(None, x.sizes, location=here()) as tiles:
            _core.store(x, tiles, call("mul", _core.load(x, tiles, location=here()), 2), location=here())
        return _core.Recorded([x], "one")

    x = torch.ones(40)
    assert kernel(record, ["x"], triton=True)(x) is x
    equal(x, torch.full((40,), 2.0))


def test_allocations_are_filled_and_results_ordered():
    def record(x):
        sums, twice = _core.empty([4], location=here()), _core.empty(x.sizes, location=here())
        _core.fill(sums, 1.0, location=here())
        with _core.loop(None, x.sizes, location=here()) as (tile,):
            value = _core.load(x, [tile], location=here())
            _core.store(twice, [tile], call("mul", value, 2), location=here())
            _core.atomic("atomic_add", sums, [2], [call("sum", value)], location=here())
        return _core.Recorded([twice, sums, x], "tuple")

    x = torch.ones(30)
    for _ in range(2):
        twice, sums, same = kernel(record, ["x"], triton=True)(x)
        equal(twice, 2 * x)
        assert sums.tolist() == [1, 1, 31, 1] and same is x


def test_a_bound_kernel_shows_triton_and_tunes():
    def softmax(value):
        return call("amax", call("softmax", value, dim=1), dims=1)

    def record(x):
        out = _core.empty(x.sizes[:1], location=here())
        with _core.loop(None, x.sizes[:1], location=here()) as (tile,):
            _core.store(out, [tile], softmax(_core.load(x, [tile, slice(None)], location=here())), location=here())
        return _core.Recorded([out], "one")

    x = torch.randn(20, 32)
    bound = kernel(record, ["x"], triton=True).bind(x)
    assert bound.backend == "triton" and _core.stages("triton") == ["tile", "program", "triton"]
    assert "@triton.jit" in bound.to_code(bound.default_config)
    assert "num_warps" in json.loads(bound.spec) or "num_warps" in bound.spec
    config, microseconds = bound.tune("quick", 0.5)
    assert microseconds > 0
    bound.set_config(config)
    equal(bound(x), torch.softmax(x, 1).amax(1))
