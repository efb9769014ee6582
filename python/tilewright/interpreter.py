"""Runs a kernel on PyTorch, tile by tile: what `interpret=True` and TILEWRIGHT_INTERPRET=1 do.

The function itself runs, so that print, breakpoint() and a debugger work in it. The loops of tilewright.language walk over
tiles one after the other, and PyTorch's own functions compute what is in them. Tiles at the end of a range are as short as
what is left, so that there is nothing past it. An index out of range is an error here.
"""

from __future__ import annotations

import contextlib
import itertools
import traceback

import torch
from torch.overrides import TorchFunctionMode

from ._core import Location
from .errors import Error
from .interpreted_blocks import block_length, completed, is_short, note_result, note_shape
from .interpreted_memory import atomic, load, store
from .interpreted_tile import InterpretedTile, Tiles, number
from .language import LanguageFunction, machine, tunable_choices
from .philox import random_integers, random_normal, random_uniform, random_uniform_4x

_MOST_INDICES = 64  # in a tile whose size nobody says


def interpret(kernel, args, kwargs):
    """A call of the kernel."""
    try:
        with Interpreter(kernel.name, kernel.only_config or {}).running():
            return kernel.fn(*args, **kwargs)
    except Error as error:
        raise (error if error.file else Error(error.message, _line_of(error))) from None


def _line_of(error: Error) -> Location | None:
    """The user's line that an error came from."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if not frame.f_globals.get("__name__", "").startswith(("tilewright.", "torch.")):
            found = Location(frame.f_code.co_filename, line, 0)
    return found


def _lengths(value):
    """Tiles in shapes and the like are as many elements as they have."""
    if isinstance(value, InterpretedTile):
        return len(value)
    if isinstance(value, Tiles):
        return tuple(len(tile) for tile in value)
    if type(value) in (tuple, list):
        flat = []
        for part in value:
            flat.extend(_lengths(part)) if isinstance(part, Tiles) else flat.append(_lengths(part))
        return type(value)(flat)
    return value


# Augmented assignment: a += b is a = a + b, and changes no other name's value. By what PyTorch calls its functions; methods
# like add_() have the same names, which compiling refuses.
_IN_PLACE = {"add_": "__add__", "sub_": "__sub__", "mul_": "__mul__", "div_": "__truediv__", "floor_divide_": "__floordiv__",
             "remainder_": "__mod__", "pow_": "__pow__", "__iand__": "__and__", "__ior__": "__or__", "__ixor__": "__xor__",
             "__ilshift__": "__lshift__", "__irshift__": "__rshift__"}

class Interpreter(TorchFunctionMode):
    """One call of a kernel.

    Attributes:
        depth: how many loops are open; 0 on the host.
    """

    def __init__(self, name: str, config):
        super().__init__()
        self.name = name
        self.depth = 0
        self.config = config
        self.block_sizes = list(config.get("block_sizes", []))
        self.streams: dict[object, int] = {}
        self.blocks: dict[object, int] = {}

    @contextlib.contextmanager
    def running(self):
        outer, machine.current = machine.current, self
        try:
            with torch.no_grad(), self:
                yield
        finally:
            machine.current = outer

    #
    # PyTorch's functions
    #

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if self.depth == 0:
            return function(*_lengths(args), **{key: _lengths(value) for key, value in kwargs.items()})
        if function is torch.Tensor.__getitem__:
            return load(args[0], args[1])
        if function is torch.Tensor.__setitem__:
            return store(args[0], args[1], args[2])
        if name in _IN_PLACE:
            name = _IN_PLACE[name]
            function = getattr(torch.Tensor, name)
        if not is_short(tuple(args)) and not is_short(tuple(kwargs.values())):
            return self.compute(function, name, args, kwargs)
        return note_result(self.compute(function, name, args, kwargs), function, args, kwargs)

    def compute(self, function, name: str, args, kwargs):
        args = _lengths(tuple(args))
        kwargs = {key: _lengths(value) for key, value in kwargs.items()}
        if name in ("addmm", "baddbmm") and args[0].dtype != args[1].dtype:
            acc, a, b = args[:3]
            return acc + a.to(acc.dtype) @ b.to(acc.dtype)
        if name == "where" and len(args) == 3 and not isinstance(args[0], torch.Tensor):
            args = (torch.tensor(bool(args[0])), *args[1:])
        if name in ("sort", "argsort", "topk"):
            return _sorted(name, *args, **kwargs)
        if name == "gather" and args[2].dtype != torch.int64:
            args = (*args[:2], args[2].long(), *args[3:])
        return function(*completed(name, args), **kwargs)

    #
    # The functions of tilewright.language
    #

    def language_call(self, function: LanguageFunction, args, kwargs):
        handler = getattr(self, "language_" + function.name, None)
        if handler is None:
            raise Error(f"twl.{function.name} is not there with interpret=True")
        arguments = function.bind(args, kwargs)
        variadic = next((p.name for p in function.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
        if variadic:
            first = [arguments.pop(p.name) for p in function.signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
            return handler(*first, *arguments.pop(variadic), **arguments)
        return handler(*arguments.values())

    def _block(self, extent: int, given, place) -> int:
        if given is not None:
            return max(int(given), 1)
        if place not in self.blocks and len(self.blocks) < len(self.block_sizes):
            self.blocks[place] = self.block_sizes[len(self.blocks)]
        return self.blocks.get(place, max(min(extent, _MOST_INDICES), 1))

    def language_tile(self, begin, end, block_size):
        if end is None:
            begin, end = None, begin
        single = not isinstance(end, (tuple, list))
        given_ends = [end] if single else list(end)
        given_begins = [0] * len(given_ends) if begin is None else [begin] if single else list(begin)
        begins, ends = ([int(number(bound)) for bound in bounds] for bounds in (given_begins, given_ends))
        blocks = list(block_size) if isinstance(block_size, (tuple, list)) else [block_size] * len(ends)
        ranges = []
        for i, (first, last, given) in enumerate(zip(begins, ends, blocks)):
            block = self._block(last - first, given, (_caller(), i))
            count = max(-(-(last - first) // block), 0)
            outer = [getattr(bound, "bound_of", None) for bound in (given_begins[i], given_ends[i])]
            whole = outer[0].whole if outer[0] is not None and outer[0] is outer[1] else (first, last)
            ranges.append([InterpretedTile(at, min(at + block, last), block, count, whole) for at in range(first, last, block)])
        with self._loop():
            for tiles in itertools.product(*ranges):
                yield tiles[0] if single else Tiles(tiles)

    @contextlib.contextmanager
    def _loop(self):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def language_grid(self, begin, end, step):
        if end is None:
            begin, end = None, begin
        single = not isinstance(end, (tuple, list))
        ends = [end] if single else list(end)
        begins = [0] * len(ends) if begin is None else [begin] if single else list(begin)
        steps = [1 if step is None else step] * len(ends) if not isinstance(step, (tuple, list)) else step
        ranges = [range(int(b), int(e), int(s or 1)) for b, e, s in zip(begins, ends, steps)]
        with self._loop():
            for indices in itertools.product(*ranges):
                values = tuple(torch.tensor(i) for i in indices)
                yield values[0] if single else values

    def language_static_range(self, begin, end, step):
        return range(int(begin)) if end is None else range(int(begin), int(end), int(step))

    def language_barrier(self):
        pass

    def language_register_block_size(self, least, most):
        extent = int(least if most is None else most)
        place = (_caller(), 0)
        if len(self.blocks) < len(self.block_sizes) and place not in self.blocks:
            self.blocks[place] = self.block_sizes[len(self.blocks)]
        floor = 1 if most is None else int(least)
        return max(self.blocks.setdefault(place, min(extent, 256)), floor, 1)

    def language_register_tunable(self, name, choices):
        choices = tunable_choices(name, choices)
        value = self.config.get(name, choices[0])
        if value not in choices:
            raise Error(f"config option {name!r}: found {value}, expected one of {', '.join(map(str, choices))}")
        return value

    def language_register_reduction_dim(self, size):
        return size

    def language_specialize(self, value):
        return value

    def language_zeros(self, shape, dtype, device):
        return self._noted(torch.zeros(_shape(shape), dtype=dtype), shape)

    def _noted(self, value, shape):
        parts = [shape] if isinstance(shape, (InterpretedTile, int)) else shape
        flat = [part for one in parts for part in (one if isinstance(one, Tiles) else (one,))]
        return note_shape(value, [block_length(part) if isinstance(part, InterpretedTile) else int(part) for part in flat])

    def language_full(self, shape, value, dtype, device):
        number_of_all = value.item() if isinstance(value, torch.Tensor) else value
        return self._noted(torch.full(_shape(shape), number_of_all, dtype=dtype), shape)

    def language_arange(self, *bounds, dtype, device, step):
        bounds = [int(number(bound)) for bound in bounds]
        if len(bounds) < 3 and step != 1:
            bounds = [0, *bounds][-2:] + [step]
        return torch.arange(*bounds, dtype=dtype or torch.int64)

    def language_load(self, tensor, index, extra_mask, eviction_policy):
        return load(tensor, tuple(index) if isinstance(index, list) else index, extra_mask)

    def language_store(self, tensor, index, value, extra_mask, eviction_policy):
        store(tensor, tuple(index) if isinstance(index, list) else index, value, extra_mask)

    def language_subscript(self, tensor, index):
        return tensor[tuple(index) if isinstance(index, list) else index]

    def language_dot(self, a, b, acc, out_dtype):
        wide = {torch.float64: torch.float64, torch.int8: torch.int32, torch.uint8: torch.int32}.get(a.dtype, torch.float32)
        product = torch.matmul(a.to(wide), b.to(wide))
        result = product if acc is None else (acc + product).to(acc.dtype)
        return result if out_dtype is None else result.to(out_dtype)

    def language_reduce(self, combine_fn, values, dim, other, keep_dims):
        packed = isinstance(values, (tuple, list))
        parts = list(values) if packed else [values]
        if dim is None:
            parts, dim, shape = [part.reshape(-1) for part in parts], 0, [1] * parts[0].ndim
        else:
            shape = None
        slices = [part.unbind(dim) for part in parts]
        if not slices[0]:
            others = other if isinstance(other, (tuple, list)) else [other] * len(parts)
            total = tuple(torch.full_like(part.sum(dim), o) for part, o in zip(parts, others))
        else:
            total = tuple(part[0] for part in slices)
            for row in zip(*(part[1:] for part in slices)):
                total = _combined(combine_fn, total, row, packed)
        if keep_dims:
            total = tuple(part.reshape(shape) if shape else part.unsqueeze(dim) for part in total)
        total = tuple(result.to(part.dtype) for result, part in zip(total, parts))
        return total if packed else total[0]

    def language_associative_scan(self, combine_fn, values, dim, reverse):
        packed = isinstance(values, (tuple, list))
        parts = [part.flip(dim) if reverse else part for part in (values if packed else [values])]
        rows = list(zip(*(part.unbind(dim) for part in parts)))
        totals = rows[:1]
        for row in rows[1:]:
            totals.append(_combined(combine_fn, totals[-1], row, packed))
        results = [torch.stack([total[i] for total in totals], dim).to(part.dtype) if totals else part for i, part in enumerate(parts)]
        results = tuple(result.flip(dim) if reverse else result for result in results)
        return results if packed else results[0]

    def language_cumsum(self, x, dim, reverse):
        return x.flip(dim).cumsum(dim).flip(dim) if reverse else x.cumsum(dim)

    def language_cumprod(self, x, dim, reverse):
        return x.flip(dim).cumprod(dim).flip(dim) if reverse else x.cumprod(dim)

    def language_join(self, a, b):
        return torch.stack(torch.broadcast_tensors(a, b), -1)

    def language_split(self, tensor):
        return tensor.unbind(-1)

    def language_device_print(self, prefix, *values):
        print(prefix, *values)

    #
    # Random numbers
    #

    def _stream(self) -> int:
        return self.streams.setdefault(_caller(), len(self.streams))

    def language_rand(self, shape, seed, device):
        return random_uniform(shape, number(seed), self._stream())

    def language_randn(self, shape, seed, device):
        return random_normal(shape, number(seed), self._stream())

    def language_randint(self, shape, low, high, seed, device):
        return random_integers(shape, int(low), int(high), number(seed), self._stream())

    def language_rand4x(self, shape, seed, device):
        return random_uniform_4x(shape, number(seed), self._stream())


for _name in ("add", "and", "or", "xor", "xchg", "max", "min"):
    setattr(Interpreter, f"language_atomic_{_name}",
            lambda self, target, index, value, sem, name=_name: atomic(name, target, index, value))
Interpreter.language_atomic_cas = lambda self, target, index, expected, value, sem: atomic("cas", target, index, value, expected)
for _name in ("index", "begin", "end", "id", "count", "block_size"):
    setattr(Interpreter, f"language_tile_{_name}", lambda self, tile, name=_name: getattr(tile, name))


def _combined(function, left, right, packed: bool):
    if not packed:
        return (function(left[0], right[0]),)
    try:
        return tuple(function(left, right))
    except TypeError:
        return tuple(function(*left, *right))


def _shape(shape) -> list[int]:
    return [int(size) for size in _lengths(list(shape) if isinstance(shape, (tuple, list)) else [shape])]


def _sorted(name: str, x: torch.Tensor, *args, **kwargs):
    """Equal elements keep their order, and of those that topk chooses from it takes the first."""
    with torch._C.DisableTorchFunction():
        if name != "topk":
            if args and isinstance(args[0], bool):  # sort(x, stable, dim, ...)
                args = args[1:]
            kwargs["stable"] = True
            return getattr(torch, name)(x, **dict(zip(("dim", "descending"), args)), **kwargs)
        options = {"dim": -1, "largest": True, **dict(zip(("k", "dim", "largest"), args)), **kwargs}
        values, places = torch.sort(x, dim=options["dim"], descending=options["largest"], stable=True)
        first = [part.narrow(options["dim"], 0, int(options["k"])) for part in (values, places)]
        return torch.return_types.topk(first)


def _caller():
    """The line of the user's kernel that is running, in and out of generators."""
    import sys

    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tilewright."):
        frame = frame.f_back
    return (frame.f_code, frame.f_lasti) if frame else None
