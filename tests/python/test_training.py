"""A transformer of our kernels trains as one of PyTorch's operations does, and generates."""

import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "python"))

LENGTH = 24


def test_the_losses_are_pytorch_s():
    import train_transformer as example

    ours, theirs = example.make_model(example.Kernels, LENGTH), example.make_model(example.PyTorch, LENGTH)
    losses, _ = example.train(ours, 6, 3, LENGTH)
    expected, _ = example.train(theirs, 6, 3, LENGTH)
    assert losses == pytest.approx(expected, rel=1e-4)
    assert losses[-1] < losses[0]
    text = example.generate(ours, "1 + 2", 3, LENGTH)
    assert text.startswith("1 + 2") and len(text) == 8


def test_attention_has_gradients():
    import train_transformer as example

    q, k, v = (torch.randn(2, 11, 8, requires_grad=True) for _ in range(3))
    grad = torch.randn(2, 11, 8)
    example.Kernels.attention(q, k, v).backward(grad)
    found = [x.grad for x in (q, k, v)]
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    example.PyTorch.attention(q, k, v).backward(grad)
    for one, other in zip(found, (q, k, v)):
        torch.testing.assert_close(one, other.grad, rtol=1e-4, atol=1e-4)
