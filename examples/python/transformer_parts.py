"""What happens to tokens before attention and between it: table look-up, rotary positions, gates, dropout.

embedding           table[id]
rope                pairs (x_j, x_{j + d/2}) turned by an angle of their position, of which cos and sin are given
silu_and_multiply   silu(a) b for x = [a, b]
geglu               gelu(a) b
dropout             x / (1 - p) with probability 1 - p, else 0; the same elements for the same seed
"""

import torch
import torch.nn.functional as F
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def embedding(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    n, d = ids.numel(), table.size(1)
    flat = ids.view(-1)
    out = table.new_empty([n, d])
    for tile_n, tile_d in twl.tile([n, d]):
        out[tile_n, tile_d] = table[flat[tile_n], tile_d]
    return out.view(*ids.shape, d)


@tw.kernel()
def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    heads, length, d = x.size()
    assert d % 2 == 0, f"pairs of features need an even number of them, found {d}"
    half = d // 2
    out = torch.empty_like(x)
    for tile_h, tile_t in twl.tile([heads, length]):
        a, b = x[tile_h, tile_t, :half].float(), x[tile_h, tile_t, half:].float()
        c, s = cos[None, tile_t, :], sin[None, tile_t, :]
        out[tile_h, tile_t, :half] = a * c - b * s
        out[tile_h, tile_t, half:] = b * c + a * s
    return out


@tw.kernel()
def silu_and_multiply(x: torch.Tensor) -> torch.Tensor:
    m, both = x.size()
    n = both // 2
    out = torch.empty([m, n], dtype=x.dtype)
    for tile_m, tile_n in twl.tile([m, n]):
        out[tile_m, tile_n] = F.silu(x[tile_m, tile_n].float()) * x[tile_m, tile_n + n]
    return out


@tw.kernel()
def geglu(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(a)
    for tiles in twl.tile(a.size()):
        out[tiles] = F.gelu(a[tiles].float()) * b[tiles]
    return out


@tw.kernel()
def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile_m, tile_n in twl.tile(x.size()):
        kept = twl.rand([tile_m, tile_n], seed) >= p
        out[tile_m, tile_n] = torch.where(kept, x[tile_m, tile_n].float() / (1 - p), 0.0)
    return out


def embedding_arguments(large: bool):
    n, rows, d = (16384, 32000, 256) if large else (30, 50, 24)
    return torch.randint(0, rows, (2, n // 2)), torch.randn(rows, d)


def rope_arguments(large: bool):
    h, t, d = (16, 1024, 64) if large else (3, 17, 10)
    angle = torch.arange(t)[:, None] / 10000 ** (torch.arange(d // 2) / (d // 2))
    return torch.randn(h, t, d), angle.cos(), angle.sin()


def rope_reference(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def matrix(large: bool):
    return (torch.randn(2048, 4096) if large else torch.randn(21, 34),)


def silu_reference(x):
    a, b = x.chunk(2, 1)
    return F.silu(a) * b


def dropout_by_interpretation(x, p, seed):
    """There is no such function in PyTorch: the kernel on PyTorch, tile by tile."""
    return tw.kernel(dropout.fn, interpret=True)(x, p, seed)


EXAMPLES = [
    Example(embedding, embedding_arguments, lambda ids, table: F.embedding(ids, table)),
    Example(rope, rope_arguments, rope_reference),
    Example(silu_and_multiply, matrix, silu_reference),
    Example(geglu, lambda large: matrix(large) * 2, lambda a, b: F.gelu(a) * b),
    Example(dropout, lambda large: (torch.randn(2048, 2048) if large else torch.randn(40, 70), 0.25, 42), dropout_by_interpretation),
]

if __name__ == "__main__":
    main(EXAMPLES)
