"""What the tests of the language share: a kernel is called compiled and on PyTorch, and both must give what PyTorch gives."""

import os

os.environ.setdefault("TILEWRIGHT_AUTOTUNE_EFFORT", "none")
os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported, whose own functions look at it then

import pytest  # noqa: E402
import torch  # noqa: E402

import tilewright as tw  # noqa: E402


def _copied(value):
    if isinstance(value, torch.Tensor):
        return value.clone(memory_format=torch.preserve_format)
    return type(value)(map(_copied, value)) if type(value) in (tuple, list) else value


def close(found, expected, **tolerance):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            close(one, other, **tolerance)
    elif isinstance(expected, torch.Tensor):
        torch.testing.assert_close(found, expected, **tolerance)
    else:
        assert found == expected


@pytest.fixture
def agree():
    """agree(function, args, expected, configs=[...]): expected is a result, or a function of the arguments. For kernels that
    write their arguments, `written` says which of them are compared too."""

    def check(function, args, expected, configs=({},), written=None, settings={}, interpreted=True, **tolerance):
        kernels = [tw.kernel(function, config=config or None, **settings) for config in configs]
        if interpreted:
            kernels.append(tw.kernel(function, interpret=True))
        for kernel in kernels:
            passed = _copied(args)
            found = kernel(*passed)
            wanted = expected(*_copied(args)) if callable(expected) else expected
            if written is None:
                close(found, wanted, **tolerance)
            else:
                close([passed[i] for i in written], wanted, **tolerance)

    return check


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
