"""The arguments of a call: containers are taken apart, and what is no tensor or number becomes a constant with a key."""

from __future__ import annotations

import dataclasses
import functools
import operator
import threading
import types

import torch

from . import _core
from .errors import Error

_PLAIN = (torch.Tensor, bool, int, float, str, type(None), torch.dtype, torch.device)
_PLAIN_TYPES = frozenset((*_PLAIN, torch.nn.Parameter))


@dataclasses.dataclass
class _Leaf:
    """Of a structure: the place of an argument among the flat ones."""

    index: int

    def __repr__(self):
        return f"{self.index}"


class BoundFunction:
    """A function that holds tensors, which are arguments of the kernel.

    Attributes:
        closure: what it sees by name: its closure, and the tensors of its module.
        defaults: of its parameters, by name.
    """

    def __init__(self, function: types.FunctionType, closure: dict, defaults: dict):
        self.function = function
        self.closure = closure
        self.defaults = defaults

    def __call__(self, *args, **kwargs):
        raise Error(f"function {self.function.__name__}, which holds tensors, is called by other code than the kernel's own")


class _HolderOf:
    """Of a structure: a function, whose parts are what it holds. Equal texts mean equal functions."""

    def __init__(self, function: types.FunctionType):
        self.function = function
        with _lock:
            self.number = _number((types.FunctionType, function.__code__, id(function.__globals__)))

    def __repr__(self):
        return f"function {self.number}"


@functools.lru_cache(maxsize=4096)
def _names_of(code: types.CodeType) -> tuple[str, ...]:
    """Names that the code, and that of functions within, may read of its module."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_names_of(constant))
    return tuple(sorted(names))


def _held(function: types.FunctionType):
    """What a function holds: triples of how, the name, and the value. Of its module, only tensors."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        yield "closure", name, _cell_contents(cell)
    for name in _names_of(code):
        if name not in code.co_freevars and isinstance(value := function.__globals__.get(name), torch.Tensor):
            yield "closure", name, value
    defaults = function.__defaults__ or ()
    for name, value in zip(code.co_varnames[code.co_argcount - len(defaults):], defaults):
        yield "default", name, value
    for name, value in sorted((function.__kwdefaults__ or {}).items()):
        yield "default", name, value


class Structure:
    """How the flat arguments make up the kernel's own."""

    def __init__(self, shape):
        self.shape = shape

    def rebuild(self, flat) -> list:
        return [_rebuilt(part, flat) for part in self.shape]

    def owners(self) -> list[int]:
        """For each flat argument, the place of the one that it is part of."""
        owners: list[int] = []

        def visit(shape, owner):
            if isinstance(shape, _Leaf):
                owners.append(owner)
            else:
                kind, parts = shape
                for part in parts:
                    visit(part if isinstance(kind, type) and issubclass(kind, (tuple, list)) else part[1], owner)

        for owner, shape in enumerate(self.shape):
            visit(shape, owner)
        return owners


def _rebuilt(shape, flat):
    if isinstance(shape, _Leaf):
        return flat[shape.index]
    kind, parts = shape
    if kind is dict:
        return {key: _rebuilt(part, flat) for key, part in parts}
    if isinstance(kind, _HolderOf):
        closure, defaults = ({name: _rebuilt(part, flat) for (how, name), part in parts if how == which}
                             for which in ("closure", "default"))
        return BoundFunction(kind.function, closure, defaults)
    if kind is functools.partial:
        function, args, keywords = (_rebuilt(part, flat) for _, part in parts)
        return functools.partial(function, *args, **keywords)
    if kind in (tuple, list):
        return kind(_rebuilt(part, flat) for part in parts)
    if isinstance(kind, type) and issubclass(kind, tuple):  # a named tuple
        return kind(*(_rebuilt(part, flat) for part in parts))
    copy = object.__new__(kind)
    for name, part in parts:
        object.__setattr__(copy, name, _rebuilt(part, flat))
    return copy


def flatten(values, constants) -> list:
    """Arguments for the core. Those at `constants`, by place among the values, are known by value.

    Where there are containers, the last argument is a Constant of the Structure."""
    flat: list = []
    has_containers = False

    def place(value, constant: bool):
        nonlocal has_containers
        if type(value) in _PLAIN_TYPES and not constant:
            flat.append(value)
        elif isinstance(value, _PLAIN) and not (constant and isinstance(value, (int, float)) and not isinstance(value, bool)):
            flat.append(value)
        elif isinstance(value, types.FunctionType) and _holds_tensors(value):
            has_containers = True
            return (_HolderOf(value), [((how, name), place(content, constant)) for how, name, content in _held(value)])
        elif isinstance(value, functools.partial) and _holds_tensors(value):
            has_containers = True
            return (functools.partial, [(name, place(getattr(value, name), constant)) for name in ("func", "args", "keywords")])
        elif isinstance(value, (tuple, list)):
            has_containers = True
            return (type(value), [place(part, constant) for part in value])
        elif isinstance(value, dict):
            has_containers = True
            return (dict, [(key, place(part, constant)) for key, part in value.items()])
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            has_containers = True
            return (type(value), [(field.name, place(getattr(value, field.name), constant)) for field in dataclasses.fields(value)])
        else:
            flat.append(constant_of(value))
        return _Leaf(len(flat) - 1)

    shape = [place(value, i in constants) for i, value in enumerate(values)]
    if has_containers:
        flat.append(_core.Constant(Structure(shape), key_of(repr(shape))))
    return flat


def _holds_tensors(value) -> bool:
    if isinstance(value, types.FunctionType):
        return any(_holds_tensors(held) for _, _, held in _held(value))
    if isinstance(value, functools.partial):
        return any(map(_holds_tensors, (value.func, value.args, value.keywords)))
    if isinstance(value, (tuple, list)):
        return any(map(_holds_tensors, value))
    if isinstance(value, dict):
        return any(map(_holds_tensors, value.values()))
    return isinstance(value, torch.Tensor)


def _refuse(value) -> None:
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "__array__") and getattr(value, "ndim", 0) > 0:
        raise Error("an argument is a numpy array; torch.from_numpy(array) is the same data as a tensor")


#
# Keys
#

_lock = threading.Lock()
_numbers: dict[object, int] = {}
_kept: list[object] = []  # objects that are known by identity


class _Known:
    """A function that was an argument, with what its key was made of."""

    def __init__(self, function, constant: _core.Constant):
        self.function = function
        self.constant = constant
        self.parts = _parts_of(function)


_known: dict[int, _Known] = {}  # by the function's id
_MOST_KNOWN = 256

# What cannot change under a closure that holds it.
_STEADY = (bool, int, float, str, type(None), torch.dtype, torch.device, types.BuiltinFunctionType, types.ModuleType, type)


def _parts_of(function) -> tuple | None:
    """What a function's key depends on, to be compared by identity; None where more than that counts."""
    if not isinstance(function, types.FunctionType):
        return ()
    parts = [function.__code__, function.__defaults__]
    cells = list(map(_cell_contents, function.__closure__ or ()))
    if function.__kwdefaults__ or not all(isinstance(part, _STEADY) for part in (*cells, *(function.__defaults__ or ()))):
        return None
    return (*parts, *cells)


def constant_of(value) -> _core.Constant:
    """What is neither a tensor nor a number, for the core. Functions that come again and again have theirs at once."""
    if not isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        _refuse(value)
        return _core.Constant(value, key_of(value))
    known = _known.get(id(value))
    if known is not None and known.function is value and known.parts is not None:
        parts = _parts_of(value)
        if parts is not None and len(parts) == len(known.parts) and all(map(operator.is_, parts, known.parts)):
            return known.constant
    constant = _core.Constant(value, key_of(value))
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[id(value)] = _Known(value, constant)
    return constant


def key_of(value) -> bytes:
    """Tells constants apart: equal keys mean that a kernel reads the same. Functions are known by code and closure."""
    with _lock:
        return _number(_comparable(value)).to_bytes(8, "little")


def _number(comparable) -> int:
    return _numbers.setdefault(comparable, len(_numbers))


def _comparable(value):
    if isinstance(value, types.FunctionType):
        cells = tuple(_comparable(_cell_contents(cell)) for cell in value.__closure__ or ())
        defaults = tuple(_comparable(default) for default in value.__defaults__ or ())
        keywords = tuple((name, _comparable(default)) for name, default in sorted((value.__kwdefaults__ or {}).items()))
        # The place tells apart functions of one text in different modules.
        return (types.FunctionType, value.__code__, id(value.__globals__), cells, defaults, keywords)
    if isinstance(value, torch.Tensor):
        return (torch.Tensor, _kept_id(value))
    if isinstance(value, (tuple, list)):
        return (type(value), tuple(_comparable(part) for part in value))
    if isinstance(value, dict):
        return (dict, tuple((key, _comparable(part)) for key, part in value.items()))
    try:
        hash(value)
    except TypeError:
        return (object, _kept_id(value))
    return (type(value), repr(value) if isinstance(value, float) else value)


def _cell_contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _kept_id(value) -> int:
    if not any(value is other for other in _kept):
        _kept.append(value)
    return id(value)
