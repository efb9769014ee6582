"""What a user reads when something is wrong: the line, the expression, and what to write instead."""

import functools
import re
import traceback

import numpy as np
import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def error_of(function, *args, **settings) -> str:
    with pytest.raises(tw.Error) as info:
        tw.kernel(function, **settings)(*args)
    return str(info.value)


def looped(body):
    """A kernel over rows whose loop's body is the lambda's expression."""

    def kernel(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = body(x, tile)
        return out

    return kernel


def test_the_line_and_a_caret():
    def kernel(x, y):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile] + y
        return out

    message = error_of(kernel, torch.ones(4), torch.ones(4))
    line = kernel.__code__.co_firstlineno + 3
    assert message.startswith(f"{__file__}:{line}")
    assert "a tensor lies in memory: it is read in a tile loop by a subscript, as in x[tile]" in message
    text, caret = message.splitlines()[-2:]
    assert text.strip() == "out[tile] = x[tile] + y"
    assert text[caret.index("^"):caret.rindex("^") + 1] == "x[tile] + y"


def test_no_frame_of_the_package_but_the_call():
    def kernel(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = x[tile].nonsense()

    try:
        tw.kernel(kernel)(torch.ones(4))
    except tw.Error as error:
        assert error.__cause__ is None and error.__suppress_context__
        frames = traceback.extract_tb(error.__traceback__)
        assert len([frame for frame in frames if "tilewright/" in frame.filename.replace("\\", "/")
                    and "tests" not in frame.filename]) <= 1


def test_an_error_in_a_function_names_the_callers():
    def helper(v):
        return v.nonsense()

    def kernel(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = helper(x[tile])

    message = error_of(kernel, torch.ones(4))
    assert "has no nonsense" in message and "return v.nonsense()" in message
    assert f"called in kernel at {__file__}:{kernel.__code__.co_firstlineno + 2}" in message


@pytest.mark.parametrize("body, expected", [
    (lambda x, tile: x[tile] + tile, "a tile is a range of indices: tile"),
    (lambda x, tile: x[tile] * tile, "a tile is a range of indices, not a number"),
    (lambda x, tile: torch.empty_strided([2], [1]) + x[tile], "empty_strided"),
    (lambda x, tile: x[tile].add_(1), r"values never change in place: write x = x.add\("),
    (lambda x, tile: torch.linalg.inv(x[tile]), r"torch.linalg.inv is not there for values on the device; docs/operations.md"),
    (lambda x, tile: x[tile].expp(), "has no expp; near it are exp"),
    (lambda x, tile: tile + x[tile], "tile.index has its indices as a value"),
    (lambda x, tile: sum(generated(x[tile])), "function generated is a generator"),
    (lambda x, tile: x[tile].frobnicate(), "has no frobnicate"),
    (lambda x, tile: x[tile] + None, "None is used as a value"),
    (lambda x, tile: x[tile] + "a", "a value on the device or a number belongs here, found 'a'"),
    (lambda x, tile: x[tile][1.5], "not a fraction"),
    (lambda x, tile: sorted(x[tile]), "iterated"),
    (lambda x, tile: x[tile] + undefined_name, "there is no undefined_name"),  # noqa: F821
    (lambda x, tile: torch.rand(4), r"twl.rand\(shape, seed\)"),
    (lambda x, tile: twl.tile(4, 5, 6, 7), "twl.tile: too many positional arguments"),
    (lambda x, tile: x.exp(), r"read it first, as in x\[tile\].exp"),
    (lambda x, tile: twl.inline_triton("", [], x), "twl.inline_triton is not there"),
    (lambda x, tile: twl.register_block_size(4), "belongs before the tile loops"),
    (lambda x, tile: [v for v in x[tile]][0], "not"),
    (lambda x, tile: f"{x[tile]}", r"print\('x', value\)"),
    (lambda x, tile: torch.softmax(x[tile]), "softmax needs a dimension"),
    (lambda x, tile: torch.sum(), "sum"),
])
def test_expressions(body, expected):
    assert re.search(expected, error_of(looped(body), torch.ones(4)))


def statement_kernels():
    def breaks(x):
        for tile in twl.tile(x.size(0)):
            break

    def returns(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = 1
            return x

    def tries(x):
        for tile in twl.tile(x.size(0)):
            try:
                x[tile] = 1
            except ValueError:
                pass

    def withs(x):
        for tile in twl.tile(x.size(0)):
            with torch.no_grad():
                x[tile] = 1

    def deletes(x):
        for tile in twl.tile(x.size(0)):
            v = x[tile]
            del v

    def changes_dtype(x):
        for tile in twl.tile(x.size(0)):
            total = twl.zeros([tile])
            for i in range(3):
                total = total.to(torch.float64) + i
            x[tile] = total

    def reads_after_the_loop(x):
        for tile in twl.tile(x.size(0)):
            for i in range(3):
                last = x[tile] + i
            x[tile] = last

    def one_branch(x):
        for i in twl.grid(x.size(0)):
            if x[i] > 0:
                w = x[i]
            x[i] = w

    def tensor_condition(x):
        for tile in twl.tile(x.size(0)):
            if x[tile] > 0:
                x[tile] = 1

    def changes_a_text(x):
        for tile in twl.tile(x.size(0)):
            mode = "a"
            for i in range(3):
                if mode == "a":
                    x[tile] = 1
                mode = "b"
            x[tile] = mode

    def recursion(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = endless(x[tile])

    def element_assignment(x):
        for tile in twl.tile(x.size(0)):
            v = x[tile]
            v[0] = 1

    def asserts(x):
        for tile in twl.tile(x.size(0)):
            assert x[tile].sum() > 0

    def captured(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = MODULE.weight[tile]

    return [
        (breaks, "break leaves a loop of the device"),
        (returns, "return leaves a loop of the device"),
        (tries, "try is not there in a loop on the device"),
        (withs, "with is not there in a loop on the device: enter it before the loop"),
        (deletes, "del is not there in a loop on the device"),
        (changes_dtype, r"total, which .* changes from .*float32.* to .*float64"),
        (reads_after_the_loop, "last is used after the tile loop in which it got its value"),
        (one_branch, "w has a value in only one branch of the if"),
        (tensor_condition, "the condition of an if is a scalar; torch.where chooses by element"),
        (changes_a_text, "mode changes in the loop of line"),
        (recursion, "endless calls itself without an end"),
        (element_assignment, "values never change in place"),
        (asserts, "an assert in a loop on the device"),
        (captured, "weight is a tensor from outside of the kernel"),
    ]


def generated(v):
    yield v


def endless(v):
    return endless(v) + 1


class MODULE:
    weight = torch.ones(4)


@pytest.mark.parametrize("kernel, expected", statement_kernels(), ids=lambda value: getattr(value, "__name__", ""))
def test_statements(kernel, expected):
    message = error_of(kernel, torch.ones(4))
    assert re.search(expected, message), message
    assert "    " in message  # the line is shown


def test_a_kernel_without_source():
    namespace = {"twl": twl}
    exec("def kernel(x):\n    for tile in twl.tile(4):\n        x[tile] = 1\n", namespace)
    assert "has no source that could be read" in error_of(namespace["kernel"], torch.ones(4))


def test_a_notebook_s_cell_has_source():
    import linecache

    text = ("def kernel(x):\n    out = torch.empty_like(x)\n    for tile in twl.tile(x.size(0)):\n"
            "        out[tile] = x[tile] * 2\n    return out\n")
    name = "<ipython-input-1-0123456789ab>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"twl": twl, "torch": torch}
    exec(compile(text, name, "exec"), namespace)
    torch.testing.assert_close(tw.kernel(namespace["kernel"])(torch.ones(4)), torch.ones(4) * 2)


def test_a_kernel_without_a_loop():
    def kernel(x):
        return x + 1

    assert "has no tile loop" in error_of(kernel, torch.ones(4))


def test_numpy_arrays_are_refused_by_name():
    message = error_of(looped(lambda x, tile: x[tile]), np.ones(4, dtype=np.float32))
    assert "torch.from_numpy" in message or "numpy" in message


def test_overlapping_arguments_that_are_stored_to():
    def kernel(x, y):
        for tile in twl.tile(x.size(0)):
            y[tile] = x[tile]

    x = torch.ones(8)
    assert "overlap" in error_of(kernel, x[:6], x[2:])


def test_tensors_that_require_grad():
    x = torch.ones(4, requires_grad=True)
    assert "requires grad" in error_of(looped(lambda x, tile: x[tile]), x)
    with torch.no_grad():
        tw.kernel(looped(lambda x, tile: x[tile]))(x)


def test_settings_and_configs_that_there_are_not():
    with pytest.raises(TypeError, match="there is no setting autotune_effrt: there are .*config, configs.* key"):
        tw.kernel(autotune_effrt="none")
    with pytest.raises(tw.Error, match="autotune_effort is one of"):
        tw.kernel(autotune_effort="little")
    with pytest.raises(tw.Error, match="block_sizs"):
        tw.kernel(looped(lambda x, tile: x[tile]), config=tw.Config(block_sizs=[4]))(torch.ones(4))
    with pytest.raises(TypeError, match="config= or configs="):
        tw.kernel(config={}, configs=[{}])


def test_the_language_outside_of_a_kernel():
    with pytest.raises(tw.Error, match="twl.zeros works inside of a kernel"):
        twl.zeros([4])


def test_wrong_arguments_of_a_call():
    kernel = tw.kernel(looped(lambda x, tile: x[tile]))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        kernel()
    with pytest.raises(TypeError, match=r"kernel\(\) takes 1 positional argument but 2 were given"):
        kernel(torch.ones(4), torch.ones(4))
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        kernel(torch.ones(4), z=1)


def test_what_the_host_part_raises_comes_out_as_it_is():
    def kernel(x):
        if x.size(0) > 3:
            raise ValueError(f"too long: {x.size(0)}")
        for tile in twl.tile(x.size(0)):
            x[tile] = 1

    with pytest.raises(ValueError, match="too long: 4"):
        tw.kernel(kernel)(torch.ones(4))


def test_a_partial_function_in_a_kernel():
    scale = functools.partial(lambda v, by: v * by, by=3)

    def kernel(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = scale(x[tile])

    x = torch.ones(4)
    tw.kernel(kernel)(x)
    assert (x == 3).all()


def shown_lines():
    def returns(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = 1
            y = 1
            return x

    def early(v):
        if v.sum() > 0:
            w = v
            return w
        return v

    def returns_early(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = early(x[tile])

    def between(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile]
        out = out * 2
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile]
        return out

    def no_barrier(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile]
        for tile in twl.tile(x.size(0)):
            out[tile] = out[tile] + 1
        return out

    def in_a_head(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = 1
        for tile in twl.tile(int(x.sum())):
            x[tile] = 1

    return [
        (returns, "return leaves a loop of the device", "return x"),
        (returns_early, "return leaves a branch of the device", "return w"),
        (between, r"only twl.barrier\(\) may stand between two outermost loops; do this in one of them", "out = out * 2"),
        (no_barrier, r"put twl.barrier\(\) between them", "out[tile] = out[tile] + 1"),
        (in_a_head, "has no place in the head of a loop that is not the first", "for tile in twl.tile(int(x.sum())):"),
    ]


@pytest.mark.parametrize("kernel, expected, line", shown_lines(), ids=lambda value: getattr(value, "__name__", ""))
def test_the_line_that_is_shown(kernel, expected, line):
    message = error_of(kernel, torch.ones(4))
    assert re.search(expected, message), message
    shown = message.splitlines()
    assert shown[1].strip() == line and shown[2].strip().startswith("^"), message


def test_names_of_helion_that_there_are_not():
    import tilewright.exc

    assert tw.exc.BaseError is tw.Error
    with pytest.raises(AttributeError, match="tilewright has no RefMode; interpret=True runs a kernel on PyTorch"):
        tw.RefMode
    with pytest.raises(AttributeError, match="tilewright.exc has no InvalidConfig; all that is wrong"):
        tilewright.exc.InvalidConfig
    assert not hasattr(tw, "nobody_knows_this")
    assert tw.autotuner.PowerOfTwoFragment(1, 8).choices() == [1, 2, 4, 8]
