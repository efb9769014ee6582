"""What the config chooses, as numbers of the host part: block sizes in sizes, options of the kernel's own."""

import pytest
import torch
import torch.nn.functional as F

import tilewright as tw
import tilewright.language as twl
from tilewright.autotuner import BooleanFragment, EnumFragment, IntegerFragment, PowerOfTwoFragment


def error_of(function, *args, **options) -> str:
    with pytest.raises(tw.Error) as caught:
        tw.kernel(function, **options)(*args)
    return str(caught.value)


#
# Block sizes
#


def column_sums(x):
    m, n = x.size()
    block = twl.register_block_size(m)
    parts = x.new_empty([(m + block - 1) // block, n])
    same = x.new_empty([tw.cdiv(m, block), n])
    for tile_m in twl.tile(m, block_size=block):
        total = twl.zeros([n])
        for inner in twl.tile(tile_m.begin, tile_m.end):
            total += x[inner, :].sum(0)
        parts[tile_m.id, :] = total
        same[tile_m.id, :] = total
    return parts.sum(0), same.sum(0)


def test_size_allocations(agree):
    agree(column_sums, (torch.randn(20, 7),), lambda x: (x.sum(0), x.sum(0)), rtol=1e-4, atol=1e-4,
          configs=[{}, {"block_sizes": [8, 4]}, {"block_sizes": [1, 1]}])


def test_each_config_has_a_result_of_its_own_size():
    def parts(x):
        block = twl.register_block_size(x.size(0))
        out = torch.zeros([tw.cdiv(x.size(0), block)])
        for tile in twl.tile(x.size(0), block_size=block):
            out[tile.id] = x[tile].sum()
        return out, block

    x = torch.arange(10.0)
    for size in (1, 3, 4, 16):
        out, block = tw.kernel(parts, config={"block_sizes": [size]})(x)
        assert block == size
        torch.testing.assert_close(out, torch.stack([piece.sum() for piece in x.split(size)]))
    out, block = tw.kernel(parts, config={"block_sizes": [4]}, interpret=True)(x)
    assert block == 4 and out.tolist() == [6, 22, 17]


def test_are_numbers_of_python(agree):
    def numbers(x):
        block = twl.register_block_size(4, 32)
        twice, least, most = 2 * block, min(block, 16), max(7, block)
        name = f"{block}"
        assert isinstance(block, int) and block > 1, name
        power = tw.next_power_of_2(block + 1) if block >= 8 else -(-block // 3)
        info = torch.full([5], block, dtype=torch.int64)
        out = torch.zeros([tw.cdiv(x.size(0), twice) * twice])
        for tile in twl.tile(x.size(0), block_size=twice):
            out[tile] = x[tile] * (2 if block > 8 else 3)
        for i in twl.grid(1):
            info[i] = twice
            info[i + 1] = least
            info[i + 2] = most
            info[i + 3] = power
        return out[:x.size(0)], info, len(name), range(block)

    x = torch.randn(50)
    for size, expected in ((16, [32, 16, 16, 32, 16]), (1, [8, 4, 7, 2, 4]), (8, [16, 8, 8, 16, 8])):
        block = max(size, 4)
        agree(numbers, (x,), (x * (2 if block > 8 else 3), torch.tensor(expected), len(str(block)), range(block)),
              configs=[{"block_sizes": [size]}], interpreted=False)
        found = tw.kernel(numbers, config={"block_sizes": [size]}, interpret=True)(x)
        assert found[1].tolist() == expected and found[3] == range(block)


def test_rms_norm_backward_in_one_kernel(agree):
    def backward(grad, x, weight, scale):
        m_block = twl.register_block_size(x.size(0))
        grad_x = torch.empty_like(x)
        grad_weight = x.new_empty([(x.size(0) + m_block - 1) // m_block, *weight.shape], dtype=torch.float32)
        n = twl.specialize(weight.size(0))
        for outer in twl.tile(x.size(0), block_size=m_block):
            of_weight = x.new_zeros(n, dtype=torch.float32)
            for inner in twl.tile(outer.begin, outer.end):
                rows, slope, s = x[inner, :].float(), grad[inner, :].float(), scale[inner, :].float()
                of_weight += (rows * slope * s).sum(0)
                w = weight[None, :].float()
                grad_x[inner, :] = w * slope * s - rows * s**3 * (w * slope * rows).mean(-1)[:, None]
            grad_weight[outer.id, :] = of_weight
        return grad_x, grad_weight.sum(0).to(weight.dtype)

    def expected(grad, x, weight, scale):
        with torch.enable_grad():
            x, weight = x.requires_grad_(), weight.requires_grad_()
            F.rms_norm(x, weight.shape, weight, 1e-5).backward(grad)
        return x.grad, weight.grad

    x = torch.randn(20, 12)
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)
    args = torch.randn(20, 12), x, torch.randn(12), scale
    agree(backward, args, expected, rtol=1e-4, atol=1e-4, configs=[{}, {"block_sizes": [8, 2]}])
    with torch.no_grad():
        compiled = torch.compile(tw.kernel(backward), fullgraph=True, backend="aot_eager")
        for found, right in zip(compiled(*args), tw.kernel(backward)(*args)):
            torch.testing.assert_close(found, right)


def test_are_tuned():
    kernel = tw.kernel(column_sums)
    x = torch.randn(300, 6)
    config = kernel.autotune((x,), budget_seconds=0.3)
    for found in tw.kernel(column_sums, config=config)(x):
        torch.testing.assert_close(found, x.sum(0), rtol=1e-4, atol=1e-4)
    bound = kernel.bind((x,))
    bound.set_config(bound.default_config)
    torch.testing.assert_close(bound(x)[0], x.sum(0), rtol=1e-4, atol=1e-4)
    assert "block_sizes" in bound.config_spec.to_dict() and "tile.kernel" in bound.to_code(config, stage="tile")


def test_a_size_that_only_the_config_knows_needs_a_config_in_a_graph():
    def parts(x):
        block = twl.register_block_size(x.size(0))
        out = torch.zeros([tw.cdiv(x.size(0), block)])
        for tile in twl.tile(x.size(0), block_size=block):
            out[tile.id] = x[tile].sum()
        return out

    x = torch.ones(10)
    graph = torch.compile(tw.kernel(parts, config={"block_sizes": [4]}), fullgraph=True, backend="aot_eager")
    assert graph(x).tolist() == [4, 4, 2]
    with pytest.raises(Exception, match="whose sizes the config chooses; give it a config"):
        torch.compile(tw.kernel(parts), fullgraph=True, backend="aot_eager")(x)


def test_misuse_is_refused_at_its_line():
    def least(x):
        block = twl.register_block_size(3, 8)
        for tile in twl.tile(x.size(0), block_size=block):
            x[tile] = x[tile] + 1

    def beside_python(x):
        y = x.reshape(-1)
        block = twl.register_block_size(y.size(0))
        parts = torch.empty([(y.size(0) + block - 1) // block])
        for tile in twl.tile(y.size(0), block_size=block):
            parts[tile.id] = y[tile].sum()
        return parts.sum()

    def of_a_tile(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = x[tile] + len(range(tile.block_size))

    x = torch.ones(4)
    message = error_of(least, x)
    assert "must be a power of two, found 3" in message and "test_host_integers.py" in message
    message = error_of(beside_python, x)
    assert ".reshape of a tensor is not" in message and "test_host_integers.py" in message
    assert "must be known while the kernel is read" in error_of(of_a_tile, x)


#
# Options of the kernel's own
#


def split_k(x, y):
    (m, k), (_, n) = x.size(), y.size()
    out = torch.zeros([m, n])
    parts = twl.register_tunable("parts", PowerOfTwoFragment(1, 4))
    block = tw.next_power_of_2(tw.cdiv(k, parts))
    for tile_m, tile_n, outer in twl.tile([m, n, k], block_size=[None, None, block]):
        acc = twl.zeros([tile_m, tile_n])
        for inner in twl.tile(outer.begin, outer.end):
            acc = torch.addmm(acc, x[tile_m, inner], y[inner, tile_n])
        if outer.begin == 0:
            acc = acc + 1
        twl.atomic_add(out, [tile_m, tile_n], acc)
    return out


def test_options_are_searched_and_settled(agree):
    x, y = torch.randn(10, 64), torch.randn(64, 9)
    agree(split_k, (x, y), lambda x, y: x @ y + 1, rtol=1e-4, atol=1e-4, configs=[{}, {"parts": 2}, {"parts": 4}])
    kernel = tw.kernel(split_k)
    assert "parts" in kernel.bind((x, y)).config_spec.to_dict()
    config = kernel.autotune((x, y), budget_seconds=0.3)
    assert config["parts"] in (1, 2, 4)
    torch.testing.assert_close(tw.kernel(split_k, config=config)(x, y), x @ y + 1, rtol=1e-4, atol=1e-4)
    for interpret in (False, True):
        assert "parts" in error_of(split_k, x, y, config={"parts": 3}, interpret=interpret)


def test_a_condition_on_an_option_is_settled():
    def chosen(x):
        kind = twl.register_tunable("kind", [0, 1])
        out = torch.empty_like(x)
        rows = torch.empty([x.size(0) if kind == 0 else 1])
        for tile in twl.tile(x.size(0)):
            if kind == 0:
                out[tile] = x[tile] * 2
                rows[tile] = x[tile]
            else:
                out[tile] = x[tile] + x[tile]
                out[tile] = out[tile]
        return (out, rows.sum()) if kind == 0 else out

    x = torch.randn(9)
    for interpret in (False, True):
        out, total = tw.kernel(chosen, config={"kind": 0}, interpret=interpret)(x)
        torch.testing.assert_close(out, 2 * x)
        torch.testing.assert_close(total, x.sum())
        torch.testing.assert_close(tw.kernel(chosen, config={"kind": 1}, interpret=interpret)(x), 2 * x)


def test_choices_by_range():
    assert PowerOfTwoFragment(2, 16, 8).choices() == [8, 2, 4, 16]
    assert IntegerFragment(1, 3).choices() == [1, 2, 3]
    assert EnumFragment([5, 4]).choices() == [5, 4] and BooleanFragment().choices() == [0, 1]
    with pytest.raises(ValueError, match="none of the choices"):
        IntegerFragment(1, 3, 7)


@pytest.mark.parametrize("name, choices, expected", [
    ("a", [], "has no choices"), ("a", [1, 1], "has the choice 1 twice"), ("a", ["x"], "whole numbers, found 'x'"),
    ("a", 3, "a list of whole numbers"), (3, [1], "takes a name"), ("block_sizes", [1], "have an option of this name already"),
])
def test_misused_options_are_refused(name, choices, expected):
    def kernel(x):
        twl.register_tunable(name, choices)
        for tile in twl.tile(x.size(0)):
            x[tile] = x[tile] + 1

    assert expected in error_of(kernel, torch.ones(4))
