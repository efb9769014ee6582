"""Kernels of the frontend with backend="triton", on Triton's interpreter: the checks of tests/gpu on tensors of the CPU."""

import os
import sys

import pytest
import torch

import tilewright as tw
import tilewright.language as twl

TESTS = os.path.dirname(os.path.dirname(__file__))
sys.path += [os.path.join(TESTS, "triton"), os.path.join(TESTS, "gpu")]
import interpreter  # noqa: E402 of tests/triton: what Triton's interpreter lacks of a GPU
import check_gpu  # noqa: E402


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch, tmp_path):
    interpreter.install()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(check_gpu, "CUDA", "cpu")
    for name, kernel in list(vars(check_gpu).items()):
        if isinstance(kernel, tw.Kernel):
            monkeypatch.setattr(check_gpu, name, tw.kernel(kernel.fn, backend="triton", autotune_effort="none"))


@pytest.mark.parametrize("check", ["layouts", "numbers", "stores_and_fills", "configs"])
def test_checks_of_the_gpu(check):
    getattr(check_gpu, f"check_{check}")()


def test_rows_and_products():
    x = torch.randn(20, 100)
    torch.testing.assert_close(check_gpu.softmax(x), torch.softmax(x, 1))
    weight, bias = torch.randn(100), torch.randn(100)
    torch.testing.assert_close(check_gpu.layer_norm(x, weight, bias),
                               torch.nn.functional.layer_norm(x, [100], weight, bias), rtol=1e-4, atol=1e-5)
    a, b = torch.randn(40, 30), torch.randn(30, 20)
    torch.testing.assert_close(check_gpu.matmul(a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_the_code_is_tritons():
    bound = check_gpu.add.bind((torch.ones(10), torch.ones(10)))
    assert "@triton.jit" in bound.to_code() and bound.to_triton_code() == bound.to_code(stage="triton")


def test_an_unknown_backend_is_refused():
    with pytest.raises(tw.Error, match="there are 'cpu' and 'triton'"):
        tw.kernel(check_gpu.add.fn, backend="tpu")


def test_bounds_of_outermost_loops_from_data():
    @tw.kernel(backend="triton", autotune_effort="none")
    def part(x, bounds):
        out = torch.zeros_like(x)
        for rows, columns in twl.tile([bounds[0], bounds[1]], [bounds[2], bounds[3]]):
            out[rows, columns] = x[rows, columns] * 2
        return out

    x = torch.randn(30, 70)
    for a, b, c, d in ((0, 0, 30, 70), (3, 5, 20, 41), (7, 7, 7, 70)):
        expected = torch.zeros_like(x)
        expected[a:c, b:d] = x[a:c, b:d] * 2
        torch.testing.assert_close(part(x, torch.tensor([a, b, c, d])), expected)
    assert "tl.num_programs" in part.bind((x, torch.tensor([0, 0, 30, 70]))).to_code()


def test_jagged_tiles():
    @tw.kernel(backend="triton", autotune_effort="none")
    def sums(x, lengths):
        out = x.new_empty([lengths.size(0)])
        for rows in twl.tile(lengths.size(0)):
            total = twl.zeros([rows])
            for columns in twl.jagged_tile(lengths[rows]):
                total += (x[rows, columns] + 1).sum(1)
            out[rows] = total
        return out

    x = torch.randint(-5, 5, (9, 40)).float()
    lengths = torch.tensor([0, 3, 40, 17, 16, 1, 0, 39, 8])
    inside = torch.arange(40)[None, :] < lengths[:, None]
    torch.testing.assert_close(sums(x, lengths), torch.where(inside, x + 1, 0).sum(1))
