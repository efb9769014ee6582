"""Calls: operations of the device, functions that are read in place, and plain Python."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import operator
import types

import torch

from .arguments import BoundFunction
from .device_functions import CREATIONS, FUNCTIONS, METHODS, in_place_cure, near_names, public_name
from .errors import KernelError, NotRecordable
from .expressions import Method, is_device
from .host_values import HOST_FUNCTIONS, is_pure
from .language import LanguageFunction
from .loops import Return
from .source import FunctionSource, assigned_names, source_of
from .torch_integration import Traceable
from .values import BlockSize, DeviceValue, NeedsValue, NumberArgument, RegisteredBlockSize, TensorProxy, TileProxy

_MOST_CALLS = 64  # within one another

# Modules whose functions are called, not read.
_FOREIGN = ("tilewright", "torch", "math", "operator", "functools", "itertools", "numpy", "dataclasses", "collections", "typing")


class Frame:
    """A function while it is read: its names, and what else it sees."""

    def __init__(self, source: FunctionSource, outer: Frame | None = None):
        self.source = source
        self.names: dict[str, object] = {}
        self.outer = outer  # of a function defined in another
        self.global_names: set[str] = set()


class LocalFunction:
    """A function or lambda that a kernel defines."""

    def __init__(self, reader, frame: Frame, node, name: str, defaults: inspect.Signature):
        self.reader = reader
        self.frame = frame
        self.node = node
        self.__name__ = name
        self.signature = defaults

    def __call__(self, *args, **kwargs):
        return self.reader.call_local(self, args, kwargs)


class Calls:
    """A part of the Reader."""

    #
    # Names
    #

    def load_name(self, name: str):
        frame = self.frame
        while frame is not None:
            if name in frame.names:
                return self.loaded(frame.names[name], name)
            last, frame = frame, frame.outer
        try:
            value = last.source.lookup(name)
        except KeyError:
            if name in assigned_names(self.frame.source.body):
                raise self.error(f"{name} is read before it has a value") from None
            raise self.error(f"there is no {name}") from None
        if isinstance(value, torch.Tensor):
            raise self.captured_tensor(name)
        self.outside.note(last.source, name, value)
        return value

    def captured_tensor(self, name: str) -> Exception:
        if self.may_capture:
            return NotRecordable(f"the tensor {name} from outside of the kernel")
        return self.error(f"{name} is a tensor from outside of the kernel; give it a name of its own before the loops, as in w = "
                          f"module.weight, or pass it as an argument")

    @contextlib.contextmanager
    def inner_names(self):
        """Names of a comprehension, which are its own."""
        outer = self.frame
        self.frame = Frame(outer.source, outer)
        self.frame.global_names = outer.global_names
        try:
            yield
        finally:
            self.frame = outer

    #
    # Calls
    #

    def evaluate_Call(self, node: ast.Call):
        if (made := self.made_view(node)) is not None:
            return made
        function = self.evaluate(node.func)
        args = self.elements(node.args)
        kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                kwargs.update(self.evaluate(keyword.value))
            else:
                kwargs[keyword.arg] = self.evaluate(keyword.value)
        return self.apply(function, args, kwargs)

    def apply(self, function, args, kwargs):
        if isinstance(function, Method):
            return self.call_method(function, args, kwargs)
        if isinstance(function, LanguageFunction):
            return self.language_call(function, args, kwargs)
        if isinstance(function, LocalFunction):
            return self.call_local(function, args, kwargs)
        if isinstance(function, BoundFunction):
            return self.inline(function.function, args, kwargs, function.closure, function.defaults)
        if isinstance(function, functools.partial):
            return self.apply(function.func, [*function.args, *args], {**function.keywords, **kwargs})
        if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
            return self.apply(function.__func__, [function.__self__, *args], kwargs)
        try:
            hash(function)
        except TypeError:
            pass
        else:
            own = self.own_call(function, args, kwargs)
            if own is not NotImplemented:
                return own
        if isinstance(function, Traceable):
            if self.depth == 0:
                raise NotRecordable("a call of another kernel")
            raise self.error("a kernel is called by the host; what two kernels share on the device is a plain function")
        if isinstance(function, torch.nn.Module) and self.depth > 0:
            return self.inline(type(function).forward, [function, *args], kwargs)
        if isinstance(function, types.FunctionType) and not _is_foreign(function):
            return self.inline(function, args, kwargs)
        if self.depth == 0:
            return self.host_call(function, args, kwargs)
        if is_device(args) or is_device(kwargs):
            self.refuse_foreign(function)
        if isinstance(getattr(type(function), "__call__", None), types.FunctionType) and not isinstance(function, type):
            return self.apply(type(function).__call__, [function, *args], kwargs)
        return self.python_call(function, args, kwargs)

    def own_call(self, function, args, kwargs):
        """Functions with a meaning of their own in kernels; NotImplemented for others."""
        if function in PYTHON_FUNCTIONS:
            return PYTHON_FUNCTIONS[function](self, *args, **kwargs)
        if self.depth == 0:
            if function in HOST_FUNCTIONS:
                return HOST_FUNCTIONS[function](self, *args, **kwargs)
            return NotImplemented
        if function in FUNCTIONS and (function in CREATIONS or is_device(args) or is_device(kwargs)):
            return self.device_function(FUNCTIONS[function], getattr(function, "__name__", str(function)), args, kwargs)
        return NotImplemented

    def device_function(self, function, name: str, args, kwargs):
        kwargs = {key: value for key, value in kwargs.items() if key != "out" or value is not None}
        if "out" in kwargs:
            raise self.error(f"{name} has no out= here: assign its result")
        try:
            return function(self, *args, **kwargs)
        except TypeError as error:
            message = str(error)
            if "argument" not in message:
                raise
            raise self.error(f"{name}: {_without_self(message)}") from None

    def call_method(self, method: Method, args, kwargs):
        if isinstance(method.value, TensorProxy):
            return self.tensor_method(method.value, method.name, args, kwargs)
        return self.device_function(METHODS[method.name], method.name, [method.value, *args], kwargs)

    def refuse_foreign(self, function):
        name = getattr(function, "__name__", repr(function))
        if isinstance(function, type) or function in (functools.reduce, map, filter, sorted, reversed, sum, any, all):
            return
        module = getattr(function, "__module__", None) or ""
        if module.startswith(("torch", "math", "numpy")) or isinstance(function, type(torch.exp)) and hasattr(torch, name):
            cure = in_place_cure(name) or f"docs/operations.md lists what there is{near_names(name)}"
            raise self.error(f"{public_name(function)} is not there for values on the device; {cure}")

    def python_call(self, function, args, kwargs):
        for value in [*args, *kwargs.values()]:
            if isinstance(value, NumberArgument):
                raise NeedsValue(value.index)
        return function(*args, **kwargs)

    def host_call(self, function, args, kwargs):
        """Before or after the loops: what gives the same at each call of this specialisation is done now."""
        args, kwargs = self.on_host(list(args)), {key: self.on_host(value) for key, value in kwargs.items()}
        for value in [*args, *kwargs.values()]:
            if isinstance(value, NumberArgument):
                raise NeedsValue(value.index)
            if is_device(value):
                raise NotRecordable("PyTorch's work on a tensor")
        if not is_pure(function):
            raise NotRecordable(f"a call of {getattr(function, '__name__', function)}")
        return function(*args, **kwargs)

    #
    # Functions that are read in place
    #

    def inline(self, function: types.FunctionType, args, kwargs, closure=None, defaults=None):
        try:
            source = source_of(function, "function")
        except Exception:
            if self.depth == 0 and not is_device(args):
                raise NotRecordable("a function without source") from None
            if not is_device(args) and not is_device(kwargs):
                return self.python_call(function, args, kwargs)
            raise
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise self.error(f"{function.__name__}: {error}") from None
        for name, default in (defaults or {}).items():
            bound.arguments.setdefault(name, default)
        bound.apply_defaults()
        outer = None
        if closure:
            outer = Frame(source)
            outer.names.update(closure)
        return self.run_body(Frame(source, outer), bound.arguments, function.__name__)

    def local_function(self, node, name: str) -> LocalFunction:
        arguments = node.args
        kinds = inspect.Parameter
        positional = arguments.posonlyargs + arguments.args
        defaults = [kinds.empty] * (len(positional) - len(arguments.defaults)) + [self.evaluate(d) for d in arguments.defaults]
        parameters = [kinds(a.arg, kinds.POSITIONAL_OR_KEYWORD, default=d) for a, d in zip(positional, defaults)]
        if arguments.vararg:
            parameters.append(kinds(arguments.vararg.arg, kinds.VAR_POSITIONAL))
        parameters += [kinds(a.arg, kinds.KEYWORD_ONLY, default=kinds.empty if d is None else self.evaluate(d))
                       for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        if arguments.kwarg:
            parameters.append(kinds(arguments.kwarg.arg, kinds.VAR_KEYWORD))
        return LocalFunction(self, self.frame, node, name, inspect.Signature(parameters))

    def call_local(self, function: LocalFunction, args, kwargs):
        try:
            bound = function.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self.error(f"{function.__name__}: {error}") from None
        bound.apply_defaults()
        source = LocalSource(function.frame.source, function.node, function.__name__)
        return self.run_body(Frame(source, function.frame), bound.arguments, function.__name__)

    def run_body(self, frame: Frame, arguments: dict, name: str):
        if len(self.callers) >= _MOST_CALLS:
            raise self.error(f"{name} calls itself without an end that is known while the kernel is read; a loop may do the same")
        outer, node = self.frame, self.node
        caller = (outer.source.filename, getattr(node, "lineno", 0), outer.source.name)
        self.callers.append(caller)
        self.frame = frame
        frame.global_names = {n for part in ast.walk(frame.source.node) if isinstance(part, (ast.Global, ast.Nonlocal))
                              for n in part.names}
        try:
            with self.at(frame.source.node if not isinstance(frame.source.node, ast.Lambda) else frame.source.node.body):
                for parameter, value in arguments.items():
                    frame.names[parameter] = self.stored(None, value)
            self.execute(frame.source.body)
            result = None
        except Return as returned:
            result = returned.value
        except KernelError as error:
            error.callers.append((caller[0], caller[1], caller[2]))
            raise
        finally:
            self.frame, self.node = outer, node
            self.callers.pop()
        return result


class LocalSource(FunctionSource):
    """Of a function that is defined in another one."""

    def __init__(self, outer: FunctionSource, node, name: str):
        self.function = outer.function
        self.node = node
        self.name = name
        self.filename = outer.filename
        self.lineno = node.lineno
        self.lookup = outer.lookup


def _is_foreign(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in _FOREIGN


def _without_self(message: str) -> str:
    """Of Python's message about a call, what a user knows of."""
    message = message.partition("() ")[2] or message
    return message.replace("missing a required argument", "needs").replace(" 'reader'", "")


#
# Python's functions that have a meaning of their own in kernels
#


def _print(reader, *values, sep=" ", end="\n", file=None, flush=False):
    if reader.depth == 0:
        raise NotRecordable("print")
    reader.device_print(values, sep)


def _len(reader, value):
    if isinstance(value, (TensorProxy, DeviceValue)):
        shape = reader.value_shape(value)
        if not shape:
            raise reader.error("a scalar has no len()")
        return shape[0]
    if isinstance(value, TileProxy):
        return reader.tile_attribute(value, "block_size")
    return len(value)


def _isinstance(reader, value, types_):
    if isinstance(value, (TensorProxy, DeviceValue)) and not isinstance(value, (NumberArgument, BlockSize)):
        return torch.Tensor in (types_ if isinstance(types_, tuple) else (types_,))
    if isinstance(value, RegisteredBlockSize):
        return issubclass(int, types_)
    if isinstance(value, NumberArgument):
        number = float if value.core.dtype.startswith("float") else int
        return issubclass(number, types_)
    return isinstance(value, types_)


def _is_tensor(reader, value):
    return _isinstance(reader, value, torch.Tensor)


_MISSING = object()


def _getattr(reader, value, name, default=_MISSING):
    try:
        return reader.attribute(value, name)
    except (AttributeError, KernelError):
        if default is _MISSING:
            raise
        return default


def _hasattr(reader, value, name):
    return _getattr(reader, value, name, None) is not None if is_device(value) else hasattr(value, name)


def _sum(reader, values, start=0):
    return functools.reduce(lambda a, b: reader.binary("Add", a, b), reader.iterable(values), start)


def _range(reader, *bounds):
    for bound in bounds:
        if isinstance(bound, NumberArgument):
            raise NeedsValue(bound.index)
        if isinstance(bound, DeviceValue) and not isinstance(bound, RegisteredBlockSize):
            raise reader.error("the bounds of a range that is no for statement's must be known while the kernel is read")
    return range(*map(int, bounds))


def _iterating(function):
    def call(reader, *iterables, **kwargs):
        return function(*(reader.iterable(i) for i in iterables), **kwargs)

    return call


def _super(reader, *args):
    raise reader.unsupported("super() is not there in kernels")


def _breakpoint(reader, *args, **kwargs):
    raise reader.error("breakpoint() stops a kernel that runs on PyTorch: set TILEWRIGHT_INTERPRET=1, or @tw.kernel(interpret=True)")


def _list(reader, values=()):
    return reader.new_list(reader.iterable(values))


PYTHON_FUNCTIONS = {
    builtins.print: _print,
    builtins.list: _list,
    builtins.len: _len,
    builtins.isinstance: _isinstance,
    torch.is_tensor: _is_tensor,
    builtins.getattr: _getattr,
    builtins.hasattr: _hasattr,
    builtins.sum: _sum,
    builtins.range: _range,
    builtins.zip: _iterating(zip),
    builtins.breakpoint: _breakpoint,
    builtins.super: _super,
}
for _function in (builtins.enumerate, builtins.reversed, builtins.tuple):
    PYTHON_FUNCTIONS[_function] = (
        lambda function: lambda reader, *args, **kwargs:
        function(*([reader.iterable(args[0]), *args[1:]] if args else []), **kwargs))(_function)

for _operator, _name in ((operator.add, "Add"), (operator.sub, "Sub"), (operator.mul, "Mult"), (operator.truediv, "Div"),
                         (operator.floordiv, "FloorDiv"), (operator.mod, "Mod"), (operator.and_, "BitAnd"),
                         (operator.or_, "BitOr"), (operator.xor, "BitXor"), (operator.lt, "Lt"), (operator.le, "LtE"),
                         (operator.gt, "Gt"), (operator.ge, "GtE"), (operator.eq, "Eq"), (operator.ne, "NotEq"),
                         (operator.pow, "Pow")):
    PYTHON_FUNCTIONS[_operator] = (lambda name: lambda reader, a, b: reader.binary(name, a, b))(_name)
