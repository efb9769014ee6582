"""Errors and warnings by name, for ``ignore_warnings=[tw.exc.TensorOperationInWrapper]`` and ``except tw.exc.Error``."""

from .errors import Error


class BaseWarning(Warning):
    """A warning about a kernel."""


class TensorOperationInWrapper(BaseWarning):
    """PyTorch's work on tensors before or after the loops. It is legal, and runs at each call; nothing is said of it."""


__all__ = ["BaseWarning", "Error", "TensorOperationInWrapper"]
