"""Statements of the device: loops, branches, assignments, functions."""

import functools
import math

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def test_loops_carry_names_tuples_and_numbers(agree):
    def online_softmax(x):
        m, n = x.size()
        out = torch.empty_like(x)
        for tile_m in twl.tile(m):
            state = (twl.full([tile_m], -math.inf), twl.zeros([tile_m]))
            count = 0
            for tile_n in twl.tile(n):
                values = x[tile_m, tile_n]
                largest, total = state
                new = torch.maximum(largest, values.amax(-1))
                total = total * torch.exp(largest - new) + torch.exp(values - new[:, None]).sum(-1)
                state = new, total
                count += 1
            largest, total = state
            for tile_n in twl.tile(n):
                out[tile_m, tile_n] = torch.exp(x[tile_m, tile_n] - largest[:, None]) / total[:, None] + 0 * count
        return out

    agree(online_softmax, (torch.randn(9, 50),), lambda x: x.softmax(-1), configs=[{}, {"block_sizes": [4, 16, 8]}])


def test_augmented_assignment_changes_no_other_name(agree):
    def mixed(x, n):
        out, whole = torch.empty_like(x), torch.empty_like(n)
        for tile in twl.tile(x.size(0)):
            a = b = c = d = e = f = g = x[tile]
            a += 1; b -= 2; c *= 3; d /= 4; e **= 2; f //= 2; g %= 3  # noqa: E702
            out[tile] = x[tile] + a + b + c + d + e + f + g
            h = i = j = k = l = n[tile]  # noqa: E741
            h &= 6; i |= 8; j ^= 5; k <<= 1; l >>= 1  # noqa: E702, E741
            whole[tile] = n[tile] + h + i + j + k + l
        return out, whole

    def reference(x, n):
        return (x + (x + 1) + (x - 2) + x * 3 + x / 4 + x**2 + x // 2 + x % 3,
                n + (n & 6) + (n | 8) + (n ^ 5) + (n << 1) + (n >> 1))

    agree(mixed, (torch.randn(9), torch.arange(9, dtype=torch.int32)), reference)


def test_a_copy_of_a_name_is_a_name_of_its_own(agree):
    def shifted(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            a = x[tile]
            b = a
            a = a + 1
            a, b = b, a
            a += 10
            out[tile] = a * 100 + b
        return out

    agree(shifted, (torch.randn(20),), lambda x: (x + 10) * 100 + x + 1)


def test_grid_range_and_static_range(agree):
    def counted(x):
        m, n = x.size()
        out = torch.zeros_like(x)
        for i in twl.grid(m):
            for j in range(n):
                v = x[i, j]
                for k in twl.static_range(3):
                    v = v + k
                for k in range(1, 6, 2):
                    v = v * k
                out[i, j] = v + i
        return out

    agree(counted, (torch.randn(4, 5),), lambda x: (x + 3) * 15 + torch.arange(4.0)[:, None])


def test_bounds_from_data(agree):
    def jagged_sum(x, offsets):
        out = x.new_zeros([offsets.size(0) - 1])
        for i in twl.grid(offsets.size(0) - 1):
            total = 0.0
            for tile in twl.tile(offsets[i], offsets[i + 1]):
                total = total + x[tile].sum()
            count = 0
            for j in range(offsets[i], offsets[i + 1]):
                count = count + 1
            out[i] = total * count
        return out

    offsets = torch.tensor([0, 3, 3, 10, 24])
    x = torch.randn(24)
    expected = torch.stack([x[a:b].sum() * (b - a) for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist())])
    agree(jagged_sum, (x, offsets), expected)


def test_jagged_tiles_end_at_the_length_of_each_row(agree):
    def jagged_sums(x, lengths, block):
        out = x.new_empty([lengths.size(0)])
        copy = torch.full_like(x, -1)
        for rows in twl.tile(lengths.size(0)):
            total = twl.zeros([rows])
            for columns in twl.jagged_tile(lengths[rows], block_size=block):
                values = x[rows, columns] + 1  # 1 only where there is an element
                total += values.sum(1)
                copy[rows, columns] = values
            out[rows] = total
        return out, copy

    def expected(x, lengths, block):
        inside = torch.arange(x.size(1))[None, :] < lengths[:, None]
        return torch.where(inside, x + 1, 0).sum(1), torch.where(inside, x + 1, -1)

    x = torch.randint(-5, 5, (9, 40)).float()
    lengths = torch.tensor([0, 3, 40, 17, 16, 1, 0, 39, 8])
    for block in (None, 16):
        agree(jagged_sums, (x, lengths, block), expected, configs=({}, {"block_sizes": [4] if block else [4, 8]}),
              interpreted=False)


def test_outermost_bounds_from_data(agree):
    def part(x, bounds):
        out = torch.zeros_like(x)
        for tile in twl.tile(bounds[0], bounds[1]):
            out[tile] = x[tile] * 2
        return out

    def corner(x, sizes):
        for rows, columns in twl.tile([sizes[0], sizes[-1]]):
            x[rows, columns] = 1.0

    x = torch.randn(50)
    for begin, end in ((3, 40), (0, 50), (7, 7), (9, 2)):
        inside = (torch.arange(50) >= begin) & (torch.arange(50) < end)
        agree(part, (x, torch.tensor([begin, end])), torch.where(inside, x * 2, 0), configs=({}, {"block_sizes": [4]}))

    def expected(x, sizes):
        x[:sizes[0], :sizes[-1]] = 1
        return [x]

    agree(corner, (torch.zeros(9, 20), torch.tensor([5, 0, 13], dtype=torch.int32)), expected, written=[0])


def test_what_is_no_length_of_jagged_rows_is_refused():
    @tw.kernel()
    def outside(x, lengths):
        for tile in twl.jagged_tile(lengths):
            x[tile] = 1.0

    @tw.kernel()
    def number(x, lengths):
        for rows in twl.tile(x.size(0)):
            for tile in twl.jagged_tile(5):
                x[rows, tile] = 1.0

    for kernel, message in ((outside, "goes into the loop over the rows"), (number, "takes the lengths of the rows as a value")):
        with pytest.raises(tw.Error, match=message):
            kernel(torch.zeros(3, 4), torch.tensor([1, 2, 3]))


def test_branches_on_scalars(agree):
    def signs(x, flags):
        out = torch.empty_like(x)
        for i in twl.grid(x.size(0)):
            v = x[i]
            kind = 1.0
            if flags[i] == 0:
                kind = 2.0
                w = v * 3
            elif flags[i] == 1 and v > 0:
                w = v * 5
            else:
                w = -v
            out[i] = w * kind
        return out

    x, flags = torch.randn(40), torch.randint(0, 3, (40,))

    def expected(x, flags):
        return torch.where(flags == 0, x * 6, torch.where((flags == 1) & (x > 0), x * 5, -x))

    agree(signs, (x, flags), expected)


def test_names_of_a_branch_s_own_may_be_anything(agree):
    def grouped(x, counts):
        out = torch.zeros_like(x)
        for i in twl.grid(counts.size(0)):
            if counts[i] != 0:
                for tile in twl.tile(counts[i]):
                    size, kind = tile.block_size, "a"
                    v = x[i, tile]
                    rows = v.size(0)
                    half = 2 * SCALE
                    out[i, tile] = v.view(rows) * half + 0 * size
            else:
                kind = "b"  # noqa: F841
                out[i, 0] = 7.0
        return out

    x, counts = torch.randn(4, 6), torch.tensor([3, 0, 6, 1])

    def expected(x, counts):
        out = torch.where(torch.arange(6) < counts[:, None], x * 5, 0.0)
        out[1, 0] = 7
        return out

    agree(grouped, (x, counts), expected)


SCALE = 2.5


def test_conditional_expressions_and_boolean_operators(agree):
    def picked(x, y):
        out = torch.empty_like(x)
        n = x.size(0)
        for i in twl.grid(n):
            a = x[i] if i > 0 else y[i]
            b = x[i - 1] if i > 0 and x[i - 1] > 0 else 0.0
            c = 1.0 if 0 <= i < n - 1 or y[i] > 0 else 2.0
            d = 1.0 if not (x[i] > 0) else -1.0
            out[i] = a + b * c + d
        return out

    def expected(x, y):
        out = torch.empty_like(x)
        n = len(x)
        for i in range(n):
            a = x[i] if i > 0 else y[i]
            b = x[i - 1] if i > 0 and x[i - 1] > 0 else 0.0
            c = 1.0 if 0 <= i < n - 1 or y[i] > 0 else 2.0
            out[i] = a + b * c + (1.0 if not (x[i] > 0) else -1.0)
        return out

    agree(picked, (torch.randn(12), torch.randn(12)), expected)


def test_while(agree):
    def halvings(x):
        out = torch.empty_like(x)
        for i in twl.grid(x.size(0)):
            v = x[i]
            count = 0
            while v > 1 and count < 20:
                v = v / 2
                count += 1
            out[i] = count
        return out

    def expected(x):
        result = []
        for v in x.tolist():
            count = 0
            while v > 1 and count < 20:
                v, count = v / 2, count + 1
            result.append(float(count))
        return torch.tensor(result)

    agree(halvings, (torch.tensor([0.5, 1.0, 3.0, 64.0, 1000.0, 1e9]),), expected)


def test_conditions_that_are_known_leave_out_what_is_not_taken(agree):
    def chosen(x, mode):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            v = x[tile]
            if mode == "a" or x.size(0) > 10**6:
                v = v + 1
            elif x.ndim == 1:
                v = v + 2
            else:
                v = this_does_not_exist(v)  # noqa: F821
            i = 0
            while i < 3:
                v = v * 2
                i += 1
            assert i == 3
            out[tile] = v
        return out

    agree(chosen, (torch.randn(5), "b"), lambda x, m: (x + 2) * 8)


def test_functions_lambdas_and_comprehensions(agree):
    def horner(x, *coefficients, negate=False):
        total = coefficients[0]
        for c in coefficients[1:]:
            total = total * x + c
        return -total if negate else total

    def evaluated(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            v = x[tile]

            def square(t):
                return t * t

            twice = lambda t, by=2: t * by  # noqa: E731
            parts = [square(v + i) for i in range(4) if i != 2]
            total = sum(parts) + functools.reduce(lambda a, b: a + b, [twice(p) for p in parts])
            table = {name: v * k for k, name in enumerate("ab")}
            first, *rest = (v, v + 1, v + 2)
            out[tile] = horner(total, 1.0, *[2.0, 3.0], negate=True) + table["b"] + first + rest[1]
        return out

    def expected(x):
        parts = [(x + i) ** 2 for i in (0, 1, 3)]
        total = 3 * sum(parts)
        return -((1.0 * total + 2.0) * total + 3.0) + x + x + x + 2

    agree(evaluated, (torch.randn(30),), expected, rtol=1e-4, atol=1e-4)


def test_unrolled_loops_over_sequences_may_be_left(agree):
    def first_positive(x, y):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            v = x[tile]
            for w, other in zip((1, 2, 3, 4), [x, y, x, y]):
                if w == 2:
                    continue
                if w == 4:
                    break
                v = v + w * other[tile]
            out[tile] = v
        return out

    agree(first_positive, (torch.randn(9), torch.randn(9)), lambda x, y: x * 5)


def test_tiles_have_indices_bounds_and_numbers(agree):
    def numbered(x):
        n = x.size(0)
        out = torch.empty([n], dtype=torch.int64)
        ends = torch.zeros([n], dtype=torch.int64)
        for tile in twl.tile(n, block_size=8):
            out[tile] = tile.index * 10 + tile.begin + tile.id * 1000 + tile.block_size + tile.count
            ends[tile] = tile.end
        return out, ends

    def expected(x):
        i = torch.arange(20)
        return i * 10 + i // 8 * 8 + i // 8 * 1000 + 8 + 3, torch.tensor([8] * 8 + [16] * 8 + [20] * 4)

    agree(numbered, (torch.zeros(20),), expected)


def test_a_loop_over_the_outer_tile(agree):
    def blocked(x):
        out = torch.empty_like(x)
        for outer in twl.tile(x.size(0), block_size=16):
            for inner in twl.tile(outer.begin, outer.end):
                out[inner] = x[inner] + outer.begin
        return out

    agree(blocked, (torch.randn(50),), lambda x: x + torch.arange(50) // 16 * 16)


def test_combiners(agree):
    def combined(x):
        m, n = x.size()
        largest = x.new_empty([m])
        where = torch.empty([m], dtype=torch.int64)
        scanned = torch.empty_like(x)

        def better(a, i, b, j):
            return torch.where(b > a, b, a), torch.where(b > a, j, i)

        for tile in twl.tile(m):
            row = x[tile, :]
            index = torch.zeros_like(row, dtype=torch.int64) + twl.arange(n)[None, :]
            value, at = twl.reduce(better, (row, index), 1, other=(-math.inf, 0))
            largest[tile], where[tile] = value, at
            scanned[tile, :] = twl.associative_scan(lambda a, b: a * b + 0, row, 1)
        return largest, where, scanned

    agree(combined, (torch.rand(7, 9),), lambda x: (x.amax(1), x.argmax(1), x.cumprod(1)))


def test_kernels_in_threads_read_their_own():
    import concurrent.futures

    def make(k):
        @tw.kernel()
        def add(x):
            out = torch.empty_like(x)
            for tile in twl.tile(x.size(0)):
                out[tile] = x[tile] + k
            return out

        return add

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: make(k)(torch.zeros(10)), range(8)))
    assert [int(r[0]) for r in results] == list(range(8))


def test_views_of_tensors_in_memory_within_the_loops(agree):
    def flattened(x, y, bias=None):
        out = torch.empty_like(x)
        for tile in twl.tile(x.view(-1).size(0)):
            value = x.view(-1)[tile] + y.T.reshape(-1)[tile] if False else x.view(-1)[tile]
            if bias is not None:
                value = value + bias.view(-1)[tile]
            out.view(-1)[tile] = value * 2
        return out

    def transposed(x, y):
        out = x.new_empty([x.size(1), x.size(0)])
        for tile_m, tile_n in twl.tile([x.size(1), x.size(0)]):
            out[tile_m, tile_n] = x.T[tile_m, tile_n] + y.unsqueeze(0).transpose(0, 1).squeeze(1)[tile_n, tile_m].T
        return out

    x, y = torch.randn(6, 7), torch.randn(6, 7)
    agree(flattened, (x, y), lambda x, y: x * 2, interpreted=False)
    agree(flattened, (x, y, y), lambda x, y, bias: (x + bias) * 2, interpreted=False)
    agree(transposed, (x, y), lambda x, y: x.T + y.T, interpreted=False)


def test_a_view_that_the_host_cannot_make_is_refused():
    def helper(x, tile):
        return x.view(-1)[tile]

    @tw.kernel()
    def in_a_function(x):
        for tile in twl.tile(x.numel()):
            x[0, tile] = helper(x, tile)

    with pytest.raises(tw.Error, match="for a view of it, make that before the loops"):
        in_a_function(torch.ones(1, 4))
