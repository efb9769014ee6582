"""The parameters of a kernel, which take the arguments of a call as Python's own functions do."""

from __future__ import annotations

import inspect
from typing import Callable


def binder_of(signature: inspect.Signature, name: str) -> Callable[..., list]:
    """A function with this signature that returns the values of its parameters in order, defaults included. What does not
    fit raises the TypeError that a call of the function itself would raise."""
    parameters = list(signature.parameters.values())
    parts, bare = [], False
    for i, parameter in enumerate(parameters):
        kind = parameter.kind
        if kind is parameter.VAR_POSITIONAL:
            bare = True
        elif kind is parameter.KEYWORD_ONLY and not bare:
            parts.append("*")
            bare = True
        # A default stands in the text only for Python to know that there is one.
        default = "" if parameter.default is parameter.empty else "=None"
        parts.append(f"{'*' if kind is parameter.VAR_POSITIONAL else ''}{parameter.name}{default}")
        last_positional_only = kind is parameter.POSITIONAL_ONLY and (
            i + 1 == len(parameters) or parameters[i + 1].kind is not parameter.POSITIONAL_ONLY)
        if last_positional_only:
            parts.append("/")
    values = ", ".join(parameter.name for parameter in parameters)
    namespace: dict = {}
    exec(f"def binder({', '.join(parts)}):\n    return [{values}]", namespace)
    binder = namespace["binder"]
    binder.__name__ = binder.__qualname__ = name
    binder.__defaults__ = tuple(p.default for p in parameters
                                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is not p.empty) or None
    binder.__kwdefaults__ = {p.name: p.default for p in parameters
                             if p.kind is p.KEYWORD_ONLY and p.default is not p.empty} or None
    return binder
