"""Whether the compiled core is the one that the Python files beside it were written for."""

from __future__ import annotations

import hashlib
import os

from . import _core


def check_interface() -> None:
    """Raises ImportError where it is not, as after a git pull without a build."""
    described = os.path.join(os.path.dirname(__file__), "_core.pyi")
    if not os.path.exists(described):
        return
    with open(described, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != getattr(_core, "interface", None):
        raise ImportError(f"tilewright's compiled core, {_core.__file__}, is not of the same version as its Python files; build it anew: "
                          f"cmake --build build --target _core in the checkout that it is from, or pip install .")
