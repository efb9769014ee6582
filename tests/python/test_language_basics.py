"""Kernels as LANGUAGE.md spells them: arguments, host statements, results."""

import dataclasses
import math
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F

import tilewright as tw
import tilewright.language as twl


def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    k2, n = y.size()
    assert k == k2, f"inner sizes differ: {k} and {k2}"
    out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    for tile_m, tile_n in twl.tile([m, n]):
        acc = twl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in twl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = acc
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_matmul(agree, dtype):
    x, y = torch.randn(70, 50, dtype=dtype), torch.randn(50, 90, dtype=dtype)
    agree(matmul, (x, y), torch.matmul, configs=[{}, {"block_sizes": [16, 32, 8]}])


def test_matmul_of_transposed_and_strided_operands(agree):
    x, y = torch.randn(50, 70).t(), torch.randn(50, 180)[:, ::2]
    agree(matmul, (x, y), torch.matmul)


def test_an_assertion_of_the_host_part_is_python_s():
    with pytest.raises(AssertionError, match="inner sizes differ: 5 and 6"):
        tw.kernel(matmul)(torch.ones(4, 5), torch.ones(6, 4))


def add(x, y):
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] + y[tile]
    return out


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_add(agree, n):
    agree(add, (torch.randn(n), torch.randn(n)), torch.add)


def test_results_are_torch_tensors_and_arguments_come_back_as_themselves():
    @tw.kernel()
    def fill(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = 3.0
        return x

    x = torch.zeros(10)
    assert fill(x) is x
    assert (x == 3).all()


def test_several_results(agree):
    def both(x):
        largest = x.new_empty([x.size(0)])
        total = torch.zeros(x.shape[0], dtype=torch.float32)
        for tile in twl.tile(x.size(0)):
            row = x[tile, :]
            largest[tile] = row.amax(-1)
            total[tile] = row.sum(dim=1)
        return largest, total

    agree(both, (torch.randn(30, 17),), lambda x: (x.amax(-1), x.sum(1)))


def test_numbers_are_run_time_numbers(agree):
    def scale(x, factor, shift):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile] * factor + shift
        return out

    agree(scale, (torch.randn(30), 2.5, 3), lambda x, f, s: x * f + s)
    kernel = tw.kernel(scale)
    x = torch.randn(20)
    for factor, shift in ((1.5, 2), (-1.0, 7), (0.0, -1)):
        torch.testing.assert_close(kernel(x, factor, shift), x * factor + shift)


def test_a_number_that_the_host_needs_is_a_constant(agree):
    def first(x, n):
        out = x.new_empty([n])
        if n > 3:
            for tile in twl.tile(n):
                out[tile] = x[tile]
        else:
            for tile in twl.tile(n):
                out[tile] = -x[tile]
        return out

    kernel = tw.kernel(first)
    x = torch.randn(20)
    for n in (2, 5, 9, 2):
        torch.testing.assert_close(kernel(x, n), x[:n] if n > 3 else -x[:n])


def test_strings_flags_and_none(agree):
    def activated(x, bias, kind, negate=False, *, scale=1.0):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            v = x[tile]
            if bias is not None:
                v = v + bias[tile]
            if kind == "relu":
                v = torch.relu(v)
            elif kind == "gelu":
                v = F.gelu(v, approximate="tanh")
            else:
                v = v.no_such_method()
            if negate:
                v = -v
            out[tile] = v * scale
        return out

    x, bias = torch.randn(40), torch.randn(40)
    agree(activated, (x, None, "relu"), lambda x, b, k: x.relu())
    agree(activated, (x, bias, "gelu", True), lambda x, b, k, n: -F.gelu(x + b, approximate="tanh"))
    torch.testing.assert_close(tw.kernel(activated)(x, kind="relu", bias=bias, scale=2.0), (x + bias).relu() * 2)


@dataclasses.dataclass
class Parameters:
    weight: torch.Tensor
    eps: float
    affine: bool = True


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


def test_containers_of_tensors(agree):
    def norm(x, parameters, pairs):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            v = x[tile, :]
            v = v * torch.rsqrt((v * v).mean(-1, keepdim=True) + parameters.eps)
            if parameters.affine:
                v = v * parameters.weight[:]
            for pair in pairs:
                v = v + pair.first[None, :] * pair.second[:]
            out[tile, :] = v
        return out

    def expected(x, p, pairs):
        v = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + p.eps) * p.weight
        return v + sum(pair.first * pair.second for pair in pairs)

    pairs = [Pair(torch.randn(24), torch.randn(24)) for _ in range(2)]
    agree(norm, (torch.randn(10, 24), Parameters(torch.randn(24), 1e-5), pairs), expected)


def test_a_list_of_tensors_and_its_length(agree):
    def total(xs: list):
        out = torch.zeros_like(xs[0])
        for tile in twl.tile(xs[0].size(0)):
            acc = twl.zeros([tile])
            for x in xs:
                acc = acc + x[tile]
            for i, x in enumerate(xs):
                acc += i * x[tile]
            out[tile] = acc / len(xs)
        return out

    xs = [torch.randn(33) for _ in range(3)]
    agree(total, (xs,), lambda xs: sum((i + 1) * x for i, x in enumerate(xs)) / 3)


SCALE = 2.5


def doubled(v):
    return v * 2


def test_globals_closures_and_functions(agree):
    power = 3

    def cubed(v):
        return v**power

    def apply(x, function):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = cubed(function(doubled(x[tile]))) * SCALE * math.pi
        return out

    x = torch.randn(50)
    agree(apply, (x, torch.tanh), lambda x, f: torch.tanh(x * 2) ** 3 * SCALE * math.pi, rtol=1e-5, atol=1e-5)
    agree(apply, (x, lambda v: v + 1), lambda x, f: (x * 2 + 1) ** 3 * SCALE * math.pi, rtol=1e-5, atol=1e-5)


def test_functions_are_told_apart_by_what_they_hold():
    def make(k):
        return lambda v: v * k

    @tw.kernel()
    def apply(x, function):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = function(x[tile])
        return out

    x = torch.randn(10)
    torch.testing.assert_close(apply(x, make(2)), x * 2)
    torch.testing.assert_close(apply(x, make(3)), x * 3)


WEIGHT = torch.linspace(0, 1, 12)


def test_tensors_from_outside_are_arguments(agree):
    offset = torch.randn(12)

    def weighted(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile] * WEIGHT[tile] + offset[tile]
        return out

    agree(weighted, (torch.randn(12),), lambda x: x * WEIGHT + offset)


def test_constexpr_and_specialize(agree):
    def split(x, parts: twl.constexpr):
        n = twl.specialize(x.size(1))
        out = x.new_empty([x.size(0), parts])
        for tile in twl.tile(x.size(0)):
            rows = x[tile, :].reshape(tile, parts, n // parts)
            out[tile, :] = rows.sum(-1)
        return out

    agree(split, (torch.randn(9, 12), 4), lambda x, p: x.reshape(9, p, -1).sum(-1), interpreted=True)


def test_a_result_that_pytorch_works_on_after_the_loops(agree):
    def loss(x, y):
        losses = x.new_empty([x.size(0)])
        for tile in twl.tile(x.size(0)):
            losses[tile] = ((x[tile, :] - y[tile, :]) ** 2).sum(-1)
        mean = losses.mean()
        return mean, {"rows": x.size(0), "losses": losses.view(-1, 1)}

    x, y = torch.randn(12, 5), torch.randn(12, 5)
    kernel = tw.kernel(loss)
    for _ in range(2):
        mean, more = kernel(x, y)
        torch.testing.assert_close(mean, ((x - y) ** 2).sum(-1).mean())
        assert more["rows"] == 12 and more["losses"].shape == (12, 1)


def test_host_statements_that_only_python_can_do(agree):
    def softened(x, temperature):
        if x.numel() == 0:
            return x
        flat = x.reshape(-1, x.shape[-1])
        top = int(x.abs().max().item()) + 1
        try:
            scale = 1 / temperature
        except ZeroDivisionError:
            scale = 1.0
        out = torch.empty_like(flat)
        for tile in twl.tile(flat.size(0)):
            out[tile, :] = torch.softmax(flat[tile, :] * scale, -1) * top
        return out.view(x.shape)

    def expected(x, t):
        return torch.softmax(x / t, -1) * (int(x.abs().max().item()) + 1)

    agree(softened, (torch.randn(3, 4, 10), 2.0), expected)
    empty = torch.empty(0, 3)
    assert tw.kernel(softened)(empty, 1.0) is empty


def test_a_barrier_between_loops(agree):
    def normalised(x):
        total = torch.zeros([x.size(0)], dtype=torch.float32)
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            total[tile] = x[tile, :].sum(-1)
        twl.barrier()
        for tile in twl.tile(x.size(0)):
            out[tile, :] = x[tile, :] / total[tile, None]
        return out

    agree(normalised, (torch.rand(20, 8) + 1,), lambda x: x / x.sum(-1, keepdim=True))


def test_registered_block_sizes(agree):
    def row_sums(x):
        m, n = x.size()
        block = twl.register_block_size(n)
        out = x.new_empty([m])
        for tile_m in twl.tile(m):
            acc = twl.zeros([tile_m, block])
            for tile_n in twl.tile(n, block_size=block):
                acc = acc + x[tile_m, tile_n]
            out[tile_m] = acc.sum(-1)
        return out

    agree(row_sums, (torch.randn(10, 37),), lambda x: x.sum(-1), configs=[{}, {"block_sizes": [8, 4]}])
    agree(row_sums, (torch.randn(10, 300),), lambda x: x.sum(-1), rtol=1e-4, atol=1e-4)


def test_registered_blocks_containers_and_functions_beside_a_host_part_in_python(agree):
    def normalised(x, weights, scale: float):
        flat = x.reshape(-1, x.size(-1))
        m, n = flat.shape
        block = twl.register_block_size(n)

        def rescaled(v):
            return v * scale

        out = torch.empty_like(flat)
        for tile_m in twl.tile(m):
            acc = twl.zeros([tile_m, block])
            for tile_n in twl.tile(n, block_size=block):
                acc = acc + flat[tile_m, tile_n] ** 2
            norm = torch.rsqrt(acc.sum(-1) / n)
            for tile_n in twl.tile(n, block_size=block):
                v = rescaled(flat[tile_m, tile_n] * norm[:, None])
                for weight in weights:
                    v = v * weight[tile_n]
                out[tile_m, tile_n] = v
        return out.view(x.shape)

    def expected(x, weights, scale):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * scale * weights[0] * weights[1]

    agree(normalised, (torch.randn(2, 3, 20), [torch.randn(20), torch.randn(20)], 1.5), expected)


def test_results_like_a_tensor_of_other_strides_have_them(agree):
    def doubled(x):
        m, n = x.size()
        out = torch.empty_like(x)
        scale = 2.0 if x.is_contiguous() else 3.0
        for tile_m, tile_n in twl.tile([m, n]):
            out[tile_m, tile_n] = x[tile_m, tile_n] * scale + x.stride(0)
        return out

    x = torch.randn(5, 8)
    agree(doubled, (x,), lambda x: x * 2 + 8)
    agree(doubled, (x.t(),), lambda x: x * 3 + 1)
    assert tw.kernel(doubled)(x.t()).stride() == x.t().stride()


def test_modules_and_kernels_as_functions(agree):
    act = torch.nn.GELU(approximate="tanh")

    def activated(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = act(x[tile])
        return out

    agree(activated, (torch.randn(20),), act)
    inner = tw.kernel(activated)

    def outer(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = inner(x[tile])

    with pytest.raises(tw.Error, match="a kernel is called by the host"):
        tw.kernel(outer)(torch.randn(4))

    def composed(x):
        y = inner(x)
        out = torch.empty_like(y)
        for tile in twl.tile(y.size(0)):
            out[tile] = y[tile] + 1
        return inner(out)

    x = torch.randn(20)
    torch.testing.assert_close(tw.kernel(composed)(x), act(act(x) + 1))
