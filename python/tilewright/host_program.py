"""The host part of a kernel as Python functions: what stands before the outermost loops, and what stands after them.

They are compiled from the kernel's own syntax tree with its file and lines, and see its module and closure, so that
tracebacks, debuggers and warnings are as in the function itself.
"""

from __future__ import annotations

import ast
import copy
import types

from .source import FunctionSource


class _Returns(ast.NodeTransformer):
    """`return x` becomes `return True, x`, other than in functions within."""

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef

    def visit_Return(self, node):
        value = node.value or ast.copy_location(ast.Constant(None), node)
        pair = ast.copy_location(ast.Tuple([ast.copy_location(ast.Constant(True), node), value], ast.Load()), node)
        return ast.copy_location(ast.Return(pair), node)


def prefix_function(source: FunctionSource, statements: list[ast.stmt]) -> types.FunctionType:
    """Takes the kernel's arguments. Returns (True, result) where the kernel returns before its loops, and else
    (False, names)."""
    body = [_Returns().visit(copy.deepcopy(statement)) for statement in statements]
    end = ast.parse("return False, locals()").body[0]
    line = statements[-1] if statements else source.node
    for node in ast.walk(end):
        ast.copy_location(node, line)
    return _compiled(source, copy.deepcopy(source.node.args), body + [end], source.function.__defaults__,
                     source.function.__kwdefaults__)


def suffix_function(source: FunctionSource, statements: list[ast.stmt], names) -> types.FunctionType:
    """Takes the kernel's variables by name, and returns its result."""
    arguments = ast.arguments(posonlyargs=[], args=[], vararg=None, kwarg=None, defaults=[], kw_defaults=[None] * len(names),
                              kwonlyargs=[ast.arg(name, None, lineno=source.lineno, col_offset=0) for name in names])
    body = [copy.deepcopy(statement) for statement in statements] or [ast.copy_location(ast.Pass(), source.node)]
    return _compiled(source, arguments, body, None, None)


def _compiled(source: FunctionSource, arguments: ast.arguments, body, defaults, keyword_defaults) -> types.FunctionType:
    function = source.function
    for argument in ast.walk(arguments):  # annotations and defaults have been evaluated
        if isinstance(argument, ast.arg):
            argument.annotation = None
    arguments.defaults = [ast.copy_location(ast.Constant(None), source.node) for _ in arguments.defaults]
    arguments.kw_defaults = [None if default is None else ast.copy_location(ast.Constant(None), source.node)
                             for default in arguments.kw_defaults]
    definition = ast.FunctionDef(name=source.name, args=arguments, body=body, decorator_list=[], returns=None, type_params=[])
    ast.copy_location(definition, source.node)
    free = function.__code__.co_freevars
    if free:
        outer = ast.FunctionDef(
            name="outer", body=[definition, ast.Return(ast.Name(source.name, ast.Load()))], decorator_list=[], returns=None,
            type_params=[],
            args=ast.arguments(posonlyargs=[], args=[ast.arg(name, None) for name in free], vararg=None, kwonlyargs=[],
                               kw_defaults=[], kwarg=None, defaults=[]))
        ast.copy_location(outer, source.node)
        module = ast.Module([outer], [])
    else:
        module = ast.Module([definition], [])
    namespace: dict = {}
    exec(compile(ast.fix_missing_locations(module), source.filename, "exec"), namespace)
    made = namespace["outer"](*[None] * len(free)) if free else namespace[source.name]
    cells = dict(zip(free, function.__closure__ or ()))
    result = types.FunctionType(made.__code__, function.__globals__, source.name, defaults,
                                tuple(cells[name] for name in made.__code__.co_freevars))
    result.__kwdefaults__ = keyword_defaults
    return result
