"""Matrix products x @ w that are not plain.

int4_matmul       weights of 4 bits, two of one column in a byte: row 2i in the low half, row 2i + 1 in the high one;
                  w = signed nibble * scale[column]. x comes as [m, k / 2, 2], its pairs of columns side by side
split_k           the inner dimension in parts, as many as the config says: their products in memory, and after a barrier their sum
split_k_atomic    the parts are added up in the result at once
batched_matmul    [b, m, k] by [b, k, n]
"""

import torch
from checking import Example, main

import tilewright as tw
import tilewright.language as twl

PARTS = [1, 2, 4, 8, 16]  # how many, which the config chooses: what is best depends on the sizes and the machine


@tw.kernel()
def int4_matmul(x: torch.Tensor, packed: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    m, pairs, two = x.size()
    packed_pairs, n = packed.size()
    assert two == 2 and pairs == packed_pairs, f"x has {pairs} groups of {two}, and the weights {packed_pairs} pairs of rows"
    out = torch.empty([m, n], dtype=x.dtype)
    for tile_m, tile_n in twl.tile([m, n]):
        acc = twl.zeros([tile_m, tile_n])
        for tile_k in twl.tile(pairs):
            both = packed[tile_k, tile_n]
            low = (both << 4) >> 4  # the sign comes along from the left
            high = both >> 4
            acc = torch.addmm(acc, x[tile_m, tile_k, 0], low.to(x.dtype))
            acc = torch.addmm(acc, x[tile_m, tile_k, 1], high.to(x.dtype))
        out[tile_m, tile_n] = acc * scale[tile_n]
    return out


def product_of_part(x, w, parts, part, tile_m, tile_n):
    """Of one of the parts of the inner dimension; a plain function, read into each kernel that calls it."""
    k = x.size(1)
    each = tw.cdiv(k, parts)
    acc = twl.zeros([tile_m, tile_n])
    begin = part * each
    for tile_k in twl.tile(begin, min(begin + each, k)):
        acc = torch.addmm(acc, x[tile_m, tile_k], w[tile_k, tile_n])
    return acc


@tw.kernel()
def split_k(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    (m, k), (w_k, n) = x.size(), w.size()
    assert k == w_k, f"inner sizes differ: {k} and {w_k}"
    parts = twl.register_tunable("parts", PARTS)
    products = torch.empty([parts, m, n])
    out = torch.empty([m, n], dtype=x.dtype)
    for part, tile_m, tile_n in twl.tile([parts, m, n], block_size=[1, None, None]):
        products[part.begin, tile_m, tile_n] = product_of_part(x, w, parts, part.begin, tile_m, tile_n)
    twl.barrier()
    for tile_m, tile_n in twl.tile([m, n]):
        out[tile_m, tile_n] = products[:, tile_m, tile_n].sum(0)
    return out


@tw.kernel()
def split_k_atomic(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    (m, k), (w_k, n) = x.size(), w.size()
    assert k == w_k, f"inner sizes differ: {k} and {w_k}"
    parts = twl.register_tunable("parts", PARTS)
    out = torch.zeros([m, n])
    for part, tile_m, tile_n in twl.tile([parts, m, n], block_size=[1, None, None]):
        twl.atomic_add(out, [tile_m, tile_n], product_of_part(x, w, parts, part.begin, tile_m, tile_n))
    return out


@tw.kernel()
def batched_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    (b, m, k), (_, _, n) = x.size(), y.size()
    out = torch.empty([b, m, n], dtype=x.dtype)
    for tile_b, tile_m, tile_n in twl.tile([b, m, n]):
        acc = twl.zeros([tile_b, tile_m, tile_n])
        for tile_k in twl.tile(k):
            acc = torch.baddbmm(acc, x[tile_b, tile_m, tile_k], y[tile_b, tile_k, tile_n])
        out[tile_b, tile_m, tile_n] = acc
    return out


def int4_arguments(large: bool):
    m, k, n = (256, 2048, 2048) if large else (20, 48, 33)
    weights = torch.randint(-8, 8, (k, n), dtype=torch.int8)
    packed = (weights[0::2] & 0xF) | (weights[1::2] << 4)
    return torch.randn(m, k // 2, 2), packed, torch.rand(n)


def int4_reference(x, packed, scale):
    weights = torch.stack([(packed << 4) >> 4, packed >> 4], dim=1).flatten(0, 1)
    return x.flatten(1) @ weights.to(x.dtype) * scale


def long_inner(large: bool):
    m, k, n = (64, 16384, 64) if large else (20, 130, 30)
    return torch.randn(m, k), torch.randn(k, n)


def batches(large: bool):
    b, m, k, n = (16, 256, 256, 256) if large else (3, 20, 30, 25)
    return torch.randn(b, m, k), torch.randn(b, k, n)


TOLERANCE = {"rtol": 1e-3, "atol": 1e-2}
EXAMPLES = [
    Example(int4_matmul, int4_arguments, int4_reference, tolerance=TOLERANCE),
    Example(split_k, long_inner, torch.matmul, tolerance=TOLERANCE),
    Example(split_k_atomic, long_inner, torch.matmul, tolerance=TOLERANCE),
    Example(batched_matmul, batches, torch.bmm, tolerance=TOLERANCE),
]

if __name__ == "__main__":
    main(EXAMPLES)
