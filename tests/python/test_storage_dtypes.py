"""uint8 and 8-bit floats, the same bits as another dtype, and sorting, as PyTorch has them."""

import functools
import types

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def test_uint8_is_computed_modulo_256(agree):
    def computed(x, y):
        m, n = x.size()
        sums, shifted = torch.empty_like(x), torch.empty_like(x)
        wide = torch.empty([m, n], dtype=torch.int16)
        total, most = torch.empty([m], dtype=torch.int64), torch.empty([m], dtype=torch.uint8)
        unpacked = torch.empty([m, n], dtype=torch.int8)
        for tile in twl.tile(m):
            v = x[tile, :]
            sums[tile, :] = v * 3 + v
            shifted[tile, :] = (v >> 4) | (v << 4)
            wide[tile, :] = v + y[tile, :]
            total[tile], most[tile] = v.sum(1), v.amax(1)
            unpacked[tile, :] = ((v & 15).to(torch.int8) ^ 8) - 8
        return sums, shifted, wide, total, most, unpacked

    def expected(x, y):
        return (x * 3 + x, (x >> 4) | (x << 4), x + y, x.sum(1), x.amax(1), ((x & 15).to(torch.int8) ^ 8) - 8)

    x, y = torch.randint(0, 256, (9, 20), dtype=torch.uint8), torch.randint(-100, 100, (9, 20), dtype=torch.int8)
    agree(computed, (x, y), expected)
    agree(computed, (x.t().contiguous().t(), y), expected)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_8_bit_floats_are_stored_and_converted(agree, dtype):
    def scaled(x, scale):
        out, back = torch.empty_like(x), torch.empty([x.size(0), x.size(1)])
        same = torch.empty_like(x)
        for tile_m, tile_n in twl.tile([x.size(0), x.size(1)]):
            v = x[tile_m, tile_n]
            back[tile_m, tile_n] = v.to(torch.float32) * scale
            out[tile_m, tile_n] = (v.float() * scale).to(x.dtype)
            same[tile_m, tile_n] = v
        return out.float(), back, same.float()

    x = torch.randn(7, 33).to(dtype)
    agree(scaled, (x, 2.5), lambda x, scale: ((x.float() * scale).to(dtype).float(), x.float() * scale, x.float()))


def test_a_product_of_8_bit_floats(agree):
    def product(x, y):
        out = torch.empty([x.size(0), y.size(1)])
        for tile_m, tile_n in twl.tile([x.size(0), y.size(1)]):
            acc = twl.zeros([tile_m, tile_n])
            for tile_k in twl.tile(x.size(1)):
                acc = twl.dot(x[tile_m, tile_k], y[tile_k, tile_n], acc=acc)
            out[tile_m, tile_n] = acc
        return out

    x, y = torch.randn(9, 20).to(torch.float8_e4m3fn), torch.randn(20, 8).to(torch.float8_e5m2)
    agree(product, (x, x.t().contiguous()), lambda x, y: x.float() @ y.float(), rtol=1e-4, atol=1e-4)
    agree(product, (y.t().contiguous(), y), lambda x, y: x.float() @ y.float(), rtol=1e-4, atol=1e-4)


def test_the_same_bits(agree):
    def bits(x, h):
        words, magnitudes = torch.empty(x.shape, dtype=torch.int32), torch.empty_like(x)
        halves = torch.empty(h.shape, dtype=torch.int16)
        for tile in twl.tile(x.size(0)):
            words[tile] = x[tile].view(torch.int32)
            magnitudes[tile] = (x[tile].view(torch.int32) & 0x7FFFFFFF).view(torch.float32)
            halves[tile] = h[tile].view(dtype=torch.int16)
        return words, magnitudes, halves

    x = torch.randn(30)
    agree(bits, (x, x.bfloat16()), lambda x, h: (x.view(torch.int32), x.abs(), h.view(torch.int16)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16, torch.uint8])
def test_sort_argsort_and_topk(agree, dtype):
    def sorted_rows(x):
        m, n = x.size()
        values, places = torch.empty_like(x), torch.empty([m, n], dtype=torch.int64)
        columns, back = torch.empty_like(x), torch.empty([m, n], dtype=torch.int64)
        best, worst = x.new_empty([m, 3]), torch.empty([m, 2], dtype=torch.int64)
        for tile in twl.tile(m):
            v = x[tile, :]
            values[tile, :], places[tile, :] = torch.sort(v, dim=1, descending=True)
            back[tile, :] = v.argsort(-1)
            best[tile, :] = v.topk(3, dim=1).values
            worst[tile, :] = torch.topk(v, 2, largest=False)[1]
        for tile in twl.tile(n):
            columns[:, tile] = x[:, tile].sort(0).values
        return values, places, back, best, worst, columns

    def expected(x):
        values, places = x.sort(dim=1, descending=True, stable=True)
        back = x.argsort(dim=1, stable=True)
        return values, places, back, values[:, :3], back[:, :2], x.sort(0).values

    x = torch.randint(0, 12, (6, 10)).to(dtype)
    agree(sorted_rows, (x,), expected)
    if dtype.is_floating_point:
        x[2, 3], x[4, 1] = float("nan"), float("-inf")
        agree(sorted_rows, (x,), expected, equal_nan=True)


def test_a_mask_over_a_dimension_of_one(agree):
    def concatenated(x, y):
        (m, a), (_, b) = x.size(), y.size()
        out = x.new_empty([m, a + b])
        for t0, t1 in twl.tile([m, a + b]):
            left = twl.load(x, [t0, t1], extra_mask=(t1.index < a)[None, :])
            right = twl.load(y, [t0, t1 - a], extra_mask=(t1.index >= a)[None, :])
            out[t0, t1] = torch.where((t1.index < a)[None, :], left, right)
        return out

    for m, a, b in ((5, 1, 9), (5, 9, 1), (1, 1, 1), (1, 3, 2), (4, 2, 7)):
        agree(concatenated, (torch.randn(m, a), torch.randn(m, b)), lambda x, y: torch.cat([x, y], 1))


#
# Tensors that functions hold
#

SCALE = torch.randn(7)


def _mapped(x, function):
    out = torch.empty_like(x)
    for tile in twl.tile([x.size(0), x.size(1)]):
        out[tile] = function(x[tile], tile)
    return out


def test_functions_hold_tensors_of_their_module_and_defaults(agree, monkeypatch):
    x, other = torch.randn(5, 7), torch.randn(7)
    kernel = tw.kernel(_mapped)
    by_global = lambda v, tile: v * SCALE[tile[1]]  # noqa: E731
    agree(_mapped, (x, by_global), lambda x, f: x * SCALE)
    agree(_mapped, (x, lambda v, tile, by=other: v - by[tile[1]]), lambda x, f: x - other)
    agree(_mapped, (x, functools.partial(lambda v, tile, by: v * by[tile[1]] + SCALE[tile[1]], by=other)),
          lambda x, f: x * other + SCALE)

    def by_keyword(v, tile, *, by=other, times=2):
        return v * by[tile[1]] * times

    agree(_mapped, (x, by_keyword), lambda x, f: x * other * 2)
    # A name of the closure is no name of the module, though an attribute in the function has it too.
    def scaled_by(SCALE, holder):
        return lambda v, tile: v * SCALE[tile[1]] * holder.SCALE

    agree(_mapped, (x, scaled_by(other, types.SimpleNamespace(SCALE=2))), lambda x, f: x * other * 2)
    # One kernel for all tensors of a kind, and never an old one.
    for by in (torch.randn(7), torch.randn(7)):
        torch.testing.assert_close(kernel(x, lambda v, tile, by=by: v + by[tile[1]]), x + by)
    monkeypatch.setitem(globals(), "SCALE", torch.ones(7))
    torch.testing.assert_close(kernel(x, by_global), x)
