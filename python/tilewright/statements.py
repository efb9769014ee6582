"""Statements of a kernel."""

from __future__ import annotations

import ast
import contextlib
import importlib

from . import _core
from .errors import KernelError, NotRecordable
from .expressions import Method, UserException
from .loops import Break, Continue, Return
from .values import DeviceValue, LoopVariables, NeedsValue, NumberArgument, TensorProxy, TileProxy

_WORDS = {"Try": "try", "TryStar": "try", "With": "with", "Delete": "del", "Match": "match", "ClassDef": "class",
          "AsyncFor": "async for", "AsyncWith": "async with", "AsyncFunctionDef": "async def", "Global": "global",
          "Nonlocal": "nonlocal", "Raise": "raise", "Import": "import", "ImportFrom": "import"}
_CURES = {"Try": "nothing is raised there", "With": "enter it before the loop", "Delete": "names may just be left alone",
          "Match": "write it with if and elif", "Global": "return the value, or store it in a tensor",
          "Nonlocal": "return the value", "Raise": "check before the loop", "Import": "import at the head of the file",
          "ImportFrom": "import at the head of the file"}


class Statements:
    """A part of the Reader."""

    def execute(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.execute_one(statement)

    def execute_one(self, statement: ast.stmt) -> None:
        outer, self.node = self.node, statement
        try:
            method = getattr(self, "execute_" + type(statement).__name__, None)
            if method is None:
                raise self.statement_error(statement)
            method(statement)
        except _core.Error as error:
            raise self.from_core(error) from None
        except NotRecordable as reason:
            reason.statement = reason.statement or statement
            raise
        finally:
            self.node = outer

    def statement_error(self, statement: ast.stmt, message: str | None = None) -> Exception:
        kind = type(statement).__name__
        if self.depth == 0:
            return NotRecordable(message or kind)
        if message is None:
            word = _WORDS.get(kind, kind)
            message = f"{word} is not there in a loop on the device"
            if kind in _CURES:
                message += f": {_CURES[kind]}"
        return KernelError.at(self.frame.source, statement, message)

    @contextlib.contextmanager
    def at(self, node: ast.AST):
        """What is said in here is about this place."""
        outer, self.node = self.node, node
        try:
            yield
        finally:
            self.node = outer

    @contextlib.contextmanager
    def scope(self):
        """The body of a loop or a branch of the device."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    #
    # Small ones
    #

    def execute_Pass(self, node):
        pass

    def execute_Expr(self, node):
        if not isinstance(node.value, ast.Constant):  # else a docstring, or ...
            self.evaluate(node.value)

    def execute_Return(self, node):
        raise Return(node, None if node.value is None else self.evaluate(node.value))

    def execute_Break(self, node):
        raise Break(node)

    def execute_Continue(self, node):
        raise Continue(node)

    def execute_Assert(self, node):
        holds = self.evaluate(node.test)
        if isinstance(holds, NumberArgument) and self.depth == 0:
            raise NeedsValue(holds.index)
        if isinstance(holds, (DeviceValue, TensorProxy)):
            with self.at(node.test):
                raise self.unsupported("an assert in a loop on the device is of what is known while the kernel is read; a value "
                                       "can be printed, or stored and looked at after the call")
        if not holds:
            message = None if node.msg is None else self.evaluate(node.msg)
            if self.depth == 0:
                raise UserException(AssertionError() if node.msg is None else AssertionError(message))
            with self.at(node.test):
                raise self.error("the assertion does not hold" + ("" if message is None else f": {message}"))

    def execute_Raise(self, node):
        if self.depth > 0 or node.exc is None or node.cause is not None:
            raise self.statement_error(node)
        error = self.evaluate(node.exc)
        raise UserException(error() if isinstance(error, type) else error)

    def execute_Import(self, node):
        for alias in node.names:
            module = importlib.import_module(alias.name)
            self.bind(alias.asname or alias.name.partition(".")[0], module if alias.asname else
                      importlib.import_module(alias.name.partition(".")[0]))

    def execute_ImportFrom(self, node):
        if node.level:
            raise self.statement_error(node)
        module = importlib.import_module(node.module)
        for alias in node.names:
            self.bind(alias.asname or alias.name, getattr(module, alias.name))

    def execute_FunctionDef(self, node):
        if node.decorator_list:
            raise self.statement_error(node, "a function within a kernel has no decorators")
        self.bind(node.name, self.local_function(node, node.name))

    #
    # Assignment
    #

    def execute_Assign(self, node):
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind_target(target, value)

    def execute_AnnAssign(self, node):
        if node.value is not None:
            self.bind_target(node.target, self.evaluate(node.value))

    def execute_AugAssign(self, node):
        target, name = node.target, type(node.op).__name__
        if isinstance(target, ast.Name):
            before = self.load_name(target.id)
            value = self.evaluate(node.value)
            if isinstance(before, list) and name in ("Add", "Mult"):
                before.extend(value) if name == "Add" else before.__imul__(value)
                return
            self.bind(target.id, self.binary(name, before, value))
        elif isinstance(target, ast.Subscript):
            container, index = self.evaluate(target.value), self.evaluate(target.slice)
            with self.at(target):
                before = self.subscripted(container, index)
            value = self.evaluate(node.value)
            result = self.binary(name, before, value)
            with self.at(target):
                self.set_item(container, index, result)
        else:
            raise self.statement_error(node, "an attribute is not changed in a kernel: use a variable")

    def bind(self, name: str, value) -> None:
        if isinstance(value, Method):
            raise self.error(f"{value.name} is a method; call it")
        if name in self.frame.global_names:
            raise self.statement_error(self.node, f"{name} is of the module; a kernel does not change it")
        self.frame.names[name] = self.stored(self.frame.names.get(name), value)

    def bind_target(self, target: ast.expr, value) -> None:
        with self.at(target):
            if isinstance(target, ast.Name):
                self.bind(target.id, value)
            elif isinstance(target, (ast.Tuple, ast.List)):
                self.unpack(target, value)
            elif isinstance(target, ast.Subscript):
                container = self.evaluate(target.value)
                self.set_item(container, self.evaluate(target.slice), value)
            elif isinstance(target, ast.Attribute):
                owner = self.evaluate(target.value)
                if isinstance(owner, (DeviceValue, TensorProxy, TileProxy)) or self.depth == 0:
                    raise self.unsupported("an attribute is not changed in a kernel: use a variable")
                setattr(owner, target.attr, value)
            else:
                raise self.unsupported(f"nothing can be assigned to a {type(target).__name__}")

    def unpack(self, target, value) -> None:
        if isinstance(value, (DeviceValue, TileProxy)):
            raise self.error("a value on the device is not unpacked; torch.split, torch.unbind and subscripts give its parts"
                             if isinstance(value, DeviceValue) else
                             "this is one tile; a loop over several dimensions is twl.tile([m, n])")
        values = list(self.iterable(value))
        starred = [i for i, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        if starred:
            i, after = starred[0], len(target.elts) - starred[0] - 1
            if len(values) < len(target.elts) - 1:
                raise self.error(f"at least {len(target.elts) - 1} values are unpacked, found {len(values)}")
            parts = values[:i] + [values[i:len(values) - after]] + values[len(values) - after:]
            targets = [part.value if isinstance(part, ast.Starred) else part for part in target.elts]
        else:
            parts, targets = values, target.elts
            if len(parts) != len(targets):
                raise self.error(f"{len(targets)} names for {len(parts)} values")
        for part, one in zip(targets, parts):
            self.bind_target(part, one)

    def set_item(self, container, index, value) -> None:
        if isinstance(container, TensorProxy):
            if self.depth == 0:
                raise NotRecordable("a store before the tile loops")
            self.note_store(container)
            self.store(container, index, value)
        elif isinstance(container, (DeviceValue, LoopVariables, tuple)):
            raise self.error("values never change in place: torch.where makes a changed one, and a tensor in memory is stored to"
                             if isinstance(container, DeviceValue) else "a tuple does not change; assign a new one")
        elif isinstance(index, NumberArgument):
            raise NeedsValue(index.index)
        elif self.depth > 0 and type(container) in (list, dict) and self.is_made_outside(container):
            raise self.error(f"a {type(container).__name__} that was made outside of a loop or branch of the device does not change in it; "
                             f"use names, or a list that is made in the outermost loop, whose elements are carried on")
        elif isinstance(index, DeviceValue):
            raise self.error("the index of a Python list or dict must be known while the kernel is read")
        else:
            container[index] = value
