"""Calls of kernels: arguments, results, specialisations, errors."""

import threading

import numpy
import pytest
import torch
from core_kernels import add, call, equal, here, kernel, pointwise
from tilewright import _core


def test_adds():
    x, y = torch.randn(1000), torch.randn(1000)
    result = add()(x, y)
    assert type(result) is torch.Tensor
    equal(result, x + y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8,
                                   torch.int16, torch.int32, torch.int64])
def test_takes_dtypes(dtype):
    x, y = (torch.randint(-30, 30, (77,)).to(dtype) for _ in range(2))
    equal(add()(x, y), x + y)


@pytest.mark.parametrize("layout", ["transposed", "strided", "expanded", "offset", "negative"])
def test_takes_any_strides_without_a_copy(layout):
    base = torch.randn(6, 40)
    x = {"transposed": base.t()[:, 0], "strided": base[1, ::3], "expanded": base[0, :1].expand(40),
         "offset": base[0, 1:], "negative": base[0].flip(0)}[layout]
    y = torch.randn(x.shape)
    equal(add()(x, y), x + y)


def test_one_recording_serves_equal_layouts():
    recorded = []
    k = pointwise(lambda x, y: recorded.append(1) or call("mul", x, y))
    for n in (10, 10, 11, 10):
        x = torch.randn(n)
        equal(k(x, x), x * x)
    assert len(recorded) == 2
    k.reset()
    k(x, x)
    assert len(recorded) == 3


def test_stores_to_an_argument_and_returns_that_object():
    def record(x):
        with _core.loop(None, x.sizes, location=here()) as tiles:
            _core.store(x, tiles, call("mul", _core.load(x, tiles, location=here()), 2), location=here())
        return _core.Recorded([x], "one")

    x = torch.ones(5)
    assert kernel(record, ["x"])(x) is x
    equal(x, torch.full((5,), 2.0))


def test_gives_back_tuples_nothing_and_what_a_callable_makes():
    def record(x, how):
        twice, thrice = (_core.empty(x.sizes, location=here()) for _ in range(2))
        with _core.loop(None, x.sizes, location=here()) as tiles:
            value = _core.load(x, tiles, location=here())
            _core.store(twice, tiles, call("mul", value, 2), location=here())
            _core.store(thrice, tiles, call("mul", value, 3), location=here())
        if how == "call":
            return _core.Recorded([twice, thrice], lambda tensors, args: (tensors[0].sum(), args[1]))
        return _core.Recorded([twice, thrice], how)

    k, x = kernel(record, ["x", "how"]), torch.ones(4)
    twice, thrice = k(x, "tuple")
    equal(twice, 2 * x)
    equal(thrice, 3 * x)
    assert k(x, "none") is None
    total, how = k(x, "call")
    assert total == 8 and how == "call"


def test_an_allocation_is_filled_at_each_call():
    def record(x):
        out = _core.empty([3], "int32", location=here())
        _core.fill(out, 7, location=here())
        with _core.loop(None, x.sizes, location=here()) as (tile,):
            total = call("to", call("sum", _core.load(x, [tile], location=here())), dtype="int32")
            _core.atomic("atomic_add", out, [1], [total], location=here())
        return _core.Recorded([out], "one")

    k = kernel(record, ["x"])
    for _ in range(2):
        assert k(torch.ones(50)).tolist() == [7, 57, 7]


def test_numbers_are_read_at_each_call_and_constants_are_keys():
    recorded = []
    k = pointwise(lambda x, scale: recorded.append(scale) or call("mul", x, scale), ("x", "scale"))
    x = torch.randn(9)
    for scale in (2.0, 3.0, 4):
        equal(k(x, scale), x * scale)
    assert len(recorded) == 2 and isinstance(recorded[0], _core.Value)  # a float, and an int

    recorded.clear()
    k = pointwise(lambda x, scale: recorded.append(scale) or call("mul", x, scale), ("x", "scale"), constants=[1])
    for scale in (2.0, 3.0, 2.0):
        equal(k(x, scale), x * scale)
    assert recorded == [2.0, 3.0]


@pytest.mark.parametrize("values", [("a", "b"), ("", "a"), (True, False), (None, True), (torch.float32, torch.int8),
                                    (torch.device("cpu"), "cpu"), (True, 1)])
def test_other_constants_are_keys(values):
    recorded = []
    k = pointwise(lambda x, option: recorded.append(option) or x, ("x", "option"))
    for value in (*values, *values):
        k(torch.ones(3), value)
    assert len(recorded) == 2 and recorded[0] is values[0]


def test_prepare_makes_arguments_of_what_is_none():
    def prepare(args, kwargs):
        x, pair = args
        return [x, *pair, _core.Constant(kwargs.get("sign"), repr(kwargs).encode())]

    def record(x, a, b, sign):
        out = _core.empty(x.sizes, location=here())
        with _core.loop(None, x.sizes, location=here()) as tiles:
            one, other = (_core.load(t, tiles, location=here()) for t in (a, b))
            _core.store(out, tiles, call("mul", call("add", one, other), -1 if sign else 1), location=here())
        return _core.Recorded([out], "one")

    k = kernel(record, ["x", "pair"], prepare=prepare)
    x = torch.randn(8)
    equal(k(x, (x, x)), 2 * x)
    equal(k(x, (x, x), sign=True), -2 * x)


def test_a_config_can_be_set():
    k = add()
    x = torch.randn(100)
    config = _core.Config({"block_sizes": [16]})
    equal(k.with_settings(_core.Settings(config=config))(x, x), x + x)
    with pytest.raises(_core.Error, match="block_sizes"):
        k.with_settings(_core.Settings(config=_core.Config({"block_sizes": [-1]})))(x, x)


def test_empty_tensors_and_scalars():
    assert add()(torch.ones(0), torch.ones(0)).shape == (0,)


def test_many_threads_compile_once():
    recorded = []
    k = pointwise(lambda x, y: recorded.append(1) or call("add", x, y))
    x, results = torch.randn(1000), []
    threads = [threading.Thread(target=lambda: results.append(k(x, x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recorded) == 1
    for result in results:
        equal(result, 2 * x)


def test_follows_torch_num_threads():
    before, x = torch.get_num_threads(), torch.randn(100)
    k = add()
    k(x, x)
    most = _core.num_threads()
    try:
        torch.set_num_threads(1)
        k(x, x)
        assert _core.num_threads() == 1
    finally:
        torch.set_num_threads(before)
    k(x, x)
    assert _core.num_threads() == most


class TestRefusals:
    def test_numpy(self):
        with pytest.raises(_core.Error, match=r"y of kernel add is a numpy array; pass torch.from_numpy\(y\)") as info:
            add()(torch.ones(2), numpy.ones(2))
        assert info.value.file == __file__

    def test_other_objects(self):
        with pytest.raises(_core.Error, match="x of kernel add is a object"):
            add()(object(), torch.ones(2))

    def test_other_devices(self):
        with pytest.raises(_core.Error, match="x of kernel add is on meta, and kernels run on the cpu and on cuda"):
            add()(torch.ones(2, device="meta"), torch.ones(2))

    @pytest.mark.parametrize("dtype", [torch.complex64, torch.uint16])
    def test_dtypes(self, dtype):
        with pytest.raises(_core.Error, match="x of kernel add is of torch"):
            add()(torch.ones(2).to(dtype), torch.ones(2))

    def test_complex_tensors_have_a_cure(self):
        with pytest.raises(_core.Error, match="pass torch.view_as_real of it"):
            add()(torch.ones(2, dtype=torch.complex64), torch.ones(2))

    @pytest.mark.parametrize("transform", [torch.vmap, torch.func.grad, torch.func.jvp])
    def test_tensors_of_transforms(self, transform):
        k = add()
        k.autograd = lambda args, kwargs: k(*(x.detach() for x in args))
        with pytest.raises(_core.Error, match="inside of torch.func or vmap"):
            if transform is torch.func.jvp:
                torch.func.jvp(lambda x: k(x, x), (torch.ones(3),), (torch.ones(3),))
            else:
                transform(lambda x: k(x, x).sum())(torch.ones(3))

    def test_the_line_is_the_callers(self):
        scope = {"__name__": "tilewright.inner", "k": add()}
        exec("def call(x):\n    return k(x, x)", scope)
        with pytest.raises(_core.Error) as info:
            scope["call"](torch.ones(2, device="meta"))
        assert info.value.file == __file__

    def test_sparse(self):
        with pytest.raises(_core.Error, match="x of kernel add is of layout torch.sparse_coo; pass it with .to_dense"):
            add()(torch.ones(2, 2).to_sparse(), torch.ones(2))
        with pytest.raises(_core.Error, match="x of kernel add has 9 dimensions"):
            add()(torch.ones([1] * 9), torch.ones(2))

    def test_the_number_of_arguments(self):
        with pytest.raises(_core.Error, match=r"kernel add takes 2 arguments \(x, y\), found 1"):
            add()(torch.ones(2))
        with pytest.raises(_core.Error, match="kernel add takes no keyword arguments"):
            add()(torch.ones(2), y=torch.ones(2))

    def test_tensors_that_require_grad(self):
        x, k = torch.ones(2, requires_grad=True), add()
        with pytest.raises(_core.Error, match="x of kernel add requires grad"):
            k(x, x)
        with torch.no_grad():
            equal(k(x, x), torch.full((2,), 2.0))
        k.autograd = lambda args, kwargs: ("autograd", len(args))
        assert k(x, x) == ("autograd", 2)

    def test_overlapping_stores(self):
        def record(x, y):
            with _core.loop(None, x.sizes, location=here()) as tiles:
                _core.store(x, tiles, _core.load(y, tiles, location=here()), location=here())
            return _core.Recorded([], "none")

        k, base = kernel(record, ["x", "y"], name="copy"), torch.arange(10.0)
        k(base[:5], base[5:])
        assert base[:5].tolist() == [5, 6, 7, 8, 9]
        with pytest.raises(_core.Error, match="kernel copy stores to x, which overlaps y"):
            k(base[:5], base[4:9])
        with pytest.raises(_core.Error, match="several of whose indices are one element"):
            k(base[:1].expand(5), base[5:])

    def test_what_record_raises_comes_out(self):
        def record(x):
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            kernel(record, ["x"])(torch.ones(2))

    def test_a_kernel_inside_of_a_recording(self):
        inner = add()

        def record(x):
            inner(torch.ones(2), torch.ones(2))

        with pytest.raises(_core.Error, match="called while another"):
            kernel(record, ["x"])(torch.ones(2))
