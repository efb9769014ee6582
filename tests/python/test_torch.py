"""Kernels inside of PyTorch: torch.compile, torch.export, autograd, inference."""

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def make_softmax():
    @tw.kernel()
    def softmax(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile, :] = torch.softmax(x[tile, :], -1)
        return out

    return softmax


def make_add_into():
    @tw.kernel()
    def add_into(x, y, scale: float = 2.0):
        for tile in twl.tile(x.size(0)):
            y[tile] = y[tile] + x[tile] * scale
        return y

    return add_into


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager", **options)


def test_a_kernel_in_a_compiled_function_makes_no_graph_break():
    softmax = make_softmax()
    x = torch.randn(6, 10)
    torch.testing.assert_close(compiled(lambda x: softmax(x + 1) * 2)(x), (x + 1).softmax(-1) * 2)


def test_a_kernel_that_writes_its_argument():
    add_into = make_add_into()

    def step(x, y):
        z = y * 1
        result = add_into(x, z, scale=3.0)
        return result + z

    x, y = torch.randn(8), torch.randn(8)
    torch.testing.assert_close(compiled(step)(x, y), 2 * (y + 3 * x))

    def on_argument(x, y):
        add_into(x, y)
        return y.sum()

    expected = y + 2 * x
    torch.testing.assert_close(compiled(on_argument)(x, y), expected.sum())
    torch.testing.assert_close(y, expected)


def test_several_results_none_and_host_work_after_the_loops():
    @tw.kernel()
    def statistics(x, bias, kind: str):
        m, n = x.size()
        assert kind in ("mean", "sum")
        total = x.new_empty([m])
        largest = torch.empty(m, dtype=x.dtype)
        for tile in twl.tile(m):
            v = x[tile, :]
            if bias is not None:
                v = v + bias[None, :]
            total[tile] = v.sum(-1)
            largest[tile] = v.amax(-1)
        return total.mean() if kind == "mean" else total.sum(), largest.view(-1, 1)

    x, bias = torch.randn(5, 7), torch.randn(7)
    total, largest = compiled(lambda x, b: statistics(x, b, "mean"))(x, bias)
    torch.testing.assert_close(total, (x + bias).sum(-1).mean())
    torch.testing.assert_close(largest, (x + bias).amax(-1, keepdim=True))
    total, _ = compiled(lambda x: statistics(x, None, "sum"))(x)
    torch.testing.assert_close(total, x.sum())


def test_a_list_of_tensors_in_a_compiled_function():
    @tw.kernel()
    def total(xs: list):
        out = torch.zeros_like(xs[0])
        for tile in twl.tile(out.size(0)):
            acc = twl.zeros([tile])
            for x in xs:
                acc = acc + x[tile]
            out[tile] = acc
        return out

    a, b = torch.randn(9), torch.randn(9)
    torch.testing.assert_close(compiled(lambda a, b: total([a, b, a]))(a, b), 2 * a + b)


def test_new_shapes_in_a_compiled_function():
    softmax = make_softmax()
    function = compiled(lambda x: softmax(x), dynamic=True)
    for m in (3, 8, 17):
        x = torch.randn(m, 5)
        torch.testing.assert_close(function(x), x.softmax(-1))


def test_inductor():
    softmax = make_softmax()
    torch._dynamo.reset()
    x = torch.randn(4, 6)
    torch.testing.assert_close(torch.compile(lambda x: softmax(x.sin()).cos(), fullgraph=True)(x), x.sin().softmax(-1).cos())


def test_export():
    softmax = make_softmax()

    class Module(torch.nn.Module):
        def forward(self, x):
            return softmax(x) + 1

    x = torch.randn(4, 6)
    exported = torch.export.export(Module(), (x,))
    assert "tilewright" in str(exported.graph)
    torch.testing.assert_close(exported.module()(x), x.softmax(-1) + 1)


def test_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode

    softmax = make_softmax()
    with FakeTensorMode() as mode:
        result = softmax(mode.from_tensor(torch.randn(4, 6)))
    assert result.shape == (4, 6) and type(result).__name__ == "FakeTensor"


def test_without_gradients():
    softmax = make_softmax()
    x = torch.randn(4, 6, requires_grad=True)
    with torch.no_grad():
        torch.testing.assert_close(softmax(x), x.softmax(-1))
    with torch.inference_mode():
        torch.testing.assert_close(softmax(x.detach() * 1), x.softmax(-1))
    with pytest.raises(tw.Error, match="kernel softmax: x requires grad, and the kernel has no backward"):
        softmax(x)
    torch.testing.assert_close(softmax(x.detach()), x.detach().softmax(-1))


def test_inside_of_an_autograd_function():
    softmax = make_softmax()

    class Softmax(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = softmax(x)
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx, grad):
            (out,) = ctx.saved_tensors
            return out * (grad - (out * grad).sum(-1, keepdim=True))

    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Softmax.apply, (x,))


def make_differentiable():
    softmax = make_softmax()

    @tw.kernel()
    def softmax_backward(grad, out):
        result = torch.empty_like(grad)
        for tile in twl.tile(grad.size(0)):
            g, y = grad[tile, :], out[tile, :]
            result[tile, :] = y * (g - (y * g).sum(-1, keepdim=True))
        return result

    softmax.register_backward(softmax_backward, save=lambda inputs, out: (out,))
    return softmax


def test_a_registered_backward():
    softmax = make_differentiable()
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, (x,))
    assert not softmax(x.detach()).requires_grad


def test_a_registered_backward_of_several_arguments():
    @tw.kernel()
    def scaled(x, factor, weight):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile] * weight[tile] * factor
        return out

    @scaled.register_backward
    def backward(grad, x, factor, weight):
        return grad * weight * factor, grad * x * factor

    x, weight = (torch.randn(7, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda x, w: scaled(x, 3.0, w), (x, weight))


def test_gradients_in_a_compiled_function():
    softmax = make_differentiable()
    x = torch.randn(4, 6, requires_grad=True)
    weight = torch.randn(4, 6)
    compiled(lambda x: (softmax(x * 2) * weight).sum())(x).backward()
    found, x.grad = x.grad, None
    ((x * 2).softmax(-1) * weight).sum().backward()
    torch.testing.assert_close(found, x.grad)


def test_more_gradients_than_tensors():
    softmax = make_softmax()
    softmax.register_backward(lambda grad, x: (grad, grad))
    with pytest.raises(tw.Error, match="2 gradients for 1 tensors"):
        softmax(torch.randn(2, 3, requires_grad=True)).sum().backward()


def test_a_kernel_with_a_host_part_in_python_in_a_compiled_function():
    @tw.kernel()
    def flat_softmax(x):
        flat = x.reshape(-1, x.size(-1))
        out = torch.empty_like(flat)
        for tile in twl.tile(flat.size(0)):
            out[tile, :] = torch.softmax(flat[tile, :], -1)
        return out.view(x.shape)

    x = torch.randn(2, 3, 5)
    torch.testing.assert_close(compiled(lambda x: flat_softmax(x) + 0)(x), x.softmax(-1))


def test_gradients_beside_a_host_part_in_python():
    @tw.kernel()
    def scaled(x, weight):
        flat = x.reshape(-1, x.size(-1))
        out = torch.empty_like(flat)
        for tile in twl.tile(flat.size(0)):
            out[tile, :] = flat[tile, :] * weight[:]
        return out.view(x.shape)

    x, weight = (torch.randn(size, dtype=torch.float64, requires_grad=True) for size in ((2, 3, 4), (4,)))
    scaled(x.detach(), weight.detach())
    with pytest.raises(tw.Error, match="kernel scaled: x, weight requires grad"):
        scaled(x, weight)
    scaled.register_backward(lambda grad, x, weight: (scaled(grad, weight), (grad * x).sum((0, 1))))
    assert torch.autograd.gradcheck(scaled, (x, weight))


def test_threads_of_pytorch_are_respected():
    softmax = make_softmax()
    x = torch.randn(64, 256)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        torch.testing.assert_close(softmax(x), x.softmax(-1))
    finally:
        torch.set_num_threads(before)
