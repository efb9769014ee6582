"""Reads a kernel: walks its statements, one after the other, and records what they do.

Statements before and after the outermost loops keep Python's own meaning: they are carried out now, where that gives the
same at each call of the specialisation (sizes, dtypes, allocations, conditions on these); one that does not raises
NotRecordable. In the loops, constants are Python's, and what meets a value of the device is recorded by the core.
"""

from __future__ import annotations

import ast
import contextlib

from .calls import Calls, Frame
from .device import Device
from .errors import NotRecordable
from .expressions import Expressions
from .host_values import HostTensors
from .host_views import HostViews, is_of_the_host
from .language import LanguageFunction, machine
from .language_calls import LanguageCalls
from .loops import Loops, Return
from .source import FunctionSource, OutsideValues
from .statements import Statements
from .values import TensorProxy


class Reader(Device, HostTensors, Expressions, Statements, Loops, Calls, LanguageCalls):
    """One reading of a kernel, for the arguments of one specialisation.

    Attributes:
        frame: the function that is being read. node: the statement or expression in it.
        depth: how many loops and branches of the device are open; 0 on the host.
        stored: arguments that the kernel writes.
    """

    def __init__(self, source: FunctionSource, device_type: str = "cpu", may_capture: bool = True, views: HostViews | None = None):
        self.frame = Frame(source)
        self.node: ast.AST = source.node
        self.depth = 0
        self.callers: list[tuple[str, int, str]] = []
        self.device_type = device_type
        self.may_capture = may_capture  # tensors from outside: become arguments
        self.views = views  # that the host makes; None: it makes none
        self.outside = OutsideValues()
        self.made: list[tuple[dict, int]] = []  # dicts that the kernel makes, and in how many loops and branches
        self.allocated: list[TensorProxy] = []
        self.written: list[TensorProxy] = []
        self.had_loops = False
        self.reads_bounds = False  # in the head of an outermost loop, where elements of arguments are bounds
        self.names_after_loops: dict[str, object] = {}

    def may_make_view(self, node: ast.expr) -> bool:
        """Whether the host can make a view that this expression is of: it stands in a loop or its head, in the kernel itself."""
        if self.callers or self.views is None or self.views.name_of(node):
            return False
        loops = [self.frame.source.body[i] for i in device_loops(self.frame.source, self.frame.source.body)]
        inside = any(node is other for loop in loops for other in ast.walk(loop))
        call = next((c for loop in loops for c in ast.walk(loop) if isinstance(c, ast.Call) and c.func is node), node)
        return inside and is_of_the_host(call, loops)

    def note_store(self, tensor: TensorProxy) -> None:
        if not any(tensor is other for other in self.written):
            self.written.append(tensor)

    @contextlib.contextmanager
    def reading(self):
        outer, machine.current = machine.current, self
        try:
            yield
        finally:
            machine.current = outer

    def read(self, parameters: dict[str, object], statements: list[ast.stmt]):
        """Reads statements of the kernel. Returns what they return, and how many of them were read: those after the last
        loop that only Python can do are left. Raises NotRecordable for others."""
        self.frame.names.update(parameters)
        last = last_loop(self.frame.source, statements)
        with self.reading():
            for i, statement in enumerate(statements):
                try:
                    if i == last + 1:
                        self.had_loops = True
                        self.names_after_loops = dict(self.frame.names)
                    self.execute_one(statement)
                except NotRecordable:
                    if i <= last:
                        raise
                    return None, last + 1
                except Return as returned:
                    if i < last:
                        raise NotRecordable("a return before the loops") from None
                    return returned.value, len(statements)
        return None, len(statements)


def is_device_loop(source: FunctionSource, statement: ast.stmt) -> bool:
    """Whether it is a for statement over tile() or grid()."""
    if not isinstance(statement, ast.For) or not isinstance(statement.iter, ast.Call):
        return False
    function = resolve(source, statement.iter.func)
    return isinstance(function, LanguageFunction) and function.name in ("tile", "grid", "jagged_tile")


def resolve(source: FunctionSource, node: ast.expr):
    """What a name, or a name in a module, stands for; None where that is not known from the source."""
    try:
        if isinstance(node, ast.Name):
            return source.lookup(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(resolve(source, node.value), node.attr, None)
    except KeyError:
        pass
    return None


def device_loops(source: FunctionSource, statements) -> list[int]:
    return [i for i, statement in enumerate(statements) if is_device_loop(source, statement)]


def last_loop(source: FunctionSource, statements) -> int:
    loops = device_loops(source, statements)
    return loops[-1] if loops else len(statements) - 1
