"""Tilewright: PyTorch with tiles.

    import torch
    import tilewright as tw
    import tilewright.language as twl

    @tw.kernel()
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile] + y[tile]
        return out

    print(add(torch.ones(1000), torch.ones(1000)))
"""

from ._interface import check_interface

check_interface()

# ruff: noqa: E402
from . import _core, autotuner, exc, language
from ._core import num_threads, set_num_threads, stages
from .config import Config
from .errors import Error
from .kernel import BoundKernel, ConfigSpec, Kernel, jit, kernel
from .numbers import cdiv, next_power_of_2
from .settings import Settings, set_default_settings


def __getattr__(name: str):
    from .foreign_names import cure_of

    raise AttributeError(f"tilewright has no {name}{cure_of(name)}")


settings = Settings
__version__ = _core.__version__

__all__ = [
    "BoundKernel", "Config", "ConfigSpec", "Error", "Kernel", "Settings", "cdiv", "exc", "jit", "kernel", "language", "next_power_of_2",
    "num_threads", "set_default_settings", "set_num_threads", "settings", "stages",
]
