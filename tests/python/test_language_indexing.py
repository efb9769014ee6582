"""Subscripts, loads, stores, atomics."""

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def test_none_ellipsis_slices_and_whole_dimensions(agree):
    def indexed(x, w):
        b, m, n = x.size()
        out = torch.empty_like(x)
        row = x.new_empty([b, m])
        half = x.new_empty([b, m, n // 2])
        for tile_b, tile_m in twl.tile([b, m]):
            out[tile_b, tile_m, :] = x[tile_b, tile_m, :] * w[None, None, :] + x[..., :][tile_b, tile_m] if False else (
                x[tile_b, tile_m, :] * w[None, None, :])
            row[tile_b, tile_m] = x[tile_b, tile_m, 0] + x[tile_b, tile_m, -1]
            half[tile_b, tile_m, :] = x[tile_b, tile_m, 1::2] + x[tile_b, tile_m, : n // 2]
        return out, row, half

    def expected(x, w):
        return x * w, x[..., 0] + x[..., -1], x[..., 1::2] + x[..., : x.size(2) // 2]

    agree(indexed, (torch.randn(3, 5, 8), torch.randn(8)), expected)


def test_all_tiles_of_a_loop_as_one_subscript(agree):
    def copied(x):
        out = torch.empty_like(x)
        for tiles in twl.tile(x.size()):
            out[tiles] = x[tiles] + 1
        return out

    agree(copied, (torch.randn(5, 6, 7),), lambda x: x + 1)


def test_values_take_new_dimensions(agree):
    def outer(x, y):
        out = x.new_empty([x.size(0), y.size(0)])
        for tile_m, tile_n in twl.tile([x.size(0), y.size(0)]):
            out[tile_m, tile_n] = x[tile_m][:, None] * y[tile_n][None, :] + x[tile_m].unsqueeze(-1)
        return out

    agree(outer, (torch.randn(6), torch.randn(9)), lambda x, y: x[:, None] * y + x[:, None])


def test_gather_and_scatter(agree):
    def embedding(ids, table):
        out = table.new_empty([ids.size(0), table.size(1)])
        for tile in twl.tile(ids.size(0)):
            out[tile, :] = table[ids[tile], :]
        return out

    agree(embedding, (torch.randint(0, 11, (20,)), torch.randn(11, 6)), lambda i, t: t[i])

    def scattered(order, x):
        out = torch.zeros_like(x)
        for tile in twl.tile(x.size(0)):
            out[order[tile]] = x[tile]
        return out

    order = torch.randperm(25)
    agree(scattered, (order, torch.randn(25)), lambda o, x: torch.zeros_like(x).index_put_((o,), x))


def test_index_tensors_of_rank_2_go_element_by_element(agree):
    def picked(x, picks):
        out = x.new_empty([x.size(0)])
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile.index[:, None], picks[tile, None]].squeeze(1)
        return out

    agree(picked, (torch.randn(9, 7), torch.randint(0, 7, (9,))), lambda x, p: x.gather(1, p[:, None])[:, 0])


def test_shifted_tiles_and_masks(agree):
    def neighbours(x):
        n = x.size(0)
        out = torch.empty_like(x)
        for tile in twl.tile(n):
            left = twl.load(x, [tile - 1], extra_mask=tile.index > 0)
            right = twl.load(x, [tile + 1], extra_mask=tile.index < n - 1, eviction_policy="last")
            twl.store(out, [tile], left + right, extra_mask=x[tile] > 0)
            twl.store(out, [tile], x[tile], extra_mask=x[tile] <= 0)
        return out

    def expected(x):
        zero = torch.zeros(1)
        return torch.where(x > 0, torch.cat([zero, x[:-1]]) + torch.cat([x[1:], zero]), x)

    agree(neighbours, (torch.randn(30),), expected)


def test_a_slice_from_a_scalar(agree):
    def windows(x, starts):
        out = x.new_empty([starts.size(0), 4])
        for i in twl.grid(starts.size(0)):
            b = starts[i]
            out[i, :] = x[b : b + 4]
        return out

    starts = torch.tensor([3, 0, 9])
    agree(windows, (torch.randn(13), starts), lambda x, s: torch.stack([x[b : b + 4] for b in s.tolist()]))


def test_augmented_stores(agree):
    def accumulated(x, out):
        for tile in twl.tile(x.size(0)):
            out[tile] += x[tile] * 2
            out[tile] *= 3

    agree(accumulated, (torch.randn(17), torch.randn(17)), lambda x, o: [(o + x * 2) * 3], written=[1])


def test_atomics(agree):
    def histogram(keys, counts, largest):
        for tile in twl.tile(keys.size(0)):
            twl.atomic_add(counts, [keys[tile]], 1)
            twl.atomic_max(largest, [keys[tile]], tile.index.to(torch.int64))

    keys = torch.randint(0, 5, (60,))
    largest = torch.tensor([max([i for i, k in enumerate(keys.tolist()) if k == key], default=0) for key in range(5)])
    agree(histogram, (keys, torch.zeros(5, dtype=torch.int64), torch.zeros(5, dtype=torch.int64)),
          [torch.bincount(keys, minlength=5), largest], written=[1, 2])


def test_scalars_in_memory(agree):
    def scaled(x, scale, total):
        for tile in twl.tile(x.size(0)):
            twl.atomic_add(total, [0], (x[tile] * scale).sum())

    agree(scaled, (torch.ones(50), torch.tensor(2.0), torch.zeros(1)), [torch.tensor([100.0])], written=[2])


def test_a_dimension_of_size_1_broadcasts(agree):
    def broadcast(x, bias):
        out = torch.empty_like(x)
        for tile_m, tile_n in twl.tile(x.size()):
            out[tile_m, tile_n] = x[tile_m, tile_n] + bias[tile_m, tile_n]
        return out

    agree(broadcast, (torch.randn(6, 7), torch.randn(1, 7)), lambda x, b: x + b)
    agree(broadcast, (torch.randn(6, 7), torch.randn(6, 1)), lambda x, b: x + b)


def test_numbers_among_the_arguments_count_from_the_end_as_in_pytorch(agree):
    def rows(x, i: int):
        out = x.new_empty([4, x.size(1)])
        for t in twl.tile(x.size(1)):
            out[0, t] = x[i, t]
            below = i - 1
            out[1, t] = twl.load(x, [below, t])
            out[i % 2 + 2, t] = x[..., i, t] * 0 + 1
            out[-(i % 2) - 1, t] = x[i, t] * 0 + 2
            twl.atomic_add(out, [0 * i - 4, t], x[i, t])
        return out

    def expected(x, i):
        pair = [1.0, 2.0] if i % 2 == 0 else [2.0, 1.0]
        return torch.stack([2 * x[i], x[i - 1], *(torch.full([x.size(1)], one) for one in pair)])

    x = torch.randn(4, 5)
    for i in (-3, -2, 0, 1, 3):
        agree(rows, (x, i), expected)


def test_tensors_of_no_dimension(agree):
    def added(x, y):
        out = torch.empty_like(x)
        for tile in twl.tile(out.size()):
            out[tile] = x[tile] + y[tile]
        return out

    agree(added, (torch.tensor(2.0), torch.tensor(3.0)), lambda x, y: x + y)
    agree(added, (torch.randn(5, 6), torch.randn(5, 6)), lambda x, y: x + y)


def test_slices_that_begin_on_the_device_however_the_length_is_written(agree):
    def windows(x):
        m, k = x.size()
        total, largest = x.new_zeros([m]), x.new_empty([m])
        fours = x.new_empty([m, 3])
        block = twl.register_block_size(k // 2)
        for rows in twl.tile(m):
            acc = twl.zeros([rows])
            top = twl.full([rows], float("-inf"))
            for tile in twl.tile(k // 2, block_size=block):
                begin = tile.begin * 2
                length = block * 2
                acc += x[rows, begin : (begin + length)].sum(1)
                top = torch.maximum(top, x[rows, tile.begin * 2 : tile.block_size * 2 + 2 * tile.begin].amax(1))
            total[rows], largest[rows] = acc, top
            for i in range(3):
                end = (i + 1) * 4
                fours[rows, i] = x[rows, i * 4 : end].sum(1)
        return total, largest, fours

    def expected(x):
        return x.sum(1), x.amax(1), x[:, :12].reshape(-1, 3, 4).sum(2)

    for k in (20, 64):
        agree(windows, (torch.randn(7, k),), expected, rtol=1e-4, atol=1e-4,
              configs=({}, {"block_sizes": [4, 4]}, {"block_sizes": [16, 2]}, {"block_sizes": [64, 8]}))


def test_a_slice_whose_length_depends_on_the_device_is_refused():
    @tw.kernel()
    def doubled(x):
        for tile in twl.tile(x.size(0)):
            i = tile.begin
            x[tile] = x[i : i * 2].sum()

    with pytest.raises(tw.Error, match=r"ends at the same value plus a number or a block size, as in x\[begin : begin \+ length\]"):
        doubled(torch.ones(9))
