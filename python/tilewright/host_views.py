"""Views of tensors in memory that a kernel writes in its loops, as in ``x.view(-1)[tile]``: they need no data, so that the host
makes them before the loops."""

from __future__ import annotations

import ast
import copy

from .source import FunctionSource, assigned_names, read_names


class HostViews:
    """Those of one kernel: expressions of its source, each with a name of its own."""

    def __init__(self):
        self.names: dict[int, str] = {}  # by the id of the expression's node, which the source keeps
        self.expressions: list[ast.expr] = []

    def add(self, source: FunctionSource, attribute: ast.expr) -> None:
        """`attribute` is x.T, or the x.view of x.view(-1)."""
        expression = attribute
        for node in ast.walk(source.node):
            if isinstance(node, ast.Call) and node.func is attribute:
                expression = node
        self.names[id(expression)] = f"_view_{len(self.expressions)}_of_the_host"
        self.names[id(attribute)] = self.names[id(expression)]
        self.expressions.append(expression)

    def name_of(self, node: ast.expr) -> str | None:
        return self.names.get(id(node))

    def all_names(self) -> list[str]:
        return [self.names[id(expression)] for expression in self.expressions]

    def read_names(self, statements: list[ast.stmt]) -> set[str]:
        """Names that the statements read other than for the views, and those of the views."""
        inside = {id(node) for expression in self.expressions for node in ast.walk(expression)}
        outside = [node for statement in statements for node in ast.walk(statement) if id(node) not in inside]
        names = {node.id for node in outside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        names |= {node.target.id for node in outside if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)}
        return names | set(self.all_names())

    def statements(self) -> list[ast.stmt]:
        """Give the views their names. One that cannot be made, as of an argument that is None, has none."""
        made = []
        for expression in self.expressions:
            text = f"try: {self.names[id(expression)]} = None\nexcept Exception: pass"
            statement = ast.parse(text).body[0]
            for node in ast.walk(statement):
                ast.copy_location(node, expression)
            statement.body[0].value = copy.deepcopy(expression)
            made.append(statement)
        return made


def is_of_the_host(expression: ast.expr, loops: list[ast.stmt]) -> bool:
    """Whether it reads nothing that the loops assign."""
    return not read_names([expression]) & assigned_names(loops)
