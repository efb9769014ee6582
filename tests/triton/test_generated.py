"""Generated files, run by Triton's interpreter: those of every example kernel, for several configs, give the results of
the CPU backend, and those of random kernels what the interpreter of tile IR gives. The cases are what write_cases.cpp
and write_fuzz_cases.cpp wrote into $TILEWRIGHT_TRITON_CASES."""

import importlib.util
import json
import os
import pathlib

import interpreter
import pytest
import torch

CASES = sorted(path.parent for path in pathlib.Path(os.environ["TILEWRIGHT_TRITON_CASES"]).glob("*/case.json"))


def read_array(folder, described):
    dtype = getattr(torch, described["dtype"])
    data = bytearray((folder / described["file"]).read_bytes())
    dense = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    dense = dense.reshape(described["sizes"])
    if dense.numel() == 0:
        return dense.clone()
    last = sum((size - 1) * stride for size, stride in zip(described["sizes"], described["strides"]))
    array = torch.zeros(last + 1, dtype=dtype).as_strided(described["sizes"], described["strides"])
    if 0 in described["strides"]:  # one element in several places
        array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in described["strides"])] = dense[
            tuple(slice(0, 1) if stride == 0 else slice(None) for stride in described["strides"])
        ]
    else:
        array.copy_(dense)
    return array


def load_module(folder):
    spec = importlib.util.spec_from_file_location(f"generated_{folder.name}", folder / "kernel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.range = interpreter.tensor_range
    return module


def relative_error(found, expected):
    """Of the largest value, as tilewright::max_relative_error has it."""
    found, expected = found.double(), expected.double()
    assert torch.equal(found.isnan(), expected.isnan())
    same = (found == expected) | found.isnan()
    difference = torch.where(same, 0.0, (found - expected).abs())
    finite = expected.abs()[expected.isfinite()]
    largest = finite.max().item() if finite.numel() else 0.0
    return difference.max().item() / largest if largest > 0 else difference.max().item()


def assert_within_bounds(found, expected, bounds, case):
    """Element by element; an infinite bound says that two right results cannot be compared."""
    found, expected = found.double(), expected.double()
    same = (found == expected) | (found.isnan() & expected.isnan())
    wrong = ~same & ~bounds.isinf() & ~((found - expected).abs() <= bounds)
    where = wrong.nonzero()
    if where.numel():
        first = tuple(where[0].tolist())
        pytest.fail(
            f"{case['config']}: {len(where)} elements are wrong; {list(first)} is {found[first]}, "
            f"expected {expected[first]} within {bounds[first]}"
        )


def test_there_are_cases():
    assert CASES


def allocate_on_the_cpu(monkeypatch):
    """New arrays hold what write_fuzz_cases.cpp has in them: a number that no store has left there by chance. Where a
    kernel has no array, the launcher asks for a GPU's."""
    empty, zeros, full = torch.empty, torch.zeros, torch.full

    def filled(*shape, dtype=None, device=None, **options):
        if dtype is None or len(shape) != 1 or not isinstance(shape[0], tuple):
            return empty(*shape, dtype=dtype, device=device, **options)
        return full(shape[0], 1 if dtype == torch.bool else 77, dtype=dtype)

    monkeypatch.setattr(torch, "empty", filled)
    monkeypatch.setattr(torch, "zeros", lambda *shape, device=None, **options: zeros(*shape, **options))
    monkeypatch.setattr(torch, "full", lambda *shape, device=None, **options: full(*shape, **options))


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_gives_the_right_results(folder, monkeypatch):
    case = json.loads((folder / "case.json").read_text())
    arguments = [
        read_array(folder, argument) if "file" in argument else argument["value"] for argument in case["arguments"]
    ]
    allocate_on_the_cpu(monkeypatch)
    results = getattr(load_module(folder), case["kernel"])(*arguments)
    results = [results] if isinstance(results, torch.Tensor) else list(results or [])
    if len(results) < len(case["results"]):
        results += [array for array, described in zip(arguments, case["arguments"]) if described["written"]]
    assert len(results) == len(case["results"])
    for found, described in zip(results, case["results"]):
        expected = read_array(folder, described)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        if expected.numel() == 0:
            continue
        if "bounds" in described:
            bounds = torch.frombuffer(bytearray((folder / described["bounds"]).read_bytes()), dtype=torch.float64)
            assert_within_bounds(found, expected, bounds.reshape(described["sizes"]), case)
        elif expected.dtype.is_floating_point:
            assert relative_error(found, expected) <= described["tolerance"], case["config"]
        else:
            assert torch.equal(found, expected), case["config"]
