"""The sum of two vectors."""

import torch
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The element-wise sum of two tensors of one shape."""
    out = torch.empty_like(x)
    for tile in twl.tile(x.size()):
        out[tile] = x[tile] + y[tile]
    return out


def vectors(large: bool):
    n = 1 << 24 if large else 1000
    return torch.randn(n), torch.randn(n)


EXAMPLES = [Example(add, vectors, torch.add)]

if __name__ == "__main__":
    main(EXAMPLES)
