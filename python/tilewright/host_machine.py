"""What functions of tilewright.language mean before the loops, where the host part runs as Python."""

from __future__ import annotations

import contextlib
import sys

from ._core import Location
from .errors import Error
from .language import LanguageFunction, machine


class PendingBlockSize:
    """A block size that register_block_size() asked for, until the loops are read. A constant of these."""

    def __init__(self, number: int, extent: int, least: int):
        self.number = number  # of the call
        self.extent = extent
        self.least = least

    def _as_tuple(self):
        return self.number, self.extent, self.least

    def __eq__(self, other):
        return isinstance(other, PendingBlockSize) and self._as_tuple() == other._as_tuple()

    def __hash__(self):
        return hash(self._as_tuple())

    def _no_number(self, *operands):
        user = sys._getframe(1)
        raise Error("the block size that twl.register_block_size gives is no number of the host yet, so no sizes can be computed from "
                    "it; allocate the most that is needed, with a block size of 1", Location(user.f_code.co_filename, user.f_lineno, 0))

    __index__ = __int__ = __float__ = __bool__ = __neg__ = _no_number
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _no_number
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __pow__ = __lt__ = __le__ = __gt__ = __ge__ = _no_number


class HostMachine:
    def __init__(self):
        self.registered = 0

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
            return PendingBlockSize(self.registered, int(least if most is None else most), 1 if most is None else int(least))
        if function.name == "register_tunable":
            raise Error("twl.register_tunable does not go together with a host part that only Python can do; make the option an argument "
                        "of the kernel")
        if function.name == "static_range":
            begin, end, step = arguments.values()
            return range(int(begin)) if end is None else range(int(begin), int(end), int(step))
        raise Error(f"twl.{function.name} belongs into a tile loop, as in for tile in twl.tile(n):")
