"""Functions and methods of PyTorch, of Python and of tilewright.language, on values of the device."""

import math

import pytest
import torch
import torch.nn.functional as F

import tilewright as tw
import tilewright.language as twl

ROWS = [
    lambda x, y: x + y - x * y / (x.abs() + 1),
    lambda x, y: x // (y + 10) + x % (y.abs() + 1) + abs(x) ** 2 - (-x),
    lambda x, y: torch.where(x > y, x, y) + torch.where(x <= 0, 1.0, 0.0),
    lambda x, y: torch.exp(x) + torch.log(y.abs() + 1) + torch.sqrt(x * x) + torch.rsqrt(y * y + 1),
    lambda x, y: torch.sigmoid(x) + torch.tanh(y) + x.relu() + F.silu(y) + F.gelu(x) + F.gelu(x, approximate="tanh"),
    lambda x, y: torch.maximum(x, y) + torch.minimum(x, y) + torch.clamp(x, -0.5, 0.5) + y.clamp(min=0.1) + x.clamp(max=0),
    lambda x, y: F.softplus(x) + F.leaky_relu(y, 0.2) + F.elu(x, alpha=0.7) + F.hardtanh(y, -0.3, 0.4),
    lambda x, y: torch.floor(x * 3) + torch.ceil(y * 3) + torch.round(x * 5) + torch.trunc(y * 4) + x.sign(),
    lambda x, y: torch.erf(x) + torch.sin(y) + torch.cos(x) + torch.atan2(x, y) + torch.hypot(x, y),
    lambda x, y: torch.add(x, y, alpha=2) + torch.sub(x, y, alpha=3) + torch.mul(x, y) + torch.div(x, y.abs() + 1),
    lambda x, y: torch.lerp(x, y, 0.3) + torch.addcmul(x, x, y, value=0.5) + torch.square(x) + torch.reciprocal(y + 10),
    lambda x, y: (x > 0).float() + (x >= y).to(torch.float32) + ((x > 0) & (y > 0)).float() + (~(x > y)).float(),
    lambda x, y: torch.logical_and(x > 0, y > 0).float() + torch.isnan(x).float() + torch.nan_to_num(y / (x - x), nan=3.0),
    lambda x, y: x.pow(2) + torch.pow(y.abs() + 0.1, 1.5) + 2**x + x.masked_fill(x > 0, 0.25),
    lambda x, y: x.exp().log1p() + torch.expm1(y) + torch.exp2(x) + torch.log2(y.abs() + 1),
    lambda x, y: torch.special.expit(x) + torch.absolute(y) + torch.negative(x) + torch.fmod(x, 0.3),
    lambda x, y: x.add(y).sub(1).mul(2).div(3).neg().abs(),
    lambda x, y: max(x.new_zeros([1, 1]), x) + min(x, y) if False else torch.maximum(x, y * 0),
]


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_pointwise(agree, number):
    function = ROWS[number]

    def kernel(x, y):
        out = torch.empty_like(x)
        for tile_m, tile_n in twl.tile(x.size()):
            out[tile_m, tile_n] = function(x[tile_m, tile_n], y[tile_m, tile_n])
        return out

    agree(kernel, (torch.randn(7, 33), torch.randn(7, 33)), function, equal_nan=True, rtol=2e-5, atol=2e-5)


REDUCTIONS = [
    lambda v: v.sum(-1),
    lambda v: torch.sum(v, dim=1) + torch.mean(v, 1),
    lambda v: v.amax(dim=-1) - v.amin(1),
    lambda v: v.max(-1).values + v.min(-1)[0] + torch.max(v, 1)[1],
    lambda v: v.argmax(-1) + torch.argmin(v, dim=1),
    lambda v: v.var(-1) + v.std(1, correction=0) + torch.var(v, dim=1, unbiased=False),
    lambda v: torch.logsumexp(v, -1) + v.prod(-1),
    lambda v: (v > 0).any(-1).float() + (v > -9).all(-1).float() + torch.count_nonzero(v, 1),
    lambda v: torch.softmax(v, -1).amax(-1) + F.log_softmax(v, dim=1).amin(-1) + v.softmax(dim=-1)[:, :].sum(-1),
    lambda v: v.cumsum(1).amax(1) + torch.cumprod(v, -1).amin(-1),
    lambda v: torch.norm(v, dim=1) + v.norm(1, -1) + torch.linalg.vector_norm(v, dim=-1),
    lambda v: (v / v.sum(-1, keepdim=True)).sum(1),
    lambda v: torch.var_mean(v, dim=1)[0] + torch.var_mean(v, dim=1)[1],
    lambda v: v.sum(-1, dtype=torch.float64).float(),
    lambda v: v.flip(1).cumsum(1)[:, :].amax(1) + v.sum([1]),
]


@pytest.mark.parametrize("number", range(len(REDUCTIONS)))
def test_reductions(agree, number):
    function = REDUCTIONS[number]

    def kernel(x):
        out = x.new_empty([x.size(0)])
        for tile in twl.tile(x.size(0)):
            out[tile] = function(x[tile, :])
        return out

    agree(kernel, (torch.randn(11, 21),), lambda x: function(x).float(), rtol=2e-5, atol=2e-5)


def test_everything_at_once(agree):
    def total(x):
        out = x.new_empty([1])
        for tile in twl.tile(1):
            v = x[:, :]
            out[tile] = v.sum() + v.mean() + torch.max(v) + v.min() + v.argmax()
        return out

    agree(total, (torch.randn(4, 5),), lambda x: (x.sum() + x.mean() + x.max() + x.min() + x.argmax())[None])


def test_matrix_products(agree):
    def products(x, y, z):
        b, m, k = x.size()
        n = y.size(2)
        out = x.new_empty([b, m, n])
        flat = x.new_empty([m, n])
        for tile_b, tile_m, tile_n in twl.tile([b, m, n]):
            acc = twl.zeros([tile_b, tile_m, tile_n])
            for tile_k in twl.tile(k):
                acc = torch.baddbmm(acc, x[tile_b, tile_m, tile_k], y[tile_b, tile_k, tile_n])
            out[tile_b, tile_m, tile_n] = acc + torch.bmm(x[tile_b, tile_m, :], y[tile_b, :, tile_n])
        for tile_m, tile_n in twl.tile([m, n]):
            acc = twl.zeros([tile_m, tile_n])
            for tile_k in twl.tile(k):
                acc = twl.dot(x[0, tile_m, tile_k], z[tile_n, tile_k].T, acc=acc)
            flat[tile_m, tile_n] = acc + x[0, tile_m, :] @ z[tile_n, :].t() + F.linear(x[0, tile_m, :], z[tile_n, :])
        return out, flat

    agree(products, (torch.randn(2, 9, 16), torch.randn(2, 16, 11), torch.randn(11, 16)),
          lambda x, y, z: (2 * x @ y, 3 * x[0] @ z.t()), rtol=1e-4, atol=1e-4)


def test_dot_of_narrow_dtypes(agree):
    def product(x, y, out):
        for tile_m, tile_n in twl.tile(out.size()):
            out[tile_m, tile_n] = twl.dot(x[tile_m, :], y[:, tile_n])

    x, y = torch.randint(-50, 50, (8, 32), dtype=torch.int8), torch.randint(-50, 50, (32, 8), dtype=torch.int8)
    agree(product, (x, y, torch.zeros(8, 8, dtype=torch.int32)), [x.int() @ y.int()], written=[2])


def test_shapes(agree):
    def shaped(x):
        m, n = x.size()
        out = x.new_empty([m, n])
        for tile in twl.tile(m):
            v = x[tile, :]
            halves = v.view(tile, 2, n // 2)
            swapped = halves.transpose(1, 2).permute(0, 2, 1).reshape([tile, n])
            a, b = torch.split(v, n // 2, 1)
            c, d = v.chunk(2, dim=-1)
            joined = torch.cat([b, a], dim=1) + torch.cat((d, c), 1)
            pair = torch.stack([v, v + 1], dim=-1)
            first, second = twl.split(pair)
            column = v.sum(1).unsqueeze(1).expand(tile, n) + v.sum(1)[:, None].expand_as(v) + torch.flip(v, [1])
            out[tile, :] = swapped + joined + first * second + column + twl.join(v, v).flatten(1, 2).sum(-1)[:, None]
        return out

    def expected(x):
        n = x.size(1) // 2
        total = x.sum(1, keepdim=True)
        return x + 2 * torch.cat([x[:, n:], x[:, :n]], 1) + x * (x + 1) + 2 * total + x.flip(1) + 2 * total

    agree(shaped, (torch.randn(5, 12),), expected, rtol=1e-4, atol=1e-4)


def test_new_values_and_dtypes(agree):
    def made(x):
        m, n = x.size()
        out = x.new_empty([m, n])
        for tile in twl.tile(m):
            v = x[tile, :]
            total = torch.zeros_like(v) + torch.ones_like(v) + torch.full_like(v, 2.5)
            total += twl.full([tile, n], 0.5) + torch.zeros([tile, n], dtype=torch.float32) + v.new_full([tile, n], 3)
            total += twl.arange(n)[None, :] + torch.arange(n)[None, :] + twl.arange(0, 2 * n, 2)[None, :]
            total += v.to(torch.bfloat16).float() * 0 + v.half().to(v.dtype) * 0 + v.int().double().to(torch.float32)
            total += torch.tensor(0.25) + float(v.sum() * 0)
            out[tile, :] = total.type_as(v)
        return out

    agree(made, (torch.randn(4, 6) * 4,), lambda x: 7.25 + 4 * torch.arange(6.0) + x.trunc())


def test_new_values_of_a_tensor_s_dtype(agree):
    def made(x):
        m, n = x.size()
        out = torch.empty_like(x)
        for tile in twl.tile(m):
            v = x.new_zeros([tile, n]) + x.new_ones(tile, n) + x.new_full([tile, n], 2.5) + x.new_zeros(n)
            assert x.new_zeros([tile], dtype=torch.int32).dtype == torch.int32
            out[tile, :] = v + x[tile, :]
        return out

    agree(made, (torch.randn(5, 6),), lambda x: x + 3.5)


def test_metadata(agree):
    def described(x):
        m, n = x.shape
        out = x.new_empty([m])
        for tile in twl.tile(m):
            v = x[tile, :]
            assert v.dtype == torch.float32 and v.ndim == 2 and v.dim() == 2 and x.dim() == 2
            assert v.size(1) == n and v.shape[-1] == n and len(x) == m
            assert isinstance(v, torch.Tensor) and not isinstance(n, torch.Tensor)
            assert torch.finfo(v.dtype).eps < 1e-5
            out[tile] = v.sum(-1) * v.size(1) / math.sqrt(v.shape[1])
        return out

    agree(described, (torch.randn(4, 9),), lambda x: x.sum(-1) * 3)


def test_random_numbers_are_the_same_compiled_and_interpreted():
    def random(seed, m: int, n: int):
        uniform = torch.empty([m, n])
        normal = torch.empty([m, n])
        whole = torch.empty([m, n], dtype=torch.int32)
        for tile_m, tile_n in twl.tile([m, n]):
            uniform[tile_m, tile_n] = twl.rand([tile_m, tile_n], seed)
            normal[tile_m, tile_n] = twl.randn([tile_m, tile_n], seed=seed)
            whole[tile_m, tile_n] = twl.randint([tile_m, tile_n], -5, 100, seed)
        return uniform, normal, whole

    compiled = tw.kernel(random)(1234, 70, 90)
    interpreted = tw.kernel(random, interpret=True)(1234, 70, 90)
    for one, other in zip(compiled, interpreted):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    assert 0.4 < compiled[0].mean() < 0.6 and -0.1 < compiled[1].mean() < 0.1
    assert compiled[2].min() == -5 and compiled[2].max() == 99


def test_a_chunked_scan_in_reverse(agree):
    def scanned(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile, :] = twl.cumsum(x[tile, :], 1, reverse=True) + twl.associative_scan(torch.maximum, x[tile, :], 1)
        return out

    agree(scanned, (torch.randn(5, 13),), lambda x: x.flip(1).cumsum(1).flip(1) + x.cummax(1).values)
