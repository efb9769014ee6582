"""The functions of tilewright.language, as a kernel that is read calls them."""

from __future__ import annotations

import dataclasses

from . import _core
from .dtypes import core_dtype
from .errors import NotRecordable
from .language import LanguageFunction, tunable_choices
from .loops import LoopSpec
from .values import (BlockSize, DeviceValue, LoopVariables, NeedsValue, NumberArgument, RegisteredBlockSize, Size, TensorProxy,
                     TileProxy)

_HOST = frozenset(("register_block_size", "register_tunable", "register_reduction_dim"))
_EVERYWHERE = frozenset(("tile", "grid", "static_range", "jagged_tile", "specialize", "barrier"))
_TILE_NUMBERS = {"index": _core.tile_index, "begin": _core.tile_begin, "end": _core.tile_end, "id": _core.tile_id,
                 "count": _core.tile_count, "block_size": _core.tile_block_size}


class LanguageCalls:
    """A part of the Reader."""

    def language_call(self, function: LanguageFunction, args, kwargs):
        name = function.name
        try:
            arguments = function.bind(args, kwargs)
        except TypeError as error:
            raise self.error(f"twl.{name}: {error}") from None
        if self.depth == 0 and name not in _HOST and name not in _EVERYWHERE:
            raise self.error(f"twl.{name} is work on the device: it belongs into a tile loop, as in for tile in twl.tile(n):")
        if self.depth > 0 and name in _HOST:
            raise self.error(f"twl.{name} belongs before the tile loops")
        handler = getattr(self, "language_" + name, None)
        if handler is None:
            raise self.error(f"twl.{name} is not there: {function.__doc__.partition('; ')[2].strip().rstrip('.') or 'use another way'}")
        variadic = next((p.name for p in function.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
        if variadic:
            values = arguments.pop(variadic)
            first = [arguments.pop(p.name) for p in function.signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
            return handler(*first, *values, **arguments)
        return handler(*arguments.values())

    #
    # Loops
    #

    def language_tile(self, begin_or_end, end_or_none, block_size):
        return self.loop_spec(begin_or_end, end_or_none, block_size, is_tile=True)

    def language_grid(self, begin_or_end, end_or_none, step):
        if isinstance(step, (list, tuple)):
            if any(one not in (None, 1) for one in step):
                raise self.error("twl.grid over several dimensions has no steps; multiply the index in the loop")
            step = None
        spec = self.loop_spec(begin_or_end, end_or_none, None, is_tile=False)
        if spec.is_scalar:
            return spec
        spec.step = None if step is None else self.static_int(step, "the step of twl.grid")
        if spec.step is not None and (spec.step == 0 or len(spec.end) > 1 and spec.step != 1):
            raise self.error("the step of twl.grid is not 0, and there is none over several dimensions")
        return spec

    def loop_spec(self, begin, end, block_size, is_tile: bool) -> LoopSpec:
        if end is None:
            begin, end = None, begin
        single = not isinstance(end, (tuple, list))
        ends = [end] if single else list(end)
        begins = None if begin is None else [begin] if single and not isinstance(begin, (tuple, list)) else list(begin)
        if begins is not None and len(begins) != len(ends):
            raise self.error(f"the loop has {len(begins)} begins and {len(ends)} ends")
        if not ends:  # of a tensor of rank 0: one pass
            return LoopSpec(None, [1], is_tile=False, single=False, is_scalar=True)
        blocks = None
        if block_size is not None:
            if isinstance(block_size, (tuple, list)):
                blocks = list(block_size)
                if len(blocks) != len(ends):
                    raise self.error(f"{len(blocks)} block sizes for a loop over {len(ends)} dimensions")
            else:
                blocks = [block_size] * len(ends)
            blocks = [block.core_block() if hasattr(block, "core_block") else block for block in blocks]
        return LoopSpec(begins, ends, blocks, is_tile, single)

    def language_jagged_tile(self, lengths, block_size):
        if self.depth == 0:
            raise self.error("twl.jagged_tile goes into the loop over the rows, whose lengths it takes: for t in "
                             "twl.jagged_tile(lengths[tile])")
        if isinstance(lengths, Size) or not isinstance(lengths, DeviceValue):
            raise self.error("twl.jagged_tile takes the lengths of the rows as a value, as in twl.jagged_tile(lengths[tile])")
        return dataclasses.replace(self.loop_spec(0, None, block_size, is_tile=True), begin=None, end=[], lengths=lengths)

    def language_static_range(self, begin_or_end, end_or_none, step):
        if end_or_none is None:
            begin_or_end, end_or_none = 0, begin_or_end
        bounds = [self.static_int(bound, "a bound of twl.static_range") for bound in (begin_or_end, end_or_none, step)]
        return range(*map(int, bounds))

    def language_barrier(self):
        _core.barrier(location=self.location)

    #
    # Options
    #

    def language_register_block_size(self, min_or_max, max_or_none):
        if max_or_none is None:
            extent, least = min_or_max, None
        else:
            extent, least = max_or_none, self.static_int(min_or_max, "the least block size")
        return self.register_block(self.static_int(extent, "the extent of twl.register_block_size"), least)

    def register_block(self, extent: int, least: int | None) -> RegisteredBlockSize:
        symbol = extent.symbol if isinstance(extent, Size) else extent
        return RegisteredBlockSize(_core.register_block_size(symbol, least, location=self.location))

    def language_register_tunable(self, name, choices):
        return _core.register_tunable(name, tunable_choices(name, choices), location=self.location)

    def language_register_reduction_dim(self, size):
        return self.static_int(size, "a reduction dimension")

    def language_specialize(self, value):
        if isinstance(value, NumberArgument):
            raise NeedsValue(value.index)
        if isinstance(value, (tuple, list)):
            return type(value)(self.language_specialize(part) for part in value)
        if isinstance(value, DeviceValue):
            raise self.error("twl.specialize is of sizes and arguments, which are known before the kernel runs")
        return int(value) if isinstance(value, Size) else value

    #
    # New values
    #

    def language_zeros(self, shape, dtype, device):
        return self.call("zeros", [], {"shape": self.shape(shape), "dtype": core_dtype(dtype)})

    def language_full(self, shape, value, dtype, device):
        return self.call("full", [value], {"shape": self.shape(shape), "dtype": core_dtype(dtype)})

    def language_arange(self, *bounds, dtype, device, step):
        bounds = list(bounds)
        if len(bounds) == 3:
            step = bounds.pop()
        return self.arange(bounds, step, dtype)

    def language_rand(self, shape, seed, device):
        return self.call("rand", [seed], {"shape": self.shape(shape)})

    def language_randn(self, shape, seed, device):
        return self.call("randn", [seed], {"shape": self.shape(shape)})

    def language_rand4x(self, shape, seed, device):
        return self.call("rand4x", [seed], {"shape": self.shape(shape)})

    def language_randint(self, shape, low, high, seed, device):
        low, high = (self.static_int(bound, "a bound of twl.randint") for bound in (low, high))
        return self.call("randint", [seed], {"low": low, "high": high, "shape": self.shape(shape), "dtype": "int32"})

    #
    # Memory
    #

    def in_memory(self, tensor, what: str) -> TensorProxy:
        if not isinstance(tensor, TensorProxy):
            raise self.error(f"twl.{what} works on a tensor in memory")
        return tensor

    def language_load(self, tensor, index, extra_mask, eviction_policy):
        if isinstance(tensor, (tuple, list)):
            raise self.error("twl.load of several tensors at once is not there: loop over them")
        tensor = self.in_memory(tensor, "load")
        mask = None if extra_mask is None else self.operand(extra_mask)
        return self.wrap(_core.load(tensor.core, self.subscripts(index, tensor), mask, self.policy(eviction_policy), location=self.location))

    def language_store(self, tensor, index, value, extra_mask, eviction_policy):
        tensor = self.in_memory(tensor, "store")
        self.note_store(tensor)
        mask = None if extra_mask is None else self.operand(extra_mask)
        _core.store(tensor.core, self.subscripts(index, tensor), self.operand(value), mask, self.policy(eviction_policy),
                    location=self.location)

    def policy(self, eviction_policy) -> str:
        return {None: "", "evict_first": "first", "evict_last": "last"}.get(eviction_policy, eviction_policy)

    def language_subscript(self, tensor, index):
        return self.subscripted(tensor, tuple(index) if isinstance(index, list) else index)

    def atomic(self, name, target, index, values, sem):
        target = self.in_memory(target, name)
        self.note_store(target)
        return self.wrap(_core.atomic(name, target.core, self.subscripts(index, target), [self.operand(value) for value in values], sem,
                                      location=self.location))

    def language_atomic_cas(self, target, index, expected, value, sem):
        return self.atomic("atomic_cas", target, index, [expected, value], sem)

    #
    # Operations
    #

    def language_dot(self, a, b, acc, out_dtype):
        result = self.call("dot", [a, b] if acc is None else [a, b, acc])
        return result if out_dtype is None else self.call("to", [result], {"dtype": core_dtype(out_dtype)})

    def combined(self, function, values):
        """A combiner for the core, of the user's function of two scalars, two tuples, or all their scalars."""

        def combiner(*scalars):
            count = len(scalars) // 2
            scalars = [self.wrap(scalar) for scalar in scalars]
            with self.scope():
                if count == 1:
                    result = self.apply(function, scalars, {})
                elif self.takes(function, 2 * count) and not self.takes(function, 2):
                    result = self.apply(function, scalars, {})
                else:
                    result = self.apply(function, [tuple(scalars[:count]), tuple(scalars[count:])], {})
                results = list(result) if isinstance(result, (tuple, list)) else [result]
                if len(results) != count:
                    raise self.error(f"the function combines {count} values and gives {len(results)}")
                return [self.operand(one) for one in results]

        return combiner

    def takes(self, function, count: int) -> bool:
        import inspect

        signature = getattr(function, "signature", None)
        try:
            signature = signature or inspect.signature(function)
            signature.bind(*[None] * count)
        except (TypeError, ValueError):
            return False
        return True

    def language_reduce(self, combine_fn, input_tensor, dim, other, keep_dims):
        values, packed = self.several(input_tensor)
        others = list(other) if isinstance(other, (tuple, list)) else [other] * len(values)
        dims = [] if dim is None else [self.static_int(d, "a dimension") for d in (dim if isinstance(dim, (tuple, list)) else [dim])]
        results = _core.reduce(self.combined(combine_fn, values), values, dims, [self.operand(o) for o in others], keep_dims,
                               location=self.location)
        results = [self.wrap(result) for result in results]
        return tuple(results) if packed else results[0]

    def language_associative_scan(self, combine_fn, input_tensor, dim, reverse):
        values, packed = self.several(input_tensor)
        results = _core.associative_scan(self.combined(combine_fn, values), values, self.static_int(dim, "a dimension"), reverse,
                                         location=self.location)
        results = [self.wrap(result) for result in results]
        return tuple(results) if packed else results[0]

    def several(self, values):
        packed = isinstance(values, (tuple, list))
        return [self.operand(value) for value in (values if packed else [values])], packed

    def scan(self, name, input_tensor, dim, reverse):
        dim = self.static_int(dim, "a dimension")
        if not reverse:
            return self.call(name, [input_tensor], {"dim": dim})
        combine = {"cumsum": "Add", "cumprod": "Mult"}[name]
        scanned = _core.associative_scan(lambda a, b: [self.binary(combine, self.wrap(a), self.wrap(b)).core],
                                         [self.operand(input_tensor)], dim, True, location=self.location)
        return self.wrap(scanned[0])

    def language_cumsum(self, input_tensor, dim, reverse):
        return self.scan("cumsum", input_tensor, dim, reverse)

    def language_cumprod(self, input_tensor, dim, reverse):
        return self.scan("cumprod", input_tensor, dim, reverse)

    def language_join(self, a, b):
        return self.call("join", [a, b])

    def language_split(self, tensor):
        return tuple(self.call("split", [tensor]))

    def language_device_print(self, prefix, *values):
        self.device_print((prefix, *values), " ")

    def device_print(self, values, separator: str) -> None:
        """One line for each element of each value, behind the text before it."""
        text: list[str] = []
        printed = False
        for value in values:
            if isinstance(value, (DeviceValue, TensorProxy)):
                _core.print_line(separator.join(text), self.operand(value), location=self.location)
                text, printed = [], True
            elif isinstance(value, (TileProxy, LoopVariables)):
                raise self.error("a tile is no value; tile.index, tile.begin and tile.end can be printed")
            else:
                text.append(str(value))
        if text or not printed:
            _core.print_line(separator.join(text), location=self.location)

    #
    # Tiles
    #

    def tile_attribute(self, tile: TileProxy, name: str):
        if name not in _TILE_NUMBERS:
            raise self.error(f"a tile has no {name}; it has {', '.join(_TILE_NUMBERS)}")
        if self.depth == 0:
            raise NotRecordable("a tile outside of its loop")
        value = _TILE_NUMBERS[name](tile.core, location=self.location)
        return BlockSize(value) if name == "block_size" else DeviceValue(value)


def _atomic(name: str):
    def handler(self, target, index, value, sem):
        return self.atomic(name, target, index, [value], sem)

    return handler


for _name in ("add", "and", "or", "xor", "xchg", "max", "min"):
    setattr(LanguageCalls, f"language_atomic_{_name}", _atomic(f"atomic_{_name}"))


def _tile_function(name: str):
    def handler(self, tile):
        if not isinstance(tile, TileProxy):
            raise self.error(f"twl.tile_{name} is of a tile")
        return self.tile_attribute(tile, name)

    return handler


for _name in _TILE_NUMBERS:
    setattr(LanguageCalls, f"language_tile_{_name}", _tile_function(_name))
