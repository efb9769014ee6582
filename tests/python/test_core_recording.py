"""What can be recorded: operations by name, loops, branches, variables, combiners; and errors at the user's line."""

import gc
import weakref

import pytest
import torch
from core_kernels import add, call, equal, here, kernel, pointwise, rows
from tilewright import _core

load, store, loop = _core.load, _core.store, _core.loop


def test_every_operation_of_the_table_is_callable_or_bound():
    by_hand = {"if_", "while_", "static_range", "barrier", "print", "load", "store", "reduce", "associative_scan"}
    for operation in _core.operations():
        if operation.name in by_hand or operation.name.startswith("atomic_"):
            continue
        # Outside of a recording each is refused by that, or for its operands, but known.
        with pytest.raises(_core.Error) as info:
            _core.call(operation.name, [1.0] * operation.operands, location=here())
        assert "there is no operation" not in str(info.value), operation.name


@pytest.mark.parametrize("name", [o.name for o in _core.operations() if o.is_pointwise and o.operands == 1
                                  and o.dtypes in ("all", "numbers", "floats") and hasattr(torch, o.name)
                                  and not o.parameters])
def test_unary_operations_agree_with_torch(name):
    x = torch.linspace(0.05, 0.95, 33)
    equal(pointwise(lambda v: _to_float(call(name, v)), ("x",))(x), getattr(torch, name)(x).float(), rtol=1e-5, atol=1e-6)


def _to_float(value):
    return call("to", value, dtype="float32")


def test_parameters_of_operations():
    x = torch.linspace(-3, 3, 50)
    equal(pointwise(lambda v: call("softplus", v, beta=2.0), ("x",))(x), torch.nn.functional.softplus(x, beta=2.0))
    equal(pointwise(lambda v: call("gelu_tanh", v), ("x",))(x), torch.nn.functional.gelu(x, approximate="tanh"))
    with pytest.raises(_core.Error, match="softplus does not take `gamma`"):
        pointwise(lambda v: call("softplus", v, gamma=2.0), ("x",))(x)
    with pytest.raises(_core.Error, match="add takes 2 operands, found 1"):
        pointwise(lambda v: call("add", v), ("x",))(x)


REDUCTIONS = {
    "sum": lambda x: x.sum(1), "mean": lambda x: x.mean(1), "amax": lambda x: x.amax(1), "amin": lambda x: x.amin(1),
    "prod": lambda x: x.prod(1), "logsumexp": lambda x: x.logsumexp(1), "var": lambda x: x.var(1),
    "std": lambda x: x.std(1), "norm": lambda x: x.norm(dim=1),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    x = torch.randn(13, 21)
    equal(rows(lambda v: call(name, v, dims=-1))(x), REDUCTIONS[name](x), rtol=1e-4, atol=1e-5)


def test_pairs():
    x = torch.randn(13, 21)
    equal(rows(lambda v: call("max", v, dim=1)[0])(x), x.max(1).values)
    equal(rows(lambda v: call("max", v, dim=1)[1], "int64")(x), x.max(1).indices)
    equal(rows(lambda v: call("var_mean", v, dims=1)[1])(x), x.mean(1), rtol=1e-4, atol=1e-5)
    equal(rows(lambda v: call("argmin", v, dim=1), "int64")(x), x.argmin(1))


def test_combiners():
    x = torch.randn(13, 21)
    equal(rows(lambda v: _core.reduce(lambda a, b: [call("maximum", a, b)], [v], [1], [float("-inf")], location=here())[0])(x),
          x.amax(1))
    equal(rows(lambda v: call("amax", _core.associative_scan(lambda a, b: [call("add", a, b)], [v], 1, location=here())[0],
                              dims=1))(x), x.cumsum(1).amax(1), rtol=1e-4, atol=1e-5)
    with pytest.raises(_core.Error, match="the combiner of 1 values gives back 2"):
        rows(lambda v: _core.reduce(lambda a, b: [a, b], [v], [1], location=here())[0])(x)


def test_matmul_with_a_carried_accumulator():
    def record(x, y):
        where = here()
        (m, k), (k2, n) = x.sizes, y.sizes
        _core.check(k, "==", k2, f"inner sizes differ: {k} and {k2}", location=where)
        out = _core.empty([m, n], location=where)
        with loop(None, [m, n], location=where) as (tile_m, tile_n):
            acc = _core.Variable()
            acc.assign(call("zeros", shape=[tile_m, tile_n]), location=where)
            with loop(None, [k], location=where) as (tile_k,):
                a, b = load(x, [tile_m, tile_k], location=where), load(y, [tile_k, tile_n], location=where)
                acc.assign(call("addmm", acc.read(location=where), a, b), location=where)
            store(out, [tile_m, tile_n], acc.read(location=where), location=where)
        return _core.Recorded([out], "one")

    x, y = torch.randn(50, 70), torch.randn(70, 30)
    k = kernel(record, ["x", "y"])
    equal(k(x, y), x @ y, rtol=1e-4, atol=1e-4)
    with pytest.raises(_core.Error, match="inner sizes differ: 70 and 50") as info:
        k(x, x)
    assert info.value.line > 0


def test_branches_and_while():
    def record(x):
        where = here()
        out = _core.empty(x.sizes, location=where)
        with loop(None, x.sizes, grid=True, location=where) as (i,):
            value, steps = _core.Variable(), _core.Variable()
            value.assign(load(x, [i], location=where), location=where)
            steps.assign(0, location=where)

            def halve():
                value.assign(call("div", value.read(location=where), 2), location=where)
                steps.assign(call("add", steps.read(location=where), 1), location=where)

            _core.while_(lambda: call("gt", value.read(location=where), 1), halve, location=where)
            result = _core.Variable()
            _core.if_(call("gt", steps.read(location=where), 2),
                      lambda: result.assign(call("mul", value.read(location=where), 10), location=where),
                      lambda: result.assign(value.read(location=where), location=where), location=where)
            store(out, [i], result.read(location=where), location=where)
        return _core.Recorded([out], "one")

    def expected(value):
        steps = 0
        while value > 1:
            value, steps = value / 2, steps + 1
        return value * 10 if steps > 2 else value

    x = torch.tensor([0.5, 3.0, 100.0, 8.0])
    equal(kernel(record, ["x"])(x), torch.tensor([expected(v) for v in x.tolist()]))


def test_aliases_do_not_share():
    def record(x):
        where = here()
        out = _core.empty(x.sizes, location=where)
        with loop(None, x.sizes, location=where) as tiles:
            a, b = _core.Variable(), _core.Variable()
            a.assign(load(x, tiles, location=where), location=where)
            b.assign(a.read(location=where), location=where)
            a.assign(call("add", a.read(location=where), 1), location=where)
            store(out, tiles, call("sub", a.read(location=where), b.read(location=where)), location=where)
        return _core.Recorded([out], "one")

    equal(kernel(record, ["x"])(torch.randn(5)), torch.ones(5))


def test_subscripts():
    def record(x):
        where = here()
        n = x.sizes[1]
        out = _core.empty([x.sizes[0], 4], location=where)
        with loop(None, [x.sizes[0]], location=where) as (tile,):
            parts = [load(x, [tile, 0], location=where), load(x, [tile, -1], location=where),
                     call("sum", load(x, [tile, slice(2, None, 2)], location=where), dims=1),
                     call("sum", load(x, [tile, _core.SliceFrom(1, n - 2)], location=where), dims=1)]
            for i, part in enumerate(parts):
                store(out, [tile, i], part, location=where)
        return _core.Recorded([out], "one")

    x = torch.randn(7, 12)
    equal(kernel(record, ["x"])(x),
          torch.stack([x[:, 0], x[:, -1], x[:, 2::2].sum(1), x[:, 1:-1].sum(1)], 1), rtol=1e-4, atol=1e-5)


def test_masks_gathers_and_new_axes():
    def record(x, index):
        where = here()
        out = _core.empty(x.sizes, location=where)
        with loop(None, [x.sizes[0]], location=where) as (tile,):
            rows_ = load(index, [tile], location=where)
            value = load(x, [rows_, slice(None)], location=where)
            few = call("lt", _core.tile_index(tile, location=where), 3)
            few = _core.subscript(few, [slice(None), None], location=where)
            store(out, [tile, slice(None)], call("where", few, value, 0.0), location=where)
        return _core.Recorded([out], "one")

    x, index = torch.randn(6, 5), torch.randperm(6)
    expected = x[index]
    expected[3:] = 0
    equal(kernel(record, ["x", "index"])(x, index), expected)


def test_registered_block_sizes():
    def record(x):
        where = here()
        block = _core.register_block_size(x.sizes[1], location=where)
        out = _core.empty([x.sizes[0]], location=where)
        with loop(None, [x.sizes[0]], location=where) as (tile,):
            total = _core.Variable()
            total.assign(call("zeros", shape=[tile, block]), location=where)
            with loop(None, [x.sizes[1]], [block], location=where) as (inner,):
                total.assign(call("add", total.read(location=where), load(x, [tile, inner], location=where)),
                             location=where)
            store(out, [tile], call("sum", total.read(location=where), dims=1), location=where)
        return _core.Recorded([out], "one")

    x = torch.randn(9, 50)
    equal(kernel(record, ["x"])(x), x.sum(1), rtol=1e-4, atol=1e-5)


class TestSizes:
    def test_are_python_numbers(self):
        seven, minus = _core.Size(7), _core.Size(-7)
        assert (seven + 1, 1 + seven, seven - 1, 1 - seven, seven * 2, -seven) == (8, 8, 6, -6, 14, -7)
        assert (minus // 2, minus % 2, 20 // seven, 20 % seven, seven // -2, seven % -2) == (-4, 1, 2, 6, -4, -1)
        assert range(10)[seven] == 7 and int(seven) == 7 and float(seven) == 7.0 and hash(seven) == hash(7)
        assert seven == 7 and seven != 8 and seven < 8 and seven >= 7 and not seven > 7 and seven != "7"
        assert _core.cdiv(10, 3, location=here()) == 4 and _core.next_power_of_2(5, location=here()) == 8
        with pytest.raises(ZeroDivisionError):
            seven // 0
        with pytest.raises(TypeError):
            seven + "x"

    def test_of_tensors_are_symbolic(self):
        seen = []

        def record(x, y):
            seen.extend([x.sizes[0].is_symbolic, (x.sizes[0] + 1).is_symbolic, (x.sizes[0] // 2).is_symbolic])
            return _recorded_add(x, y)

        kernel(record, ["x", "y"])(torch.ones(10), torch.ones(10))
        assert seen == [True, True, False]


def _recorded_add(x, y):
    out = _core.empty(x.sizes, location=here())
    with loop(None, x.sizes, location=here()) as tiles:
        store(out, tiles, call("add", load(x, tiles, location=here()), load(y, tiles, location=here())), location=here())
    return _core.Recorded([out], "one")


class TestErrors:
    def test_have_a_place_and_python_words(self):
        def record(x, y):
            with loop(None, x.sizes, location=here()) as (tile,):
                with loop(None, y.sizes, location=here()) as (other,):
                    a, b = load(x, [tile], location=here()), load(y, [other], location=here())
                    _core.call("add", [a, b], location=_core.Location("model.py", 12, 5))
            return _core.Recorded([], "none")

        with pytest.raises(_core.Error) as info:
            kernel(record, ["x", "y"])(torch.ones(10), torch.ones(10))
        error = info.value
        assert (error.file, error.line, error.column) == ("model.py", 12, 5)
        assert str(error) == f"model.py:12: {error.message}" and "tw::" not in error.message

    def test_can_be_raised_by_python(self):
        error = _core.Error("no", _core.Location("a.py", 3, 4))
        assert (str(error), error.message, error.file, error.line, error.column) == ("a.py:3: no", "no", "a.py", 3, 4)
        assert str(_core.Error("no")) == "no" and _core.Error("no").file is None

    def test_outside_of_a_recording(self):
        with pytest.raises(_core.Error):
            _core.empty([3], location=here())

    def test_a_handle_does_not_outlive_its_recording(self):
        kept = []
        k = pointwise(lambda x, y: kept.append(x) or (call("add", kept[0], y)))
        k(torch.ones(4), torch.ones(4))
        with pytest.raises(_core.Error, match="another recording"):
            k(torch.ones(5), torch.ones(5))

    def test_a_variable_without_a_value(self):
        with pytest.raises(_core.Error, match="before it is given a value"):
            pointwise(lambda x: _core.Variable().read(location=here()), ("x",))(torch.ones(4))

    def test_a_loop_left_by_an_exception(self):
        def record(x):
            with loop(None, x.sizes, location=here()):
                raise ValueError("in the loop")

        with pytest.raises(ValueError, match="in the loop"):
            kernel(record, ["x"])(torch.ones(4))
        equal(add()(torch.ones(4), torch.ones(4)), torch.full((4,), 2.0))  # the thread records again

    def test_operands_that_are_none(self):
        with pytest.raises(_core.Error, match="expected a device value or a number, found str"):
            pointwise(lambda x: call("add", x, "1"), ("x",))(torch.ones(4))
        with pytest.raises(_core.Error, match="there is no operation addd"):
            pointwise(lambda x: call("addd", x, 1), ("x",))(torch.ones(4))
        with pytest.raises(_core.Error, match="does not fit int64"):
            pointwise(lambda x: call("add", x, 2**70), ("x",))(torch.ones(4))


def test_a_kernel_in_a_cycle_is_collected():
    class Holder:
        def __init__(self):
            self.kernel = _core.Kernel("cycle", ["x"], self.record, location=here())

        def record(self, parameters):
            raise NotImplementedError

    gone = weakref.ref(Holder())
    gc.collect()
    assert gone() is None
