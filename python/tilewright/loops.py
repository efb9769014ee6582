"""Loops, branches and loops on a condition: which of them the device runs, and which are settled while reading."""

from __future__ import annotations

import ast
import dataclasses
import re

from . import _core
from .errors import KernelError
from .expressions import Signal, is_device
from .language import LanguageFunction
from .source import assigned_names, changed_in_part, read_before_assigned, read_names
from .values import BlockSize, DeviceValue, LoopVariables, NeedsValue, NumberArgument, RunTimeNumber, Size, TensorProxy, TileProxy


class Break(Signal):
    """Leaves an unrolled loop."""


class Continue(Signal):
    """Goes on with the next pass of an unrolled loop."""


class Return(Signal):
    """Leaves a function."""

    def __init__(self, node: ast.stmt, value):
        super().__init__(node)
        self.value = value


@dataclasses.dataclass
class LoopSpec:
    """What tile(), grid() and range() give: a loop of the device."""

    begin: list | None
    end: list
    blocks: list | None = None
    is_tile: bool = True
    single: bool = True  # one variable, not a tuple of them
    step: int | None = None  # of grid() and range()
    is_scalar: bool = False  # over no dimension: one pass, with no variable
    lengths: DeviceValue | None = None  # of the rows of jagged_tile(), which say where it ends

    def unrolled(self, reader) -> range:
        begin = 0 if self.begin is None else reader.static_int(self.begin[0], "a bound of range")
        return range(begin, reader.static_int(self.end[0], "a bound of range"), self.step or 1)


class Cell:
    """A name that holds a device value: a variable that loops carry on and branches merge."""

    def __init__(self, depth: int):
        self.variable = _core.Variable()
        self.depth = depth  # of the scopes that were open where it was made


@dataclasses.dataclass
class CellTuple:
    """A name that holds a tuple with device values in it."""

    parts: list
    kind: type


@dataclasses.dataclass
class Undecided:
    """A name that the sides of a branch give different things, or only one side gives anything."""

    message: str


class Pending:
    """A name without a value before a branch, so that both of its sides give their values to the same variables."""

    def __init__(self, depth: int):
        self.depth = depth
        self.cells: dict[tuple[int, ...], Cell] = {}

    def cell(self, path) -> Cell:
        return self.cells.setdefault(path, Cell(self.depth))


def is_number(value) -> bool:
    return isinstance(value, (bool, int, float))


class Loops:
    """A part of the Reader."""

    #
    # Names
    #

    def stored(self, before, value, path=()):
        """What a name holds after value is assigned to it; `before` is what it held."""
        is_fixed = isinstance(value, (BlockSize, RunTimeNumber)) and not isinstance(before, (Cell, Pending))
        if isinstance(value, DeviceValue) and not is_fixed:
            if isinstance(before, Pending):
                before = before.cell(path)
            cell = before if isinstance(before, Cell) else Cell(self.depth)
            cell.variable.assign(value.core, location=self.location)
            return cell
        if is_number(value):
            if isinstance(before, Pending):
                before = before.cell(path)
            if isinstance(before, Cell) and before.depth < self.depth:
                self.assign_number(before, value)
                return before
            return value
        if type(value) is tuple and value:
            earlier = [None] * len(value)
            if isinstance(before, CellTuple) and len(before.parts) == len(value):
                earlier = before.parts
            elif isinstance(before, Pending):
                earlier = None
            parts = [self.stored(before if earlier is None else earlier[i], part, path + (i,)) for i, part in enumerate(value)]
            if any(isinstance(part, (Cell, CellTuple)) for part in parts):
                return CellTuple(parts, tuple)
        return value

    def assign_number(self, cell: Cell, number) -> None:
        """In the dtype that the variable has, where the number fits it."""
        operand = number.symbol if isinstance(number, Size) else number
        try:
            dtype = cell.variable.read(location=self.location).dtype
        except _core.Error:
            dtype = None  # no value yet
        if dtype and not (isinstance(number, float) and not dtype.startswith(("float", "bfloat"))):
            operand = _core.call("full", [operand], {"shape": [], "dtype": dtype}, location=self.location)
        cell.variable.assign(operand, location=self.location)

    def loaded(self, held, name: str):
        """The value of a name that holds this."""
        if isinstance(held, Cell):
            try:
                return self.wrap(held.variable.read(location=self.location))
            except _core.Error as error:
                raise self.error(re.sub("^a device value", name, error.message)) from None
        if isinstance(held, CellTuple):
            return held.kind(self.loaded(part, name) for part in held.parts)
        if isinstance(held, Undecided):
            raise self.error(held.message)
        if isinstance(held, Pending):
            raise self.error(f"{name} is read before it has a value")
        return held

    def promote(self, names) -> None:
        """Numbers of Python that a loop or a branch of the device assigns to become values of the device."""
        for name in names:
            held = self.frame.names.get(name)
            if (promoted := self.promoted(held)) is not held:
                self.frame.names[name] = promoted

    def promote_elements(self, statements) -> None:
        """Likewise numbers in lists."""
        for name in changed_in_part(statements):
            held = self.frame.names.get(name)
            if hasattr(held, "promote"):
                held.promote()

    def promoted(self, held):
        if is_number(held):
            cell = Cell(self.depth)
            cell.variable.assign(held.symbol if isinstance(held, Size) else held, location=self.location)
            return cell
        if isinstance(held, RunTimeNumber):
            cell = Cell(self.depth)
            cell.variable.assign(held.core, location=self.location)
            return cell
        if type(held) is tuple and held and all(is_number(part) for part in held):
            return CellTuple([self.promoted(part) for part in held], tuple)
        if isinstance(held, CellTuple):
            return CellTuple([self.promoted(part) for part in held.parts], held.kind)
        return held

    #
    # for
    #

    def execute_For(self, node: ast.For) -> None:
        loop = self.loop_of(node.iter)
        if isinstance(loop, LoopSpec):
            if node.orelse:
                raise KernelError.at(self.frame.source, node.orelse[0], "a loop on the device has no else")
            self.device_loop(node, loop)
            return
        with self.at(node.iter):
            items = self.iterable(loop)
            if isinstance(items, DeviceValue):
                raise self.error("a value on the device is not walked over; twl.static_range(n) and twl.grid(n) count")
        for item in items:
            self.bind_target(node.target, item)
            try:
                self.execute(node.body)
            except Continue:
                continue
            except Break:
                return
        self.execute(node.orelse)

    def loop_of(self, node: ast.expr):
        """What a for statement walks over. range() on the device is a loop of the device."""
        if self.depth > 0 and isinstance(node, ast.Call) and not node.keywords and self.evaluate(node.func) is range:
            with self.at(node):
                bounds = self.elements(node.args)
                step = self.static_int(bounds[2], "the step of range") if len(bounds) == 3 else 1
                begin, end = (bounds[0], bounds[1]) if len(bounds) > 1 else (None, bounds[0])
                return LoopSpec(None if begin is None else [begin], [end], is_tile=False, step=step)
        self.reads_bounds = self.depth == 0 and isinstance(node, ast.Call) and isinstance(self.evaluate(node.func), LanguageFunction)
        try:
            return self.evaluate(node)
        finally:
            self.reads_bounds = False

    def device_loop(self, node: ast.For, loop: LoopSpec) -> None:
        names = self.frame.names
        targets = assigned_names([ast.Assign([node.target], ast.Constant(None))])
        assigned = assigned_names(node.body) - targets
        exposed = read_before_assigned(node.body)
        with self.at(node):
            self.promote(assigned & (exposed | self.read_elsewhere(node)))
            self.promote_elements(node.body)
        before = {name: names.get(name) for name in assigned & exposed if name in names}
        for name in targets:
            names.pop(name, None)
        with self.at(node.iter):
            variables = self.open(loop)
        try:
            with variables as opened, self.scope():
                values = [TileProxy(tile) if loop.is_tile else DeviceValue(tile) for tile in opened if not loop.is_scalar]
                if loop.step not in (None, 1):
                    with self.at(node.iter):
                        begin = 0 if loop.begin is None else loop.begin[0]
                        values = [self.call("add", [begin, self.call("mul", [value, loop.step])]) for value in values]
                self.bind_target(node.target, values[0] if loop.single else LoopVariables(values))
                self.leave_only_at_the_end(node.body, "a loop")
        except _core.Error as error:  # of what the loop carries on
            with self.at(node.iter):
                raise self.named(error, assigned) from None
        for name, held in before.items():
            if names.get(name) is not held and not isinstance(held, (Cell, CellTuple)):
                names[name] = Undecided(
                    f"{name} changes in the loop of line {node.lineno}, and is {_kind(held)} before it: what a loop on the device "
                    f"carries on are values, numbers, tuples of them, and elements of lists")

    def open(self, loop: LoopSpec):
        end, begin = loop.end, loop.begin
        if loop.step not in (None, 1):
            # i = begin + step * k for k in [0, cdiv(end - begin, step))
            first = 0 if begin is None else begin[0]
            if isinstance(end[0], int) and isinstance(first, int):
                end = [len(range(int(first), int(end[0]), loop.step))]
            elif loop.step > 0:
                distance = self.call("sub", [end[0], first]) if isinstance(first, DeviceValue) or first != 0 else end[0]
                end = [self.call("floor_divide", [self.call("add", [distance, loop.step - 1]), loop.step])]
            else:
                distance = self.call("sub", [first, end[0]])
                end = [self.call("floor_divide", [self.call("add", [distance, -loop.step - 1]), -loop.step])]
            begin = None
        if self.depth == 0:
            for bound in (begin or []) + end:
                if isinstance(bound, NumberArgument):
                    raise NeedsValue(bound.index)
        blocks = None
        if loop.blocks is not None:
            blocks = [self.block(block) for block in loop.blocks]
        if loop.lengths is not None:
            return _core.loop(None, [], blocks, jagged=loop.lengths.core, location=self.location)
        return _core.loop(None if begin is None else [self.operand(b) for b in begin], [self.operand(e) for e in end], blocks,
                          grid=not loop.is_tile, location=self.location)

    def block(self, block):
        if isinstance(block, NumberArgument):
            raise NeedsValue(block.index)
        if block is None or isinstance(block, DeviceValue):
            return None if block is None else block.core
        return block.symbol if isinstance(block, Size) else self.static_int(block, "a block size")

    def read_elsewhere(self, node: ast.stmt) -> set[str]:
        """Names that the function reads after the statement, or before it in a loop around it."""
        here = set(map(id, ast.walk(node)))
        names = set()
        for other in ast.walk(self.frame.source.node):
            if id(other) not in here and isinstance(other, ast.Name) and isinstance(other.ctx, ast.Load):
                names.add(other.id)
            elif id(other) not in here and isinstance(other, ast.AugAssign) and isinstance(other.target, ast.Name):
                names.add(other.target.id)
        return names

    def leave_only_at_the_end(self, body, what: str) -> None:
        try:
            self.execute(body)
        except (Break, Continue, Return) as signal:
            word = type(signal).__name__.lower()
            cure = ("assign to a variable that is defined before, and return it at the end" if word == "return" else
                    "use torch.where, or an if around the statements that are to be left out")
            with self.at(signal.node):
                raise self.error(f"{word} leaves {what} of the device, which is recorded once for every time that it runs: "
                                 f"{cure}") from None

    def named(self, error: _core.Error, names) -> KernelError:
        """Names the variable whose value does not keep its type: one that the line in question assigns to."""
        located = self.from_core(error)
        if located.message.startswith("a value that"):
            for statement in ast.walk(self.frame.source.node):
                if isinstance(statement, ast.stmt) and statement.lineno == error.line:
                    found = assigned_names([statement]) & set(names)
                    if len(found) == 1:
                        located.message = located.message.replace("a value that", f"{found.pop()}, which", 1).replace(
                            " carries on changes", " carries on, changes", 1).replace(" assigns to changes", " assigns to, changes", 1)
                        break
        return located

    #
    # if
    #

    def execute_If(self, node: ast.If) -> None:
        condition = self.on_host(self.evaluate(node.test))
        if isinstance(condition, NumberArgument) and self.depth == 0:
            raise NeedsValue(condition.index)
        if isinstance(condition, TensorProxy):
            with self.at(node.test):
                if self.depth == 0:
                    raise self.unsupported("the truth of a tensor before the loops")
                condition = self.wrap(self.operand(condition))
        if isinstance(condition, DeviceValue):
            self.device_if(node, condition)
        else:
            with self.at(node.test):
                taken = bool(condition)
            self.execute(node.body if taken else node.orelse)

    def device_if(self, node: ast.If, condition: DeviceValue) -> None:
        if condition.core.rank != 0:
            with self.at(node.test):
                raise self.error("the condition of an if is a scalar; torch.where chooses by element")
        names = self.frame.names
        assigned = assigned_names(node.body + node.orelse)
        elsewhere = self.read_elsewhere(node)
        with self.at(node.test):
            self.promote(assigned)
            self.promote_elements(node.body + node.orelse)
            condition = self.truth(condition)
        missing = object()
        before = {name: names.get(name, Pending(self.depth) if name in elsewhere else missing) for name in assigned}
        after = []

        def side(statements):
            def run():
                for name, held in before.items():
                    names.pop(name, None)
                    if held is not missing:
                        names[name] = held
                with self.scope():
                    self.leave_only_at_the_end(statements, "a branch")
                after.append({name: names.get(name, missing) for name in assigned})

            return run

        with self.at(node.test):
            where = self.location
        try:
            _core.if_(condition.core, side(node.body), side(node.orelse), location=where)
        except _core.Error as error:
            with self.at(node.test):
                raise self.named(error, assigned) from None
        for name in assigned:
            yes, no = after[0][name], after[1][name]
            if yes is no and yes is not missing:
                names[name] = yes
            elif yes is missing or no is missing or isinstance(yes, Pending) or isinstance(no, Pending):
                names[name] = Undecided(f"{name} has a value in only one branch of the if in line {node.lineno}; give it one before")
            else:
                names[name] = self.merged(name, yes, no, node)

    def merged(self, name: str, yes, no, node):
        if isinstance(yes, CellTuple) and isinstance(no, CellTuple) and len(yes.parts) == len(no.parts):
            return CellTuple([self.merged(name, a, b, node) for a, b in zip(yes.parts, no.parts)], yes.kind)
        if yes is no:
            return yes
        if type(yes) is type(no) and isinstance(yes, (str, int, float, bool, tuple)) and not is_device(yes) and yes == no:
            return yes
        return Undecided(f"{name} is {_kind(yes)} in one branch of the if in line {node.lineno}, and {_kind(no)} in the other; which "
                         f"of the two is not known while the kernel is read")

    #
    # while
    #

    def execute_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.statement_error(node.orelse[0], "a while loop has no else here")
        condition = self.evaluate(node.test)
        passes = 0
        while not isinstance(condition, (DeviceValue, TensorProxy)):  # settled while reading
            if not condition:
                return
            passes += 1
            if passes > 10_000:
                with self.at(node.test):
                    raise self.unsupported("a loop with no end that is known while the kernel is read")
            try:
                self.execute(node.body)
            except Continue:
                pass
            except Break:
                return
            condition = self.evaluate(node.test)
        if self.depth == 0:
            if isinstance(condition, NumberArgument):
                raise NeedsValue(condition.index)
            with self.at(node.test):
                raise self.unsupported("a loop on data before the tile loops")
        assigned = assigned_names(node.body)
        exposed = read_before_assigned(node.body) | read_names([node.test])
        with self.at(node.test):
            where = self.location
            self.promote(assigned & (exposed | self.read_elsewhere(node)))
            self.promote_elements(node.body)

        def test():
            with self.scope():
                value = self.evaluate(node.test)
                with self.at(node.test):
                    if isinstance(value, DeviceValue) and value.core.rank != 0:
                        raise self.error("the condition of a while is a scalar; .any() and .all() make one of a tensor")
                    return self.operand(self.truth(self.wrap(self.operand(value))))

        def body():
            with self.scope():
                self.leave_only_at_the_end(node.body, "a loop")

        try:
            _core.while_(test, body, location=where)
        except _core.Error as error:
            with self.at(node.test):
                raise self.named(error, assigned) from None


def _kind(held) -> str:
    if isinstance(held, (Cell, CellTuple)):
        return "a value on the device"
    if isinstance(held, TensorProxy):
        return "a tensor in memory"
    if isinstance(held, list):
        return "a list"
    return repr(held) if isinstance(held, (str, int, float, bool, type(None))) else f"a {type(held).__name__}"
