"""Softmax over the rows of a matrix, written in three ways."""

import math

import torch
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def softmax(x: torch.Tensor) -> torch.Tensor:
    """As in PyTorch. A tile is some whole rows."""
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile, :] = torch.softmax(x[tile, :], dim=1)
    return out


@tw.kernel()
def softmax_steps(x: torch.Tensor) -> torch.Tensor:
    """Step by step: the same kernel, spelt out in float32."""
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        values = x[tile, :].float()
        powers = torch.exp(values - values.amax(1, keepdim=True))
        out[tile, :] = powers / powers.sum(1, keepdim=True)
    return out


@tw.kernel()
def softmax_online(x: torch.Tensor) -> torch.Tensor:
    """Rows of any length in two passes, keeping the largest value so far and the sum of powers relative to it (Milakov and
    Gimelshein, "Online normalizer calculation for softmax", 2018)."""
    m, n = x.size()
    out = torch.empty_like(x)
    for tile_m in twl.tile(m):
        largest = twl.full([tile_m], -math.inf)
        total = twl.zeros([tile_m])
        for tile_n in twl.tile(n):
            values = x[tile_m, tile_n].float()
            new = torch.maximum(largest, values.amax(1))
            total = total * torch.exp(largest - new) + torch.exp(values - new[:, None]).sum(1)
            largest = new
        for tile_n in twl.tile(n):
            out[tile_m, tile_n] = torch.exp(x[tile_m, tile_n].float() - largest[:, None]) / total[:, None]
    return out


def rows(large: bool):
    return (torch.randn(4096, 2048) if large else torch.randn(37, 200),)


def reference(x):
    return torch.softmax(x, dim=1)


EXAMPLES = [Example(kernel, rows, reference) for kernel in (softmax, softmax_steps, softmax_online)]

if __name__ == "__main__":
    main(EXAMPLES)
