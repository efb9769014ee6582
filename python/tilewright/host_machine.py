"""What functions of tilewright.language mean before the loops, where the host part runs as Python."""

from __future__ import annotations

import contextlib
import sys

from ._core import Location
from .errors import Error
from .language import LanguageFunction, machine, tunable_choices


class PendingBlockSize:
    """A block size that register_block_size() asked for, until the loops are read. A constant of these."""

    def __init__(self, number: int, extent: int, least: int | None, unrecorded: str):
        self.number = number  # of the call
        self.extent = extent
        self.least = least
        self.unrecorded = unrecorded

    def _as_tuple(self):
        return self.number, self.extent, self.least

    def __eq__(self, other):
        return isinstance(other, PendingBlockSize) and self._as_tuple() == other._as_tuple()

    def __hash__(self):
        return hash(self._as_tuple())

    def _no_number(self, *operands):
        raise _error("the block size that twl.register_block_size gives is a number only where all that stands before the loops is "
                     f"settled when the kernel is compiled, and {self.unrecorded or 'a part of it'} is not: do that outside of the "
                     "kernel, or allocate the most that is needed, with a block size of 1")

    __index__ = __int__ = __float__ = __bool__ = __neg__ = _no_number
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _no_number
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __pow__ = __lt__ = __le__ = __gt__ = __ge__ = _no_number


def _error(message: str) -> Error:
    """At the user's line that is running."""
    user = sys._getframe(1)
    while user.f_back is not None and user.f_globals.get("__name__", "").startswith("tilewright."):
        user = user.f_back
    return Error(message, Location(user.f_code.co_filename, user.f_lineno, 0))


class AssumedNumbers:
    """What the config says, where only shapes are of interest: of the config, or any numbers where there is none.

    Attributes:
        any_asked: whether there were any of those.
    """

    def __init__(self, config, other: bool = False):
        self.config = config
        self.other = other  # other ones, to see what depends on them
        self.any_asked = False

    def block_size(self, number: int, extent: int, least: int | None) -> int:
        sizes = self.config.get("block_sizes", []) if self.config else []
        if number <= len(sizes):
            return max(int(sizes[number - 1]), least or 1)
        self.any_asked = True
        return (2 if self.other else 1) * (least or 1)

    def tunable(self, name: str, choices: list[int]) -> int:
        if self.config and name in self.config:
            return int(self.config[name])
        self.any_asked |= self.config is None and len(choices) > 1
        return choices[-1 if self.other else 0]


class HostMachine:
    """`unrecorded`: what of the host part made it run as Python, for messages. `numbers`: what stands for the config's."""

    def __init__(self, unrecorded: str = "", numbers: AssumedNumbers | None = None):
        self.registered = 0
        self.unrecorded = unrecorded
        self.numbers = numbers

    @contextlib.contextmanager
    def running(self):
        outer, machine.current = machine.current, self
        try:
            yield
        finally:
            machine.current = outer

    def language_call(self, function: LanguageFunction, args, kwargs):
        arguments = function.bind(args, kwargs)
        if function.name in ("specialize", "register_reduction_dim"):
            return next(iter(arguments.values()))
        if function.name == "register_block_size":
            least, most = arguments.values()
            self.registered += 1
            extent, least = int(least if most is None else most), None if most is None else int(least)
            if self.numbers is not None:
                return self.numbers.block_size(self.registered, extent, least)
            return PendingBlockSize(self.registered, extent, least, self.unrecorded)
        if function.name == "register_tunable":
            if self.numbers is not None:
                return self.numbers.tunable(arguments["name"], tunable_choices(*arguments.values()))
            raise _error("twl.register_tunable is there where all that stands before the loops is settled when the kernel is compiled, "
                         f"and {self.unrecorded or 'a part of it'} is not: do that outside of the kernel")
        if function.name == "static_range":
            begin, end, step = arguments.values()
            return range(int(begin)) if end is None else range(int(begin), int(end), int(step))
        raise Error(f"twl.{function.name} belongs into a tile loop, as in for tile in twl.tile(n):")
