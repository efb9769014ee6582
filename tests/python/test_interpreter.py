"""Kernels on PyTorch, tile by tile: where that is easily not what the compiled kernel does."""

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def rows(x):
    m, n = x.size()
    out = x.new_empty([m])
    block = twl.register_block_size(n)
    for tile_m in twl.tile(m):
        total = twl.zeros([tile_m, block])
        largest = twl.full([tile_m, block], float("-inf"))
        for tile_n in twl.tile(n, block_size=block):
            values = x[tile_m, tile_n].float() * 2
            total += values / 2
            largest = torch.maximum(largest, values.t().t())
        out[tile_m] = total.sum(-1) + largest.amax(-1)
    return out


@pytest.mark.parametrize("shape", [(3, 100), (9, 1), (1, 1), (5, 4), (5, 5), (4, 9)])
@pytest.mark.parametrize("blocks", [[256, 1], [4, 2], [4, 4], [4, 3]])
def test_a_value_of_a_whole_block_with_one_that_ends_early(agree, shape, blocks):
    def expected(x):
        return x.sum(1) + 2 * x.amax(1)

    x = torch.randn(shape)
    for settings in ({}, {"interpret": True}):
        kernel = tw.kernel(rows, config={"block_sizes": blocks}, **settings)
        torch.testing.assert_close(kernel(x), expected(x), rtol=1e-5, atol=1e-5)


def test_what_has_no_meaning_in_missing_elements_is_an_error():
    def angles(x):
        block = twl.register_block_size(x.size(0))
        for _ in twl.grid(1):
            total = twl.zeros([block])
            for tile in twl.tile(x.size(0), block_size=block):
                total = torch.atan2(total, x[tile])
            x[0] = total.sum()

    with pytest.raises(tw.Error, match="atan2 of a value of a whole block"):
        tw.kernel(angles, interpret=True, config={"block_sizes": [4]})(torch.ones(5))


def test_an_error_has_the_line():
    def past(x):
        for tile in twl.tile(2 * x.size(0)):
            x[tile] = x[tile] + 1

    with pytest.raises(tw.Error) as info:
        tw.kernel(past, interpret=True, config={"block_sizes": [3]})(torch.ones(4))
    message = str(info.value)
    assert message.startswith(f"{__file__}:{past.__code__.co_firstlineno + 2}: index 4 is out of range for dimension 0")
    assert "x[tile] = x[tile] + 1" in message
