"""Names of Helion that there are not, and what to write instead."""

from __future__ import annotations

_CURES = {
    "RefMode": "interpret=True runs a kernel on PyTorch",
    "runtime": "a kernel is launched by calling it; tilewright.Config and Kernel.bind are here",
    "_testing": "torch.device('cpu') and torch.testing.assert_close do what its DEVICE and run_example do",
    "_utils": "tilewright.cdiv and next_power_of_2 are here",
    "_compat": "it is of another system",
    "_compiler": "bound.to_code(config, stage=...) shows what a kernel becomes",
}


def cure_of(name: str) -> str:
    """The end of a message; "" for a name that nobody knows."""
    return f"; {_CURES[name]}" if name in _CURES else ""
