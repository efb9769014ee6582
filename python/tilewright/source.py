"""The source text of functions, as syntax trees with the file's own lines and columns."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import types

from ._core import Location
from .errors import Error


class FunctionSource:
    """A function with its syntax tree.

    Attributes:
        name, filename, lineno: for people.
        node: an ast.FunctionDef or ast.Lambda.
        function: the function itself.
    """

    def __init__(self, function: types.FunctionType, node: ast.FunctionDef | ast.Lambda):
        self.function = function
        self.node = node
        self.name = function.__name__
        self.filename = function.__code__.co_filename
        self.lineno = node.lineno

    @property
    def body(self) -> list[ast.stmt]:
        if isinstance(self.node, ast.Lambda):
            result = ast.Return(self.node.body)
            ast.copy_location(result, self.node.body)
            return [result]
        return self.node.body

    def lookup(self, name: str):
        """The value of a name that is not local: of the closure, the module, or Python itself. Raises KeyError."""
        code = self.function.__code__
        if name in code.co_freevars:
            cell = self.function.__closure__[code.co_freevars.index(name)]
            try:
                return cell.cell_contents
            except ValueError:
                raise KeyError(name) from None
        module = self.function.__globals__
        if name in module:
            return module[name]
        return getattr(builtins, name) if hasattr(builtins, name) else _raise(KeyError(name))


def _raise(error):
    raise error


_PLAIN = (bool, int, float, complex, str, type(None))


class OutsideValues:
    """Values from outside of a kernel, of modules and closures, that were read into what is compiled: plain ones, and
    functions."""

    def __init__(self):
        self._read: dict[tuple[int, str], tuple] = {}
        self._places: list[tuple] = []  # where these are now: a cell, or a module's names and the name; and the value

    def __bool__(self) -> bool:
        return bool(self._read)

    def note(self, source: FunctionSource, name: str, value) -> None:
        if isinstance(value, (*_PLAIN, types.FunctionType)):
            self._read[id(source.function), name] = source, name, value

    def update(self, other: OutsideValues) -> None:
        self._read.update(other._read)
        self._places = []
        for source, name, value in self._read.values():
            free = source.function.__code__.co_freevars
            cell = source.function.__closure__[free.index(name)] if name in free else None
            self._places.append((cell, source.function.__globals__, source, name, value))

    def have_changed(self) -> bool:
        for cell, names, source, name, value in self._places:
            try:
                now = names.get(name) if cell is None else cell.cell_contents
            except ValueError:  # an empty cell
                return True
            if now is not value and _is_another(source, name, value):
                return True
        return False


def _is_another(source: FunctionSource, name: str, value) -> bool:
    try:
        now = source.lookup(name)
    except KeyError:
        return True
    # By repr: of numbers, 0.0 and -0.0 are two, and NaN is one.
    return now is not value and not (isinstance(value, _PLAIN) and type(now) is type(value) and repr(now) == repr(value))


@functools.lru_cache(maxsize=64)
def _parse(filename: str, text: str) -> ast.Module:
    return ast.parse(text, filename)


def _nodes_at(tree: ast.Module, function: types.FunctionType):
    """The nodes that may be the function's: by kind, name and first line, decorators included."""
    line = function.__code__.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            if function.__code__.co_name == "<lambda>" and node.lineno <= line <= node.end_lineno:
                yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            if node.name == function.__code__.co_name and first == line:
                yield node


def _parameter_names(node: ast.Lambda) -> tuple[str, ...]:
    given = node.args
    return tuple(argument.arg for argument in given.posonlyargs + given.args + given.kwonlyargs)


def _of_code(nodes: list[ast.Lambda], code: types.CodeType) -> list[ast.Lambda]:
    """Of lambdas in one line, also within one another, the one that was compiled to this."""
    nodes = [node for node in nodes if _parameter_names(node) == code.co_varnames[:len(_parameter_names(node))]]
    if not hasattr(code, "co_positions"):  # Python 3.10
        return [node for node in nodes if _compiles_to(node, code)]
    positions = [p for p in code.co_positions() if None not in p]

    def inside(node: ast.Lambda) -> int:
        body = node.body
        return sum((p[0], p[2]) >= (body.lineno, body.col_offset) and (p[1], p[3]) <= (body.end_lineno, body.end_col_offset)
                   for p in positions)

    def is_whole(node: ast.Lambda) -> bool:  # the instructions begin or end where the body does
        body = node.body
        return any((p[0], p[2]) == (body.lineno, body.col_offset) or (p[1], p[3]) == (body.end_lineno, body.end_col_offset)
                   for p in positions)

    found = [node for node in nodes if is_whole(node)]
    most = max(map(inside, found), default=0)
    # The innermost: ast.walk gives outer nodes first.
    return [node for node in found if inside(node) == most][-1:]


def _compiles_to(node: ast.Lambda, code: types.CodeType) -> bool:
    inner = ast.Return(node)
    free = ast.arguments(posonlyargs=[], args=[ast.arg(name, None) for name in code.co_freevars], vararg=None, kwonlyargs=[],
                         kw_defaults=[], kwarg=None, defaults=[])
    outer = ast.FunctionDef(name="outer", args=free, body=[inner], decorator_list=[], returns=None, type_params=[])
    ast.copy_location(inner, node)
    ast.copy_location(outer, node)
    module = compile(ast.fix_missing_locations(ast.Module([outer], [])), "", "exec")
    body = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    compiled = next(c for c in body.co_consts if isinstance(c, types.CodeType))
    return (compiled.co_code, compiled.co_names, compiled.co_freevars) == (code.co_code, code.co_names, code.co_freevars)


@functools.lru_cache(maxsize=1024)
def _node_of(function: types.FunctionType):
    filename = function.__code__.co_filename
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, function.__globals__))
    if not text:
        return None
    try:
        tree = _parse(filename, text)
    except SyntaxError:
        return None
    nodes = list(_nodes_at(tree, function))
    if len(nodes) > 1 and function.__code__.co_name == "<lambda>":
        nodes = _of_code(nodes, function.__code__)
    return nodes[0] if nodes else None


def source_of(function: types.FunctionType, what: str) -> FunctionSource:
    """Finds the source. `what` is for the message: "kernel" or "function"."""
    node = _node_of(function)
    if node is None:
        code = function.__code__
        raise Error(f"{what} {function.__name__} has no source that could be read ({code.co_filename}, line "
                    f"{code.co_firstlineno}): it was made by exec or eval, typed at a prompt, or its file is gone; "
                    f"write it in a file or in a notebook's cell")
    if isinstance(node, ast.AsyncFunctionDef):
        raise Error(f"{what} {function.__name__} is async; write it as a plain function", _place_of(function, node))
    if inspect.isgeneratorfunction(function):
        raise Error(f"{what} {function.__name__} is a generator; return what it yields as a tuple or a list",
                    _place_of(function, node))
    return FunctionSource(function, node)


def _place_of(function: types.FunctionType, node) -> Location:
    return Location(function.__code__.co_filename, node.lineno, node.col_offset + 1)


def assigned_names(statements: list[ast.stmt]) -> set[str]:
    """Names that the statements bind, other than in functions, classes and comprehensions of their own."""
    names: set[str] = set()

    class Visitor(ast.NodeVisitor):
        def visit_Name(self, node):
            if isinstance(node.ctx, (ast.Store, ast.Del)):
                names.add(node.id)

        def visit_FunctionDef(self, node):
            names.add(node.name)

        def visit_Lambda(self, node):
            pass

        def visit_ListComp(self, node):
            for part in ast.walk(node):
                if isinstance(part, ast.NamedExpr):
                    names.add(part.target.id)

        visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    for statement in statements:
        Visitor().visit(statement)
    return names


def changed_in_part(statements: list[ast.stmt]) -> set[str]:
    """Names of what the statements assign elements of."""
    names = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                while isinstance(node, ast.Subscript):
                    node = node.value
                if isinstance(node, ast.Name):
                    names.add(node.id)
    return names


def read_names(nodes) -> set[str]:
    """Names that are read anywhere in the nodes, also in functions within them."""
    names = set()
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                names.add(node.id)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                names.add(node.target.id)
    return names


def read_before_assigned(statements: list[ast.stmt]) -> set[str]:
    """Names that the statements may read before they assign to them: what an iteration may see of the one before."""
    exposed: set[str] = set()

    def walk(body: list[ast.stmt], assigned: set[str]) -> set[str]:
        """Returns the names that are surely assigned after the body."""
        for statement in body:
            if isinstance(statement, ast.If):
                exposed.update(read_names([statement.test]) - assigned)
                yes = walk(statement.body, set(assigned))
                no = walk(statement.orelse, set(assigned))
                assigned = yes & no
            elif isinstance(statement, (ast.For, ast.While)):
                head = statement.iter if isinstance(statement, ast.For) else statement.test
                exposed.update(read_names([head]) - assigned)
                inside = set(assigned)
                if isinstance(statement, ast.For):
                    inside |= assigned_names([ast.Assign([statement.target], ast.Constant(None))])
                walk(statement.body, inside)
                walk(statement.orelse, set(assigned))
            elif isinstance(statement, (ast.FunctionDef, ast.Lambda)):
                exposed.update(read_names([statement]) - assigned)
                assigned = assigned | {statement.name}
            else:
                exposed.update(read_names([statement]) - assigned)
                assigned = assigned | assigned_names([statement])
        return assigned

    walk(statements, set())
    return exposed
