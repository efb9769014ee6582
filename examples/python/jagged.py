"""Rows in groups of different lengths, one after the other: group i is rows offsets[i] to offsets[i + 1] of x.

jagged_mean        the mean of each group's rows; 0 of an empty one
jagged_softmax     softmax down each column of each group
jagged_dense_add   row t of group i plus y[i, t]; rows beyond y's length stay as they are
segmented_sum      for sorted keys, sums[k] of the rows with key k
grouped_matmul     the rows of group g by w[g]
"""

import math

import torch
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def jagged_mean(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    rows, d = x.size()
    groups = offsets.size(0) - 1
    out = torch.empty([groups, d], dtype=x.dtype)
    for group, tile_d in twl.tile([groups, d], block_size=[1, None]):
        begin, end = offsets[group.begin], offsets[group.begin + 1]
        total = twl.zeros([tile_d])
        for tile in twl.tile(begin, end):
            total += x[tile, tile_d].sum(0)
        out[group.begin, tile_d] = total / max(end - begin, 1)
    return out


@tw.kernel()
def jagged_softmax(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    rows, d = x.size()
    out = torch.empty_like(x)
    for group in twl.grid(offsets.size(0) - 1):
        begin, end = offsets[group], offsets[group + 1]
        for tile_d in twl.tile(d):
            largest, total = twl.full([tile_d], -math.inf), twl.zeros([tile_d])
            for tile in twl.tile(begin, end):
                values = x[tile, tile_d].float()
                new = torch.maximum(largest, values.amax(0))
                total = total * torch.exp(largest - new) + torch.exp(values - new).sum(0)
                largest = new
            for tile in twl.tile(begin, end):
                out[tile, tile_d] = torch.exp(x[tile, tile_d] - largest) / total
    return out


@tw.kernel()
def jagged_dense_add(x: torch.Tensor, offsets: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    rows, d = x.size()
    groups, length, _ = y.size()
    assert offsets.size(0) == groups + 1, f"{groups} groups need {groups + 1} offsets, found {offsets.size(0)}"
    out = torch.empty_like(x)
    for group, tile_d in twl.tile([groups, d], block_size=[1, None]):
        begin, end = offsets[group.begin], offsets[group.begin + 1]
        last = torch.minimum(begin + length, end)
        for tile in twl.tile(begin, last):
            out[tile, tile_d] = x[tile, tile_d] + y[group.begin, tile - begin, tile_d]
        for tile in twl.tile(last, end):
            out[tile, tile_d] = x[tile, tile_d]
    return out


@tw.kernel()
def segmented_sum(keys: torch.Tensor, x: torch.Tensor, sums: torch.Tensor) -> None:
    """A scan of (key, row) pairs adds up runs of one key within a tile, and the last of each run holds its sum. A run may go
    on in the next tile, so sums are added to memory at once."""
    rows, d = x.size()

    def combine(key_a, a, key_b, b):
        return key_b, torch.where(key_a == key_b, a + b, b)

    for tile, tile_d in twl.tile([rows, d]):
        key = keys[tile]
        values = x[tile, tile_d].float()
        same = torch.zeros_like(values, dtype=torch.int64) + key[:, None]
        _, total = twl.associative_scan(combine, (same, values), 0)
        following = keys[(tile.index + 1).clamp(max=rows - 1)]
        is_last = (key != following) | (tile.index + 1 == tile.end)
        twl.atomic_add(sums, [key, tile_d], torch.where(is_last[:, None], total, 0.0))


@tw.kernel()
def grouped_matmul(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    rows, k = x.size()
    groups, w_k, n = w.size()
    assert k == w_k, f"inner sizes differ: {k} and {w_k}"
    out = torch.empty([rows, n], dtype=x.dtype)
    for group, tile_n in twl.tile([groups, n], block_size=[1, None]):
        g = group.begin
        for tile_m in twl.tile(offsets[g], offsets[g + 1]):
            acc = twl.zeros([tile_m, tile_n])
            for tile_k in twl.tile(k):
                acc = torch.addmm(acc, x[tile_m, tile_k], w[g, tile_k, tile_n])
            out[tile_m, tile_n] = acc
    return out


def offsets_of(rows: int, groups: int) -> torch.Tensor:
    """In order, from 0 to all rows; some groups are empty."""
    inner = torch.sort(torch.randint(0, rows + 1, (groups - 1,))).values
    return torch.cat([torch.tensor([0]), inner, torch.tensor([rows])])


def groups_of_rows(large: bool):
    rows, d, groups = (16384, 256, 128) if large else (60, 19, 9)
    return torch.randn(rows, d), offsets_of(rows, groups)


def bounds(offsets):
    ends = offsets.tolist()
    return list(zip(ends[:-1], ends[1:]))


def mean_reference(x, offsets):
    return torch.stack([x[a:b].mean(0) if b > a else x.new_zeros(x.size(1)) for a, b in bounds(offsets)])


def softmax_reference(x, offsets):
    return torch.cat([x[a:b].softmax(0) for a, b in bounds(offsets)])


def dense_arguments(large: bool):
    x, offsets = groups_of_rows(large)
    return x, offsets, torch.randn(offsets.size(0) - 1, 100 if large else 5, x.size(1))


def dense_reference(x, offsets, y):
    out = x.clone()
    for i, (a, b) in enumerate(bounds(offsets)):
        b = min(b, a + y.size(1))
        out[a:b] += y[i, : b - a]
    return out


def segmented_arguments(large: bool):
    rows, d, segments = (16384, 256, 128) if large else (60, 19, 9)
    return torch.sort(torch.randint(0, segments, (rows,))).values, torch.randn(rows, d), torch.zeros(segments, d)


def segmented_reference(keys, x, sums):
    return [sums.index_add(0, keys, x)]


def grouped_arguments(large: bool):
    rows, k, n, groups = (4096, 256, 256, 16) if large else (60, 19, 24, 5)
    return torch.randn(rows, k), torch.randn(groups, k, n), offsets_of(rows, groups)


def grouped_reference(x, w, offsets):
    return torch.cat([x[a:b] @ w[g] for g, (a, b) in enumerate(bounds(offsets))])


EXAMPLES = [
    Example(jagged_mean, groups_of_rows, mean_reference),
    Example(jagged_softmax, groups_of_rows, softmax_reference),
    Example(jagged_dense_add, dense_arguments, dense_reference),
    Example(segmented_sum, segmented_arguments, segmented_reference, written=(2,), tolerance={"rtol": 1e-3, "atol": 1e-3}),
    Example(grouped_matmul, grouped_arguments, grouped_reference),
]

if __name__ == "__main__":
    main(EXAMPLES)
