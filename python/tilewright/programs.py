"""How a call of a kernel runs.

A RecordedProgram is one call of the core: the host part is recorded. Where the host part does what only Python can do, it
is a SplitProgram: what stands before the loops runs as Python, then the core runs the loops on the variables that they
read, then Python runs what stands after them.
"""

from __future__ import annotations

import torch

from . import _core
from .arguments import Structure, flatten, key_of
from .dtypes import torch_dtype
from .errors import KernelError, NeedsView, NotRecordable
from .expressions import UserException
from .host_machine import HostMachine, PendingBlockSize
from .host_program import prefix_function, suffix_function
from .loops import Cell, CellTuple, Pending, Undecided
from .reader import Reader, device_loops, is_device_loop
from .source import FunctionSource, OutsideValues, assigned_names, read_names
from .torch_integration import is_traced, traced_call
from .value_list import ValueList
from .values import DeviceValue, LoopVariables, NumberArgument, RegisteredBlockSize, Size, TensorProxy, TileProxy


class _Unbound:
    """Stands for a variable without a value."""


_UNBOUND = _Unbound()


def _proxies(parameters, count: int, constants):
    """The kernel's arguments as a Reader takes them, from those of the record callback."""
    flat = list(parameters)
    structure = None
    while flat and isinstance(flat[-1], (Structure, _UserKey)):
        last = flat.pop()
        structure = last if isinstance(last, Structure) else structure
    owners = structure.owners() if structure else list(range(len(flat)))
    wrapped = []
    for i, parameter in enumerate(flat):
        if isinstance(parameter, _core.Tensor):
            wrapped.append(TensorProxy(parameter, _like(parameter), i))
        elif isinstance(parameter, _core.Value):
            wrapped.append(NumberArgument(parameter, owners[i], i))
        else:
            wrapped.append(parameter)
    return structure.rebuild(wrapped) if structure else wrapped


class _UserKey:
    """The value of the user's `key=` function."""

    def __init__(self, value):
        self.value = value


def _like(tensor: _core.Tensor) -> torch.Tensor:
    sizes = [size.value for size in tensor.sizes]
    return torch.empty_strided(sizes, tensor.strides, dtype=torch_dtype(tensor.dtype), device="meta")


def _raised(error: Exception) -> Exception:
    """What a user sees of what the reading of a kernel raises."""
    if isinstance(error, KernelError):
        return error.as_error()
    if isinstance(error, UserException):
        return error.error
    return error


class Program:
    """What both kinds have in common.

    Attributes:
        core: the _core.Kernel.
        constants: places of the parameters that are known by value.
        outer_values: what of the modules and closures around is in the recordings.
    """

    def __init__(self, kernel, constants: frozenset[int]):
        self.kernel = kernel
        self.constants = constants
        self.outer_values = OutsideValues()

    def note_outside(self, values: OutsideValues) -> None:
        self.outer_values.update(values)
        if self.outer_values:
            self.kernel.watch_outside()

    def make_core(self, kernel, names, prepare_always: bool) -> _core.Kernel:
        source = kernel.source
        return _core.Kernel(source.name, list(names), self.record, location=_core.Location(source.filename, source.lineno),
                            constants=sorted(self.constants), prepare=self.prepare, prepare_always=prepare_always,
                            triton=kernel.settings.backend == "triton", settings=kernel.settings.core(kernel.only_config))

    def record(self, parameters) -> _core.Recorded:
        try:
            return self.recorded(_proxies(parameters, len(self.names), self.constants))
        except (KernelError, UserException) as error:
            raise _raised(error) from None


class RecordedProgram(Program):
    def __init__(self, kernel, constants: frozenset[int]):
        super().__init__(kernel, constants)
        self.names = list(kernel.signature.parameters)
        self.core = self.make_core(kernel, self.names, prepare_always=kernel.key is not None)
        self.core.autograd = kernel.differentiable
        self.core.dispatched = kernel.dispatched
        self.call = self.core

    def prepare(self, args, kwargs) -> list:
        flat = flatten(self.kernel.values_of(*args, **kwargs), self.constants)
        if self.kernel.key is not None:
            value = self.kernel.key(*args, **kwargs)
            flat.append(_core.Constant(_UserKey(value), key_of(value)))
        return flat

    def bind(self, args, kwargs) -> _core.BoundKernel:
        return self.core.bind(*args, **kwargs)

    def recorded(self, values) -> _core.Recorded:
        source = self.kernel.source
        reader = Reader(source, torch.device(_core.recording_device()).type, views=self.kernel.views)
        result, count = reader.read(dict(zip(self.names, values)), source.body)
        self.note_outside(reader.outside)
        if count < len(source.body):
            return self.with_suffix(reader, source, source.body[count:])
        return _finished(reader, result)

    def with_suffix(self, reader: Reader, source: FunctionSource, statements) -> _core.Recorded:
        """What stands after the loops runs as Python at each call, on what the loops left."""
        wanted = read_names(statements)
        names = {name: _settled(reader, held) for name, held in reader.names_after_loops.items() if name in wanted}
        results: list[TensorProxy] = []
        parts = {name: _part(held, results) for name, held in names.items()}
        parts = {name: part for name, part in parts.items() if part is not None}
        suffix = suffix_function(source, statements, list(parts))

        def finish(tensors, arguments):
            return suffix(**{name: part(tensors, arguments) for name, part in parts.items()})

        return _core.Recorded([proxy.core for proxy in results], finish)


def _settled(reader: Reader, held):
    """Block sizes in it as the numbers that the config says."""
    if isinstance(held, RegisteredBlockSize):
        return reader.host_number(held)
    return type(held)(_settled(reader, part) for part in held) if type(held) in (tuple, list) else held


def _finished(reader: Reader, result) -> _core.Recorded:
    result = _settled(reader, result)
    if result is None:
        return _core.Recorded([], "none")
    if isinstance(result, TensorProxy):
        return _core.Recorded([result.core], "one")
    if type(result) is tuple and result and all(isinstance(part, TensorProxy) for part in result):
        return _core.Recorded([part.core for part in result], "tuple")
    results: list[TensorProxy] = []
    part = _part(result, results)
    if part is None:
        raise NotRecordable("the result")
    return _core.Recorded([proxy.core for proxy in results], part)


def _part(held, results: list[TensorProxy]):
    """A function that gives a variable's value after a launch, from its results and arguments. None for a variable of the
    device, which has none then."""
    if isinstance(held, TensorProxy):
        if held.flat is not None:
            place = held.flat
            return lambda tensors, arguments: arguments[place]
        number = next((i for i, other in enumerate(results) if other is held), len(results))
        if number == len(results):
            results.append(held)
        return lambda tensors, arguments: tensors[number]
    if isinstance(held, NumberArgument):
        place = held.flat
        return lambda tensors, arguments: arguments[place]
    if isinstance(held, Size):
        number = int(held)
        return lambda tensors, arguments: number
    if isinstance(held, (Cell, CellTuple, DeviceValue, TileProxy, LoopVariables, Pending, Undecided, ValueList)):
        return None
    if type(held).__name__ == "LocalFunction":
        raise NotRecordable("a function that is used before and after the loops")
    if type(held) in (tuple, list):
        parts = [_part(part, results) for part in held]
        if any(part is None for part in parts):
            return None
        kind = type(held)
        return lambda tensors, arguments: kind(part(tensors, arguments) for part in parts)
    if type(held) is dict:
        pairs = {key: _part(part, results) for key, part in held.items()}
        if any(part is None for part in pairs.values()):
            return None
        return lambda tensors, arguments: {key: part(tensors, arguments) for key, part in pairs.items()}
    return lambda tensors, arguments: held


class SplitProgram(Program):
    def __init__(self, kernel, constants: frozenset[int]):
        super().__init__(kernel, constants)
        source = kernel.source
        loops = device_loops(source, source.body)
        if not loops:
            raise KernelError.at(source, source.node, f"kernel {source.name} has no tile loop that is a direct statement of it, as "
                                                      f"in for tile in twl.tile(n):").as_error()
        first, last = loops[0], loops[-1]
        before, self.statements, after = source.body[:first], source.body[first:last + 1], source.body[last + 1:]
        before = before + kernel.views.statements()
        self.prefix = prefix_function(source, before)
        read = kernel.views.read_names(self.statements)
        bound = assigned_names(before) | set(kernel.signature.parameters)
        self.names = sorted(read & bound) + sorted(name for name in read - bound if _is_tensor(source, name))
        self.outside = frozenset(self.names) - bound
        everything = sorted(read_names(after) & (bound | assigned_names(self.statements)))
        self.after = after
        self.after_names = everything
        self.suffixes: dict[tuple[str, ...], object] = {}
        self.core = self.make_core(kernel, self.names, prepare_always=False)

    def prepare(self, args, kwargs):
        return args  # flat already

    def values(self, names) -> list:
        values = [self.kernel.source.lookup(name) if name in self.outside else names.get(name, _UNBOUND) for name in self.names]
        return flatten(values, self.constants)

    def call(self, *args, **kwargs):
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        if any(map(is_traced, tensors)):
            return traced_call(self.kernel, args, kwargs)
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            return self.kernel.differentiable(args, kwargs)
        done, names = self.before(args, kwargs)
        if done:
            return names
        self.core(*self.values(names))
        return self.finish(names)

    def before(self, args, kwargs):
        """What stands before the loops: (True, result), or (False, variables by name)."""
        with HostMachine(self.kernel.unrecorded).running():
            return self.prefix(*args, **kwargs)

    def finish(self, names):
        if not self.after:
            return None
        known = tuple(name for name in self.after_names if name in names)
        suffix = self.suffixes.get(known)
        if suffix is None:
            suffix = self.suffixes[known] = suffix_function(self.kernel.source, self.after, known)
        return suffix(**{name: names[name] for name in known})

    def bind(self, args, kwargs) -> _core.BoundKernel:
        done, names = self.before(args, kwargs)
        if done:
            raise KernelError(f"kernel {self.kernel.source.name} returns before its loops for these arguments, so there is nothing "
                              f"to compile").as_error()
        return self.core.bind(*self.values(names))

    def recorded(self, values) -> _core.Recorded:
        reader = Reader(self.kernel.source, may_capture=False, views=self.kernel.views)
        names = {name: value for name, value in zip(self.names, values) if value is not _UNBOUND}
        blocks = sorted((value.number, name) for name, value in names.items() if isinstance(value, PendingBlockSize))
        for _, name in blocks:
            names[name] = reader.register_block(names[name].extent, names[name].least)
        try:
            reader.read(names, self.statements)
        except NeedsView:
            raise
        except NotRecordable as reason:
            raise self.out_of_place(reason).as_error() from None
        self.note_outside(reader.outside)
        return _core.Recorded([], "none")


    def out_of_place(self, reason: NotRecordable) -> KernelError:
        """For what only Python can do, where it would have to run between the programs of one launch."""
        source, statement = self.kernel.source, reason.statement
        if statement is None or not is_device_loop(source, statement):
            return KernelError.at(source, statement or source.node, "only twl.barrier() may stand between two outermost loops; do this "
                                                                    "in one of them, or before the first")
        return KernelError.at(source, statement.iter, f"{reason} has no place in the head of a loop that is not the first outermost "
                                                      f"one; do it before the first")


def _is_tensor(source: FunctionSource, name: str) -> bool:
    try:
        return isinstance(source.lookup(name), torch.Tensor)
    except KeyError:
        return False
