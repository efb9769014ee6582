"""Errors in a kernel, at the user's line, with the line itself and a caret under the expression."""

from __future__ import annotations

import ast
import linecache

from ._core import Error, Location

__all__ = ["Error", "KernelError", "NeedsView", "NotRecordable", "with_excerpt"]


class KernelError(Exception):
    """What is wrong at one place of a kernel's source, while the kernel is read. It leaves the package as an Error.

    Attributes:
        message: what was found, what was expected, and the usual cure.
        filename, lineno, columns: the place; columns are of ast, in bytes, or None.
        callers: (filename, lineno, function) of the calls that led there, the innermost first.
    """

    def __init__(self, message: str, filename: str | None = None, lineno: int = 0,
                 columns: tuple[int, int | None] | None = None):
        super().__init__(message)
        self.message = message
        self.filename = filename
        self.lineno = lineno
        self.columns = columns
        self.callers: list[tuple[str, int, str]] = []

    @classmethod
    def at(cls, source, node: ast.AST, message: str) -> KernelError:
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return cls(message, source.filename, node.lineno, (node.col_offset, end))

    def as_error(self) -> Error:
        lines = [self.message]
        if self.filename:
            lines += _marked_line(self.filename, self.lineno, self.columns)
        for filename, lineno, function in self.callers:
            lines.append(f"called in {function} at {filename}:{lineno}:")
            lines += _marked_line(filename, lineno, None)
        place = Location(self.filename, self.lineno, self.columns[0] + 1 if self.columns else 0) if self.filename else None
        return Error("\n".join(lines), place)


class NotRecordable(Exception):
    """A host statement whose work only Python can do: it runs as Python at each call.

    Attributes:
        statement: the statement of the kernel, once it is known.
    """

    statement: ast.stmt | None = None


class NeedsView(NotRecordable):
    """A view of a tensor in memory that stands in a loop: the host makes it before.

    Attributes:
        node: the attribute of the tensor, as in x.view or x.T.
    """

    def __init__(self, node: ast.expr):
        super().__init__("a view of a tensor in memory")
        self.node = node


def with_excerpt(error: Error) -> Error:
    """An error of the core's, which knows a line: with the line itself, as errors of the reading have it."""
    if not error.file or not error.line or "\n" in str(error):
        return error
    columns = (error.column - 1, None) if error.column else None
    lines = _marked_line(error.file, error.line, columns)
    return Error("\n".join([error.message, *lines]), Location(error.file, error.line, error.column)) if lines else error


def _marked_line(filename: str, lineno: int, columns) -> list[str]:
    text = linecache.getline(filename, lineno).rstrip("\n")
    if not text.strip():
        return []
    indent = len(text) - len(text.lstrip())
    lines = ["    " + text[indent:]]
    if columns is not None:
        encoded = text.encode()  # ast counts bytes of UTF-8
        begin = len(encoded[:columns[0]].decode(errors="replace"))
        end = len(text) if columns[1] is None else len(encoded[:columns[1]].decode(errors="replace"))
        lines.append("    " + " " * (begin - indent) + "^" * max(end - begin, 1))
    return lines
