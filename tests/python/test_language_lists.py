"""Lists that a kernel makes in its loops: their elements are carried on; what else a loop would do to them is refused."""

import re

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def test_elements_of_lists_are_carried_on(agree):
    def moments(x):
        m, n = x.size()
        out = x.new_empty([m, 4])
        for t in twl.tile(m):
            acc = [twl.zeros([t]) for _ in range(2)]
            nested = [[twl.full([t], float("-inf"))], 0.0]
            for u in twl.tile(n):
                acc[0] = acc[0] + x[t, u].sum(1)
                acc[1] += (x[t, u] * x[t, u]).sum(1)
                nested[0][0] = torch.maximum(nested[0][0], x[t, u].amax(1))
                nested[1] += x[t, u].size(1) * 0.0 + 1.0
            first, second = acc
            out[t, 0], out[t, 1] = first, acc[-1]
            out[t, 2] = nested[0][0] + 0.0 * nested[1]
            out[t, 3] = torch.stack(acc, dim=1).sum(1) - sum(acc) + second
        return out

    def expected(x):
        total, squares = x.sum(1), (x * x).sum(1)
        return torch.stack([total, squares, x.amax(1), squares], 1)

    agree(moments, (torch.randn(7, 33),), expected, configs=({}, {"block_sizes": [4, 8]}), rtol=1e-5, atol=1e-5)


def test_branches_change_elements(agree):
    def chosen(x):
        out = torch.empty_like(x)
        for i in twl.grid(x.size(0)):
            parts = [x[i], 2.0]
            if x[i] > 0:
                parts[0] = parts[0] * 10
                parts[1] = 3.0
            more = list(parts)
            more.append(parts[0])
            more.extend([1.0] * 2)
            out[i] = more[0] + more[1] + more[2] * 0 + len(more) - 5
        return out

    agree(chosen, (torch.randn(11),), lambda x: torch.where(x > 0, x * 10 + 3, x + 2))


def test_a_list_is_the_same_by_each_of_its_names(agree):
    def named_twice(x):
        out = torch.empty_like(x)
        for t in twl.tile(x.size(0)):
            parts = [x[t]]
            other = parts
            other[0] = other[0] + 1
            copied = parts.copy()
            copied[0] = copied[0] * 0
            out[t] = parts[0]
        return out

    agree(named_twice, (torch.randn(5),), lambda x: x + 1)


def refused():
    def appended(x):
        for t in twl.tile(x.size(0)):
            parts = []
            for u in twl.tile(x.size(1)):
                parts.append(x[t, u].sum(1))
            x[t, 0] = parts[0]

    def of_the_host(x):
        parts = [0.0]
        for t in twl.tile(x.size(0)):
            parts[0] = parts[0] + 1
            x[t, 0] = parts[0]

    def a_dict(x):
        for t in twl.tile(x.size(0)):
            parts = {"a": twl.zeros([t])}
            for u in twl.tile(x.size(1)):
                parts["a"] = parts["a"] + x[t, u].sum(1)
            x[t, 0] = parts["a"]

    def another_list(x):
        for t in twl.tile(x.size(0)):
            parts = [twl.zeros([t])]
            for u in twl.tile(x.size(1)):
                parts = [part + x[t, u].sum(1) for part in parts]
            x[t, 0] = parts[0]

    def another_kind(x):
        for t in twl.tile(x.size(0)):
            parts = [twl.zeros([t])]
            for u in twl.tile(x.size(1)):
                parts[0] = (parts[0], 1)
            x[t, 0] = parts[0]

    return [
        (appended, "a list that was made outside of a loop or branch of the device changes in it"),
        (of_the_host, "a list that was made outside of a loop or branch of the device does not change in it"),
        (a_dict, "a dict that was made outside of a loop or branch of the device does not change in it"),
        (another_list, "parts changes in the loop of line .* and is a list before it"),
        (another_kind, "an element that is a value on the device becomes something else"),
    ]


@pytest.mark.parametrize("kernel, expected", refused(), ids=lambda value: getattr(value, "__name__", ""))
def test_what_a_loop_cannot_do_to_a_list(kernel, expected):
    with pytest.raises(tw.Error) as info:
        tw.kernel(kernel)(torch.ones(4, 4))
    assert re.search(expected, str(info.value)), str(info.value)
