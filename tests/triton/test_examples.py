"""Every example kernel, for several configs: the generated file, run by Triton's interpreter, gives the results of the
CPU backend. The cases are what tests/triton/write_cases.cpp wrote into $TILEWRIGHT_TRITON_CASES."""

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
    array = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return array.reshape(described["sizes"]).clone()


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


def test_there_are_cases():
    assert CASES


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_agrees_with_the_cpu_backend(folder):
    case = json.loads((folder / "case.json").read_text())
    arguments = [
        read_array(folder, argument) if "file" in argument else argument["value"] for argument in case["arguments"]
    ]
    results = getattr(load_module(folder), case["kernel"])(*arguments)
    if results is None:
        results = [array for array, described in zip(arguments, case["arguments"]) if described["written"]]
    if isinstance(results, torch.Tensor):
        results = [results]
    assert len(results) == len(case["results"])
    for found, described in zip(results, case["results"]):
        expected = read_array(folder, described)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        if expected.numel() == 0:
            continue
        if expected.dtype.is_floating_point:
            assert relative_error(found, expected) <= described["tolerance"], case["config"]
        else:
            assert torch.equal(found, expected), case["config"]
