"""A matrix product with an epilogue: a function of the caller's that every tile of the result goes through before it is
stored, in the same kernel."""

from typing import Callable

import torch
import torch.nn.functional as F
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def matmul(x: torch.Tensor, y: torch.Tensor, epilogue: Callable = lambda acc, tiles: acc) -> torch.Tensor:
    """epilogue(acc, (tile_m, tile_n)) may read tensors of its own at these tiles."""
    m, k = x.size()
    k2, n = y.size()
    assert k == k2, f"inner sizes differ: {k} and {k2}"
    out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, y.dtype))
    for tile_m, tile_n in twl.tile([m, n]):
        acc = twl.zeros([tile_m, tile_n])
        for tile_k in twl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = epilogue(acc, (tile_m, tile_n))
    return out


def linear_gelu(x, weight, bias):
    """gelu(x @ weight.T + bias) in one kernel: the bias is a tensor that the epilogue holds."""
    return matmul(x, weight.T, lambda acc, tiles: F.gelu(acc + bias[tiles[1]]))


def matrices(large: bool):
    m, k, n = (1024, 1024, 1024) if large else (70, 50, 90)
    return torch.randn(m, k), torch.randn(k, n)


def linear_arguments(large: bool):
    x, y = matrices(large)
    return x, y.T.contiguous(), torch.randn(y.size(1))


def linear_reference(x, weight, bias):
    return F.gelu(F.linear(x, weight, bias))


EXAMPLES = [
    Example(matmul, matrices, torch.matmul, tolerance={"rtol": 1e-4, "atol": 1e-3}),
    Example(linear_gelu, linear_arguments, linear_reference, tolerance={"rtol": 1e-4, "atol": 1e-3}),
]

if __name__ == "__main__":
    main(EXAMPLES)
