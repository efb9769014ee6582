"""Expressions of a kernel: constants keep Python's own meaning, what meets device values is recorded."""

from __future__ import annotations

import ast
import dataclasses
import operator

import torch

from . import _core
from .device_functions import METHODS, OPERATORS, in_place_cure, near_names
from .errors import KernelError, NotRecordable
from .values import BlockSize, DeviceValue, LoopVariables, NeedsValue, NumberArgument, TensorProxy, TileProxy

_PYTHON_OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "FloorDiv": operator.floordiv,
    "Mod": operator.mod, "Pow": operator.pow, "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor,
    "LShift": operator.lshift, "RShift": operator.rshift, "MatMult": operator.matmul, "Eq": operator.eq,
    "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
    "Is": operator.is_, "IsNot": operator.is_not, "In": lambda a, b: a in b, "NotIn": lambda a, b: a not in b,
    "USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert, "Not": operator.not_,
}

# Exceptions that have a meaning of their own on the way up.
_PASSING = (KernelError, NotRecordable, NeedsValue)


class Signal(Exception):
    """return, break and continue, the node, on their way to what they leave."""

    def __init__(self, node: ast.stmt):
        super().__init__()
        self.node = node


class UserException(Exception):
    """What a raise or assert statement of the host part raises, on its way out."""

    def __init__(self, error: BaseException):
        self.error = error


@dataclasses.dataclass
class Method:
    """value.name before it is called."""

    value: object
    name: str


def is_device(value) -> bool:
    """Whether it is of the device, or holds something that is."""
    if isinstance(value, (DeviceValue, TileProxy, TensorProxy)):
        return True
    if isinstance(value, (tuple, list)):
        return any(is_device(part) for part in value)
    if isinstance(value, dict):
        return any(is_device(part) for part in value.values())
    return False


def _is_element(index) -> bool:
    return all(isinstance(part, int) and not isinstance(part, bool) for part in (index if isinstance(index, tuple) else (index,)))


class Expressions:
    """A part of the Reader."""

    def evaluate(self, node: ast.expr):
        outer, self.node = self.node, node
        try:
            method = getattr(self, "evaluate_" + type(node).__name__, None)
            if method is None:
                raise self.unsupported(f"{type(node).__name__} expressions are not there in kernels")
            return method(node)
        except _core.Error as error:
            raise self.from_core(error) from None
        except (*_PASSING, Signal, UserException, RecursionError):
            raise
        except Exception as error:
            if self.depth == 0:
                raise NotRecordable(str(error)) from None  # runs as Python, which says what is wrong
            raise self.error(f"{type(error).__name__}: {error}") from None
        finally:
            self.node = outer

    def from_core(self, error: _core.Error) -> KernelError:
        """At the expression, where the core has not another line to blame."""
        message, source = error.message, self.frame.source
        if error.file in (None, source.filename) and (not error.line or self.node.lineno <= error.line <= self.node.end_lineno):
            return self.error(message)
        return KernelError(message, error.file, error.line, (error.column - 1, None) if error.column else None)

    def unsupported(self, message: str) -> Exception:
        """For what only Python itself can do on the host, and nobody on the device."""
        return NotRecordable(message) if self.depth == 0 else self.error(message)

    #
    # Literals and names
    #

    def evaluate_Constant(self, node):
        return node.value

    def evaluate_Name(self, node):
        return self.load_name(node.id)

    def evaluate_Tuple(self, node):
        return tuple(self.elements(node.elts))

    def evaluate_List(self, node):
        return self.new_list(self.elements(node.elts))

    def new_list(self, values) -> list:
        from .value_list import ValueList

        return ValueList(self, values) if self.depth > 0 else list(values)

    def evaluate_Set(self, node):
        return set(self.elements(node.elts))

    def elements(self, nodes) -> list:
        result = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                result.extend(self.iterable(self.evaluate(node.value)))
            else:
                result.append(self.evaluate(node))
        return result

    def evaluate_Dict(self, node):
        result = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                result.update(self.evaluate(value))
            else:
                result[self.evaluate(key)] = self.evaluate(value)
        self.made.append((result, self.depth))
        return result

    def is_made_outside(self, container) -> bool:
        """Of a list or dict: whether it is not of the innermost loop or branch."""
        return not any(container is made and depth == self.depth for made, depth in self.made)

    def evaluate_JoinedStr(self, node):
        return "".join(str(self.evaluate(part)) for part in node.values)

    def evaluate_FormattedValue(self, node):
        value = self.on_host(self.evaluate(node.value))
        if isinstance(value, NumberArgument):
            raise NeedsValue(value.index)
        if isinstance(value, DeviceValue):
            raise self.error("a value on the device cannot be part of a text: print('x', value) prints each element")
        if node.conversion != -1:
            value = {"s": str, "r": repr, "a": ascii}[chr(node.conversion)](value)
        return format(value, self.evaluate(node.format_spec) if node.format_spec else "")

    def evaluate_Slice(self, node):
        bounds = [None if bound is None else self.evaluate(bound) for bound in (node.lower, node.upper, node.step)]
        begin = bounds[0]
        if isinstance(begin, DeviceValue) and not isinstance(begin, (BlockSize, NumberArgument)) and node.upper and not node.step:
            length = self.length_between(node.lower, node.upper)  # also where the begin is read from memory twice
            if length is not None:
                return _core.SliceFrom(begin.core, length.core if isinstance(length, DeviceValue) else getattr(length, "symbol", length))
        return slice(*bounds)

    def length_between(self, begin: ast.expr, end: ast.expr):
        """n, where `end` is written as `begin + n`."""
        if not (isinstance(end, ast.BinOp) and isinstance(end.op, ast.Add)):
            return None
        for same, length in ((end.left, end.right), (end.right, end.left)):
            if ast.dump(same) == ast.dump(begin):
                value = self.evaluate(length)
                if isinstance(value, NumberArgument):
                    raise NeedsValue(value.index)
                return value if isinstance(value, (int, DeviceValue)) else None
        return None

    def evaluate_NamedExpr(self, node):
        value = self.evaluate(node.value)
        self.bind(node.target.id, value)
        return value

    def evaluate_Lambda(self, node):
        return self.local_function(node, "<lambda>")

    def evaluate_Starred(self, node):
        raise self.error("* belongs into a call, a tuple or a list")

    #
    # Operators
    #

    def evaluate_UnaryOp(self, node):
        return self.unary(type(node.op).__name__, self.evaluate(node.operand))

    def unary(self, name: str, value):
        value = self.on_host(value)
        self.refuse_on_host([value])
        if isinstance(value, (DeviceValue, TensorProxy)):
            return value if name == "UAdd" else self.call(OPERATORS[name], [value])
        return _PYTHON_OPERATORS[name](value)

    def evaluate_BinOp(self, node):
        return self.binary(type(node.op).__name__, self.evaluate(node.left), self.evaluate(node.right))

    def binary(self, name: str, left, right):
        left, right = self.on_host(left), self.on_host(right)
        self.refuse_on_host([left, right])
        tile, other = (left, right) if isinstance(left, TileProxy) else (right, left)
        if isinstance(tile, TileProxy) and name in ("Add", "Sub") and (tile is left or name == "Add"):
            return self.shift(tile, other, back=name == "Sub")
        if is_sequence(left) or is_sequence(right):
            return _PYTHON_OPERATORS[name](left, right)
        if any(isinstance(side, (DeviceValue, TensorProxy, TileProxy)) for side in (left, right)):
            return self.call(OPERATORS[name], [left, right])
        return _PYTHON_OPERATORS[name](left, right)

    def refuse_on_host(self, operands) -> None:
        """Arithmetic of tensors, and of numbers that are not known: Python's work before the loops."""
        if self.depth > 0:
            return
        for operand in operands:
            if isinstance(operand, NumberArgument):
                raise NeedsValue(operand.index)
            if isinstance(operand, (TensorProxy, DeviceValue)):
                raise NotRecordable("arithmetic before the tile loops")

    def evaluate_Compare(self, node):
        left = self.evaluate(node.left)
        result = True
        for op, comparator in zip(node.ops, node.comparators):
            right = self.evaluate(comparator)
            one = self.compare(type(op).__name__, left, right)
            result = one if result is True else self.both(result, one)
            if result is False:
                return False
            left = right
        return result

    def compare(self, name: str, left, right):
        if name in ("Is", "IsNot"):
            return _PYTHON_OPERATORS[name](left, right)
        if name in ("Eq", "NotEq") and (left is None or right is None or isinstance(left, str) or isinstance(right, str)):
            return (left is right or (not is_device(left) and not is_device(right) and left == right)) == (name == "Eq")
        if name in ("In", "NotIn"):
            if is_device(left):
                raise self.unsupported("`in` with a value on the device is not there: compare with == and combine with |")
            return _PYTHON_OPERATORS[name](left, right)
        return self.binary(name, left, right)

    def both(self, left, right):
        """left and right, of which each is a bool or a scalar on the device."""
        if not isinstance(left, DeviceValue):
            return right if left else left
        if not isinstance(right, DeviceValue):
            return left if right else right
        return self.call("logical_and", [left, right])

    def evaluate_BoolOp(self, node):
        is_and = isinstance(node.op, ast.And)
        result = self.evaluate(node.values[0])
        for i, part in enumerate(node.values[1:]):
            if isinstance(result, NumberArgument) and self.depth == 0:
                raise NeedsValue(result.index)
            if isinstance(result, DeviceValue):
                rest = node.values[i + 1:]
                return self.short_circuit(is_and, result, rest, node)
            if isinstance(result, TensorProxy):
                raise self.unsupported("the truth of a tensor in memory: read an element of it first, as in x[i]")
            if bool(result) != is_and:
                return result
            result = self.evaluate(part)
        return result

    def short_circuit(self, is_and: bool, left, rest, node):
        """The right side is only computed where the left one has not decided."""
        if left.core.rank != 0:
            raise self.error("and, or, not are for scalars; for tensors there are & | ~")
        rest = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), rest[0])
        if not any(isinstance(part, (ast.Subscript, ast.Call)) for part in ast.walk(rest)):
            right = self.evaluate(rest)
            if not isinstance(right, DeviceValue):
                return (left if right else right) if is_and else (right if right else left)
            return self.call("logical_and" if is_and else "logical_or", [left, right])
        return self.choose(left, (lambda: self.truth(self.evaluate(rest))) if is_and else (lambda: True),
                           (lambda: False) if is_and else (lambda: self.truth(self.evaluate(rest))))

    def truth(self, value):
        """As a bool, of Python or on the device."""
        if isinstance(value, DeviceValue):
            return value if value.core.dtype == "bool" else self.call("ne", [value, 0])
        return bool(value)

    def choose(self, condition, then, otherwise):
        """One of two values, of which only the chosen one is computed."""
        result = _core.Variable()

        def side(make):
            def run():
                with self.scope():
                    value = make()
                    if isinstance(value, (tuple, list, TileProxy, TensorProxy)) or value is None or isinstance(value, str):
                        raise self.error("both sides of a choice on the device are values or numbers; an if statement chooses "
                                         "between other things")
                    result.assign(self.operand(value), location=self.location)

            return run

        _core.if_(condition.core, side(then), side(otherwise), location=self.location)
        return self.wrap(result.read(location=self.location))

    def evaluate_IfExp(self, node):
        condition = self.on_host(self.evaluate(node.test))
        self.refuse_on_host([condition])
        if isinstance(condition, TensorProxy):
            condition = self.wrap(self.operand(condition))
        if not isinstance(condition, DeviceValue):
            return self.evaluate(node.body if condition else node.orelse)
        if condition.core.rank != 0:
            raise self.error("the condition of a choice is a scalar; torch.where chooses by element")
        sides = (node.body, node.orelse)
        if any(isinstance(part, (ast.Subscript, ast.Call)) for side in sides for part in ast.walk(side)):
            return self.choose(self.truth(condition), lambda: self.evaluate(node.body), lambda: self.evaluate(node.orelse))
        return self.call("where", [self.truth(condition), self.evaluate(node.body), self.evaluate(node.orelse)])

    #
    # Attributes and subscripts
    #

    def evaluate_Attribute(self, node):
        if (made := self.made_view(node)) is not None:
            return made
        return self.attribute(self.evaluate(node.value), node.attr)

    def made_view(self, node):
        """The view that the host has made for this expression."""
        name = self.views.name_of(node) if self.views is not None and not self.callers else None
        return self.frame.names.get(name) if name else None

    def attribute(self, value, name: str):
        if isinstance(value, TileProxy):
            return self.tile_attribute(value, name)
        if isinstance(value, TensorProxy):
            return self.tensor_attribute(value, name)
        if isinstance(value, DeviceValue):
            return self.value_attribute(value, name)
        if isinstance(value, LoopVariables) and not hasattr(tuple, name):
            raise self.error(f"these are {len(value)} tiles; take .{name} of one of them")
        result = getattr(value, name)
        if isinstance(result, torch.Tensor):
            raise self.captured_tensor(name)
        return result

    def value_attribute(self, value, name: str):
        if name in ("T", "mT"):
            rank = value.core.rank
            if name == "T" and rank > 2:
                raise self.error(".T is of matrices; .mT exchanges the last two dimensions")
            return self.call("t", [value]) if rank <= 2 else self.call("transpose", [value], {"dim0": -2, "dim1": -1})
        if name == "dtype":
            return self.dtype_of(value)
        if name == "shape":
            return self.value_shape(value)
        if name in ("ndim", "device"):
            return value.core.rank if name == "ndim" else torch.device("cpu")
        if name in METHODS:
            return Method(value, name)
        raise self.error(in_place_cure(name) or f"a value on the device has no {name}{near_names(name)}")

    def evaluate_Subscript(self, node):
        value = self.evaluate(node.value)
        return self.subscripted(value, self.evaluate(node.slice))

    def subscripted(self, value, index):
        if isinstance(value, TensorProxy):
            if self.depth > 0:
                return self.subscript(value, index)
            if self.reads_bounds and _is_element(index):
                return self.wrap(_core.load_bound(value.core, self.subscripts(index), location=self.location))
            raise NotRecordable("a part of a tensor before the tile loops")
        if isinstance(value, DeviceValue):
            return self.subscript(value, index)
        if isinstance(index, NumberArgument):
            raise NeedsValue(index.index)
        if isinstance(index, DeviceValue):
            raise self.error("a Python sequence is indexed by what is known while the kernel is read; loop over it, or over "
                             "twl.static_range, to have each index on its own")
        result = value[index]
        if isinstance(result, torch.Tensor):
            raise self.captured_tensor("a part of it")
        return result

    #
    # Comprehensions
    #

    def evaluate_ListComp(self, node):
        return self.new_list(self.comprehended(node))

    def evaluate_GeneratorExp(self, node):
        return self.comprehended(node)

    def evaluate_SetComp(self, node):
        return set(self.comprehended(node))

    def evaluate_DictComp(self, node):
        pairs = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        result = dict(self.comprehended(node, pairs))
        self.made.append((result, self.depth))
        return result

    def comprehended(self, node, element=None) -> list:
        element = element or node.elt
        results = []

        def walk(generators):
            if not generators:
                results.append(self.evaluate(element))
                return
            first = generators[0]
            for item in self.iterable(self.evaluate(first.iter)):
                self.bind_target(first.target, item)
                kept = [self.evaluate(condition) for condition in first.ifs]
                if any(isinstance(condition, DeviceValue) for condition in kept):
                    raise self.error("the condition of a comprehension must be known while the kernel is read")
                if all(kept):
                    walk(generators[1:])

        with self.inner_names():
            walk(node.generators)
        return results

    def iterable(self, value):
        """A Python sequence, to be walked over while reading."""
        from .loops import LoopSpec

        if isinstance(value, LoopSpec):
            if not value.is_tile and value.step is not None:
                return value.unrolled(self)
            raise self.error("a loop over tiles is a for statement; a comprehension walks over what is known while the kernel is "
                             "read")
        if isinstance(value, TensorProxy):
            raise self.unsupported("a tensor is not walked over: for i in range(n) and x[i] read its elements")
        if isinstance(value, TileProxy):
            raise self.error("a tile is not walked over: it is read and written as a whole, as in x[tile]")
        return value


def is_sequence(value) -> bool:
    return isinstance(value, (tuple, list, str)) and not isinstance(value, LoopVariables)
