"""Errors and warnings by name, for ``ignore_warnings=[tw.exc.TensorOperationInWrapper]`` and ``except tw.exc.Error``."""

from .errors import Error


class BaseWarning(Warning):
    """A warning about a kernel."""


class TensorOperationInWrapper(BaseWarning):
    """PyTorch's work on tensors before or after the loops. It is legal, and runs at each call; nothing is said of it."""


BaseError = Error  # by the name that users of Helion know


def __getattr__(name: str):
    if name.startswith("_"):
        raise AttributeError(name)
    raise AttributeError(f"tilewright.exc has no {name}; all that is wrong with a kernel or a call is a tilewright.Error, which says what")


__all__ = ["BaseError", "BaseWarning", "Error", "TensorOperationInWrapper"]
