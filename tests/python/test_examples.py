"""Every example agrees with PyTorch, compiled and interpreted."""

import importlib
import pathlib
import sys

import pytest

import tilewright as tw

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"
sys.path.insert(0, str(FOLDER))
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "checking")


EXAMPLES = [pytest.param(example, id=f"{name}:{example.name}")
            for name in NAMES for example in getattr(importlib.import_module(name), "EXAMPLES", [])]


@pytest.mark.parametrize("example", EXAMPLES)
def test_agrees_with_pytorch(example):
    from checking import check

    check(example)
    if isinstance(example.kernel, tw.Kernel):
        check(example, tw.kernel(example.kernel.fn, interpret=True))
