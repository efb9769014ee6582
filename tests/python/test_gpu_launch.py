"""Launching on a GPU, on a driver that only notes what it is told (fake_cuda.c), and on Triton's interpreter."""

import ctypes
import os
import struct
import sys
import textwrap
import types

import pytest
import torch

from tilewright import _core
from tilewright import triton_program
from tilewright.triton_program import TritonProgram, _plan, _Watch

driver = ctypes.CDLL(os.environ["TILEWRIGHT_LIBCUDA"])
for function in (driver.fake_launches, driver.fake_shape, driver.fake_value):
    function.restype = ctypes.c_uint64


def shape():
    return [driver.fake_shape(i) for i in range(7)]


class TestPlans:
    def test_pass_pointers_and_null_for_what_triton_hides(self):
        plan = _core.GpuPlan(0, None)
        plan.add(5, [7, 2, 1], 128, 1024, [2, 0, 1])
        plan.run([100, 200, 300], 42)
        assert shape() == [7, 2, 1, 128, 1024, 42, 5]
        assert [driver.fake_value(i) for i in range(5)] == [300, 100, 200, 0, 0]

    def test_pass_scratch_memory_first(self):
        plan = _core.GpuPlan(0, None)
        plan.add(3, [1, 1, 1], 32, 0, [0], 256)
        plan.run([100], 0, [5000])
        assert [driver.fake_value(i) for i in range(3)] == [100, 5000, 0]

    def test_pass_tensor_maps_of_the_arrays_that_there_are_and_values_as_they_are(self):
        plan = _core.GpuPlan(0, None)
        plan.add(50, [1, 1, 1], 32, 0, [(1, bytes(128)), struct.pack("<i", 7), struct.pack("<q", 9)])
        for address in (200, 300):
            plan.run([100, address], 0)
            assert [driver.fake_value(i) for i in range(5)] == [address, 7, 9, 0, 0]

    def test_refuse_parameters_of_other_sizes(self):
        for arguments in ([0, struct.pack("<i", 7), struct.pack("<q", 9)], [(0, bytes(128)), 1, struct.pack("<q", 9)]):
            with pytest.raises(_core.Error, match="of a compiled kernel has (128|4) bytes, where 8 are passed"):
                _core.GpuPlan(0, None).add(50, [1, 1, 1], 32, 0, arguments)
        with pytest.raises(_core.Error, match="a tensor map has 128 bytes, found 64|has 128 bytes, where 64 are passed"):
            _core.GpuPlan(0, None).add(50, [1, 1, 1], 32, 0, [(0, bytes(64)), struct.pack("<i", 7), struct.pack("<q", 9)])

    def test_launch_several_kernels_in_order(self):
        plan, before = _core.GpuPlan(0, None), driver.fake_launches()
        plan.add(3, [1, 1, 1], 32, 0, [0])
        plan.add(4, [9, 1, 1], 64, 0, [1, 0])
        plan.run([100, 200])
        assert driver.fake_launches() - before == 2 and shape()[0] == 9
        assert [driver.fake_value(i) for i in range(2)] == [200, 100]

    def test_launch_nothing_over_an_empty_grid(self):
        plan, before = _core.GpuPlan(0, None), driver.fake_launches()
        plan.add(3, [0, 1, 1], 32, 0, [0])
        plan.run([100])
        assert driver.fake_launches() == before

    def test_refuse_other_parameters(self):
        with pytest.raises(_core.Error, match="has 2 parameters, where 3 arguments were passed"):
            _core.GpuPlan(0, None).add(2, [1, 1, 1], 32, 0, [0, 1, 2])
        with pytest.raises(_core.Error, match="has no place for its scratch"):
            _core.GpuPlan(0, None).add(1, [1, 1, 1], 32, 0, [0], 64)

    def test_say_what_the_driver_says(self):
        plan = _core.GpuPlan(0, None)
        plan.add(99, [1, 1, 1], 32, 0, list(range(97)))
        with pytest.raises(_core.Error, match="an illegal memory access was encountered"):
            plan.run(list(range(97)))


SOURCE = textwrap.dedent("""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def double_kernel(x_ptr, out_ptr):
        offsets = tl.program_id(0) * 16 + tl.arange(0, 16)
        tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=offsets < 20), mask=offsets < 20)

    def double(x):
        scratch = torch.zeros((4,), dtype=torch.float32, device=x.device)
        out = torch.empty((20,), dtype=torch.float32, device=x.device)
        double_kernel[(2,)](x, out)
        return out
""")


class Compiled:
    """A kernel that Triton has compiled."""

    def __init__(self, function=4, **metadata):
        self.function = function
        self.metadata = types.SimpleNamespace(num_warps=4, shared=64, **metadata)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def program(cache, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    return TritonProgram(SOURCE, "double")


def test_a_program_runs_on_tritons_interpreter(program):
    x = torch.arange(20.0)
    (out,) = program.run([x])
    torch.testing.assert_close(out, 2 * x)
    (out,), plan = program.run_first([x], 0)
    assert plan is None
    torch.testing.assert_close(out, 2 * x)


def test_a_program_is_a_file_that_is_written_once(program):
    assert open(program.path).read() == SOURCE
    assert TritonProgram(SOURCE, "double").path == program.path


def watched(program, monkeypatch, compiled):
    """The first run, where Triton's launch gives back a compiled kernel."""
    kernel = type(program.module.double_kernel)
    monkeypatch.setattr(kernel, "__getitem__", lambda self, grid: lambda *args, **kwargs: compiled, raising=False)
    with _Watch(program.module, program.module.double) as watch:
        x = torch.arange(20.0)
        out = program.module.double(x)
    return watch, x, out


def test_the_first_run_is_watched(program, monkeypatch):
    watch, x, out = watched(program, monkeypatch, Compiled())
    assert program.module.torch is torch and len(watch.made) == 2 and watch.made[1] is out
    plan = _plan(watch, [x], 0)
    plan.run([11, 22, 33], 0)  # x, scratch, out
    assert shape() == [2, 1, 1, 128, 64, 0, 4] and [driver.fake_value(i) for i in range(4)] == [11, 33, 0, 0]


ADDING = textwrap.dedent("""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def _sum(a, b):
        return a + b

    @triton.jit
    def add_kernel(x_ptr, y_ptr, out_ptr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, _sum(tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)))

    def add(x, y):
        out = torch.empty((16,), dtype=torch.float32, device=x.device)
        add_kernel[(1,)](x, y, out)
        return out
""")


def test_one_tensor_passed_twice_is_two_parameters_of_later_calls(cache, monkeypatch):
    monkeypatch.setattr(triton_program, "_is_interpreted", lambda: False)
    program = TritonProgram(ADDING, "add")
    helper = program.module._sum
    helpers = []

    def launch(self, grid):
        helpers.append(program.module._sum)  # while the launcher runs
        return lambda *args, **kwargs: Compiled()

    monkeypatch.setattr(type(program.module.add_kernel), "__getitem__", launch, raising=False)
    x = torch.arange(16.0)
    _, plan = program.run_first([x, x], 0)
    plan.run([11, 22, 33], 0)  # x, y, out
    assert [driver.fake_value(i) for i in range(3)] == [11, 22, 33]
    assert helpers == [helper], "what kernels call is Triton's own"


@pytest.mark.parametrize("metadata", [{"num_ctas": 2}, {"launch_cooperative_grid": True}, {"launch_pdl": True},
                                      {"profile_scratch_size": 8}])
def test_what_a_plan_does_not_cover_is_left_to_triton(program, monkeypatch, metadata):
    watch, x, _ = watched(program, monkeypatch, Compiled(**metadata))
    assert _plan(watch, [x], 0) is None


def test_arrays_that_are_no_arguments_are_left_to_triton(program, monkeypatch):
    watch, _, _ = watched(program, monkeypatch, Compiled())
    assert _plan(watch, [torch.ones(3)], 0) is None


def test_a_kernel_with_other_parameters_than_were_passed_is_left_to_triton(program, monkeypatch):
    watch, x, _ = watched(program, monkeypatch, Compiled(function=1))
    assert _plan(watch, [x], 0) is None


def test_tensor_descriptors_are_parameters_of_a_plan(program, monkeypatch):
    class PyCUtensorMap:
        __slots__ = ("map",)

    class Descriptor:
        def __init__(self, base):
            self.base, self.shape, self.strides = base, list(base.shape), list(base.stride())

    driver_of_triton = types.ModuleType("triton.backends.nvidia.driver")
    driver_of_triton.make_tensordesc_arg = lambda descriptor, meta: [meta, *descriptor.shape, *descriptor.strides]
    monkeypatch.setitem(sys.modules, "triton.backends.nvidia.driver", driver_of_triton)
    x = torch.ones(4, 5)
    assert triton_program._parameters([Descriptor(x)], {id(x): 0}, [PyCUtensorMap()]) is None  # too small to hold a map
    assert triton_program._parameters([Descriptor(x)], {id(x): 0}, []) is None  # it is made on the device
    assert triton_program._parameters([Descriptor(x)], {}, []) is None  # of no argument

    parts = tuple(f"part_{i}" for i in range(17))
    large = type("PyCUtensorMap", (), {"__slots__": parts})()
    mapped, *numbers = triton_program._parameters([Descriptor(x)], {id(x): 0}, [large])
    assert mapped[0] == 0 and len(mapped[1]) == 128
    assert numbers == [struct.pack("<i", 4), struct.pack("<i", 5), struct.pack("<q", 5), struct.pack("<q", 1)]


def test_scratch_is_for_each_program(program, monkeypatch):
    watch, x, _ = watched(program, monkeypatch, Compiled(global_scratch_size=128))
    plan = _plan(watch, [x], 0)
    plan.run([11, 22, 33], 0, [44])
    assert [driver.fake_value(i) for i in range(4)] == [11, 33, 44, 0]


def test_without_triton_the_error_says_what_to_install(cache, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(_core.Error, match="pip install triton"):
        triton_program.TritonProgram(SOURCE, "double")
