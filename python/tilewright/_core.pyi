"""The compiled core of Tilewright: recording of kernels, the compiler behind it, and the fast call.

This is the contract between the Python frontend, which reads the user's source, and C++, which knows all rules of
types, shapes and operations. Users of Tilewright do not import it.

Recording. While a kernel is recorded (inside of `Kernel`'s `record` callback), the functions here write down its
steps. They work on the recording of the current thread; outside of one they raise Error. Handles (Value, Tensor, Tile,
Size with a symbol, Variable) belong to one recording and are refused elsewhere.

Locations. Every function that can fail takes a keyword-only `location`: the user's line. An Error names it.

Numbers. Where an Operand is taken, a Python int, float or bool is PyTorch's Python number: it does not widen the other
operand within its kind. dtypes are PyTorch's names without "torch.": "float32", "bfloat16", "bool".
"""

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, TypeAlias, final

import torch

__version__: str
interface: str  # the SHA-256 of this file when the core was compiled

# ----------------------------------------------------------------------------------------------------------------------
# Errors
# ----------------------------------------------------------------------------------------------------------------------

@final
class Location:
    """A place in the user's source. `file` is kept for as long as the process lives. Columns count from 1; 0 is
    unknown."""

    def __init__(self, file: str, line: int, column: int = 0) -> None: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...

class Error(Exception):
    """Everything Tilewright raises about a kernel or a call; `tilewright.Error` is this class. str() is
    "file:line: message" where the place is known."""

    def __init__(self, message: str, location: Location | None = None) -> None: ...
    message: str
    file: str | None
    line: int  # 0: unknown
    column: int  # 0: unknown

# ----------------------------------------------------------------------------------------------------------------------
# Host: sizes, tensors, checks
# ----------------------------------------------------------------------------------------------------------------------

DTypeName: TypeAlias = str

@final
class Size:
    """A whole number on the host: the size of a tensor's dimension, or what is computed from such by + - and *, exactly
    in all sizes it depends on. Everything else (// % comparisons, int()) uses its value, which holds for this
    specialisation. Arithmetic with Python ints gives a Size; // and % are Python's (they round down)."""

    def __init__(self, value: int) -> None: ...
    @property
    def value(self) -> int: ...
    @property
    def is_symbolic(self) -> bool:
        """Whether it depends on sizes of the arguments."""
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __float__(self) -> float: ...
    def __bool__(self) -> bool: ...
    def __hash__(self) -> int:
        """That of the value."""
    def __add__(self, other: int | Size) -> Size: ...
    def __radd__(self, other: int) -> Size: ...
    def __sub__(self, other: int | Size) -> Size: ...
    def __rsub__(self, other: int) -> Size: ...
    def __mul__(self, other: int | Size) -> Size: ...
    def __rmul__(self, other: int) -> Size: ...
    def __floordiv__(self, other: int | Size) -> Size: ...
    def __rfloordiv__(self, other: int) -> Size: ...
    def __mod__(self, other: int | Size) -> Size: ...
    def __rmod__(self, other: int) -> Size: ...
    def __neg__(self) -> Size: ...
    def __eq__(self, other: object) -> bool: ...
    def __ne__(self, other: object) -> bool: ...
    def __lt__(self, other: int | Size) -> bool: ...
    def __le__(self, other: int | Size) -> bool: ...
    def __gt__(self, other: int | Size) -> bool: ...
    def __ge__(self, other: int | Size) -> bool: ...

Comparison: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]

def check(
    left: int | Size, comparison: Comparison, right: int | Size, message: str, *, location: Location
) -> None:
    """Refuses a call whose sizes do not compare like this: `assert k == k2, ...` before the first loop. `message` is
    plain text, already filled in."""

def cdiv(a: int | Size, b: int | Size, *, location: Location) -> Size: ...
def next_power_of_2(n: int | Size) -> Size: ...

@final
class Tensor:
    """A tensor in memory as a kernel sees it: an argument, or what empty() made."""

    @property
    def rank(self) -> int: ...
    @property
    def dtype(self) -> DTypeName: ...
    @property
    def sizes(self) -> list[Size]: ...
    @property
    def strides(self) -> list[int]: ...

def empty(sizes: Sequence[int | Size], dtype: DTypeName = "float32", *, location: Location) -> Tensor:
    """Before the first loop: a new contiguous tensor, its elements unset. The call makes it with PyTorch's allocator."""

def fill(tensor: Tensor, value: int | float | bool, *, location: Location) -> None:
    """Before the first loop, of what empty() made: all elements are `value` when the launch begins."""

def recording_device() -> str:
    """Where the tensors are of the call that is recorded: "cpu" or "cuda:0"."""

def register_block_size(extent: int | Size, least: int | Size | None = None, *, location: Location) -> Value:
    """Before the first loop: a new entry in block_sizes, as a scalar that loops take as a block and new values as a
    dimension. `least` is a power of two, to which smaller values of a config are raised; with it, `extent` is the largest
    that a search tries."""

def host_number(block: Value, *, location: Location) -> int:
    """Of a registered block size: the config's number. A kernel that asks is recorded for each number that is tried."""

def register_tunable(name: str, choices: Sequence[int], *, location: Location) -> int:
    """Before the first loop: an option of the kernel's own in the config, of which the first choice is the default. Gives
    the config's choice; the kernel is recorded for each that is tried."""

# ----------------------------------------------------------------------------------------------------------------------
# Device values
# ----------------------------------------------------------------------------------------------------------------------

@final
class Value:
    """A device value: a tensor of a tile's shape, or a scalar. Never changes; see Variable for what does."""

    @property
    def dtype(self) -> DTypeName: ...
    @property
    def rank(self) -> int: ...
    @property
    def shape(self) -> list[Size | Value]:
        """The length of each dimension; a Value where the config says how long it is."""

@final
class Variable:
    """A name of the user's program that holds device values: what a loop carries on, and what branches merge.

    The frontend keeps one for each name of a function, made where the function begins, so that `name = expr` is
    `assign` and reading the name is `read`: that gives loops and branches their meaning. Reading gives a Value of its
    own, so `a = b` never shares. A variable that got its first value inside of a loop may not be read after it; one that
    both sides of an if_ give the same dtype and shape may."""

    def __init__(self) -> None:
        """Without a value."""
    @property
    def has_value(self) -> bool:
        """Whether it was ever assigned to."""
    def read(self, *, location: Location) -> Value: ...
    def assign(self, value: Operand, *, location: Location) -> None:
        """A number becomes a scalar: bool, int64 or float32."""

Operand: TypeAlias = Value | Size | int | float | bool

@final
class Tile:
    """The indices that one pass of a loop has of a dimension."""

def tile_index(tile: Tile, *, location: Location) -> Value:
    """Its indices, those past the end too: int32, or int64 where they may pass 2^31."""

def tile_begin(tile: Tile, *, location: Location) -> Value: ...
def tile_end(tile: Tile, *, location: Location) -> Value:
    """One past the last index that exists."""

def tile_id(tile: Tile, *, location: Location) -> Value: ...
def tile_count(tile: Tile, *, location: Location) -> Value: ...
def tile_block_size(tile: Tile, *, location: Location) -> Value:
    """Also a dimension of new values, and a block of other loops."""

def shift_tile(tile: Tile, by: Operand, *, back: bool = False, location: Location) -> Tile:
    """tile + by, or tile - by: the same number of indices elsewhere, still block access as a subscript."""

# One dimension of a new value; a Value is a registered block size, or a tile's.
ShapeDim: TypeAlias = Tile | Size | int | Value

@final
class SliceFrom:
    """The subscript begin : begin + length, where begin may be a scalar on the device; length is a host number."""

    def __init__(self, begin: Operand, length: int | Size) -> None: ...

# slice() is of host numbers or None. A Value is an index: a scalar, or a tensor of indices. Several tiles in a tuple are
# so many subscripts. Device values (subscript()) take slice(None), None and ... alone.
Subscript: TypeAlias = Tile | tuple[Tile, ...] | slice | SliceFrom | int | Size | Value | None | EllipsisType

def subscript(value: Value, subscripts: Sequence[Subscript], *, location: Location) -> Value:
    """value[:, None]"""

def load(
    tensor: Tensor,
    subscripts: Sequence[Subscript],
    extra_mask: Operand | None = None,
    eviction_policy: str = "",
    *,
    location: Location,
) -> Value: ...
def load_bound(tensor: Tensor, subscripts: Sequence[Subscript], *, location: Location) -> Value:
    """One integer of an argument, in the head of an outermost loop."""

def store(
    tensor: Tensor,
    subscripts: Sequence[Subscript],
    value: Operand,
    extra_mask: Operand | None = None,
    eviction_policy: str = "",
    *,
    location: Location,
) -> None: ...
def atomic(
    name: str, tensor: Tensor, subscripts: Sequence[Subscript], values: Sequence[Operand], sem: str = "relaxed", *,
    location: Location,
) -> Value:
    """`name` is atomic_add, _max, _min, _and, _or, _xor, _xchg with one value, or _cas with expected and value. Gives
    what was there before."""

def print_line(text: str, value: Operand | None = None, *, location: Location) -> None:
    """tw::print: a line for each element when the kernel runs."""

def barrier(*, location: Location) -> None: ...

# ----------------------------------------------------------------------------------------------------------------------
# Operations
# ----------------------------------------------------------------------------------------------------------------------

@final
class Operation:
    """A line of include/tilewright/operations.inc."""

    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def is_pointwise(self) -> bool:
        """Whether call() takes it with `operands` operands and these `parameters`."""
    @property
    def operands(self) -> int:
        """Of a pointwise one; else 0."""
    @property
    def parameters(self) -> list[tuple[str, float]]:
        """Names and defaults of the numbers after the operands, of a pointwise one."""
    @property
    def dtypes(self) -> str:
        """all, numbers, bits, integers or floats, of a pointwise one; else ""."""
    @property
    def result(self) -> str:
        """keep, floating or boolean, of a pointwise one; else ""."""
    @property
    def signature(self) -> str: ...
    @property
    def meaning(self) -> str: ...

def operations() -> list[Operation]:
    """The language's operations, in the order of its documentation."""

def call(name: str, operands: Sequence[Operand], parameters: Mapping[str, Any] = {}, *, location: Location) -> Any:
    """An operation by name on the device: a Value, or a tuple or list of them where PyTorch's function gives that.
    Raises Error on a wrong number of operands, a parameter that the operation does not have, and on operands that the
    operation's rules refuse.

    Pointwise operations: as in operations(), parameters as Operands by name. The variants have names of their own:
    div_floor, div_trunc, gelu_tanh, nan_to_num_as (with nan, posinf, neginf).

    All others, with their parameters (with = : may be left out):

      where                    [condition, a, b]
      to                       [x] dtype                    conversion
      sum mean prod amax amin any all count_nonzero logsumexp
                               [x] dims=None keepdim=False  dims: an int, or a sequence; None or () is all
      max min                  [x] dim=None keepdim=False   without dim a Value, with dim (values, indices)
      argmax argmin            [x] dim=None keepdim=False
      var std                  [x] dims=None correction=1 keepdim=False
      var_mean                 the same -> (var, mean)
      norm                     [x] p=2 dims=None keepdim=False
      softmax log_softmax cumsum cumprod   [x] dim
      cummax cummin            [x] dim -> (values, indices)
      matmul mm bmm            [a, b]
      addmm baddbmm            [acc, a, b]
      dot                      [a, b] or [a, b, acc]
      transpose                [x] dim0 dim1
      t                        [x]
      permute                  [x] dims
      unsqueeze                [x] dim
      squeeze                  [x] dims=None
      reshape view expand broadcast_to     [x] shape        a sequence of ShapeDim; -1 as in PyTorch
      flatten                  [x] first_dim=0 last_dim=-1
      expand_as                [x, other]
      stack cat                [a, b, ...] dim=0
      join                     [a, b]
      split                    [x] -> (a, b); with size, dim=0 -> list
      chunk                    [x] count dim=0 -> list
      flip                     [x] dims
      sort                     [x] dim=-1 descending=False -> (values, indices)
      argsort                  [x] dim=-1 descending=False
      topk                     [x] k dim=-1 largest=True -> (values, indices)
      view_bits                [x] dtype                    the same bits
      gather                   [x, index] dim
      zeros ones               [] shape dtype="float32"
      full                     [value] shape dtype="float32"
      zeros_like ones_like     [x] dtype=None
      full_like                [x, value]
      new_zeros new_ones new_empty         [x] shape
      new_full                 [x, value] shape
      arange                   [end] or [begin, end] dtype="int64"
      rand randn               [seed] shape dtype="float32"
      randint                  [seed] low high shape dtype="int64"
      rand4x                   [seed] shape -> four values
    """

def reduce(
    combiner: Callable[..., Any],
    values: Sequence[Operand],
    dims: Sequence[int] = (),
    other: Sequence[Operand] = (),
    keepdim: bool = False,
    *,
    location: Location,
) -> list[Value]:
    """reduce(fn, x, dim): `combiner` is called once, with the scalars of the left element and then those of the right,
    flat (2 * len(values) of them), and returns a sequence of len(values) operands. `other` is empty (zeros), or one for
    each value."""

def associative_scan(
    combiner: Callable[..., Any], values: Sequence[Operand], dim: int, reverse: bool = False, *, location: Location
) -> list[Value]:
    """The combiner is as in reduce()."""

# ----------------------------------------------------------------------------------------------------------------------
# Device control flow
# ----------------------------------------------------------------------------------------------------------------------

@final
class Loop:
    """A tile or grid loop while its body is recorded, once: `with loop(...) as variables:`. Left by an exception, the
    recording cannot go on."""

    def __enter__(self) -> list[Tile] | list[Value]:
        """Opens the loop: a Tile, or for a grid a scalar Value, for each dimension."""
    def __exit__(self, *exception: object) -> None: ...

def loop(
    begin: Sequence[Operand] | None,
    end: Sequence[Operand],
    block_sizes: Sequence[int | Size | Value | None] | None = None,
    *,
    grid: bool = False,
    jagged: Value | None = None,
    location: Location,
) -> Loop:
    """tile(...) or grid(...) over len(end) dimensions. begin None: 0. A block size of None is the config's choice; a
    Value is one from register_block_size() or tile_block_size()."""

def if_(
    condition: Operand, then: Callable[[], None], otherwise: Callable[[], None] | None = None, *, location: Location
) -> None:
    """A branch on a device scalar; each side is called once. What a side assigns to variables from outside holds after
    it. A Python number is settled at once, and only the side that is taken is called."""

def while_(condition: Callable[[], Operand], body: Callable[[], None], *, location: Location) -> None: ...

# ----------------------------------------------------------------------------------------------------------------------
# Kernels
# ----------------------------------------------------------------------------------------------------------------------

@final
class Constant:
    """An argument that the recording knows by value. `key` tells specialisations apart; equal keys mean equal values."""

    def __init__(self, value: Any, key: bytes) -> None: ...
    @property
    def value(self) -> Any: ...
    @property
    def key(self) -> bytes: ...

# What an argument of a call may be, and what the record callback gets for it:
#   torch.Tensor   -> Tensor      keyed by dtype, sizes, strides, 16-byte alignment
#   int, float     -> Value       a run-time number (int64, float64) on the device, keyed by type alone; where the
#                                 kernel's `constants` lists the parameter: the number itself, keyed by value
#   bool, str, None, torch.dtype, torch.device  -> itself, keyed by value
#   Constant       -> its value, keyed by key
# Anything else needs `prepare`.
Argument: TypeAlias = torch.Tensor | int | float | bool | str | None | torch.dtype | torch.device | Constant

@final
class Recorded:
    """What the record callback gives back: the tensors that the kernel returns, and how a call turns them into the
    user's result.

    finish "one": the only tensor. "tuple": all in a tuple. "none": None. A callable: called after each launch with the
    list of torch tensors and the tuple of the call's (prepared) arguments, and gives the user's result. A returned
    argument is the very object that was passed."""

    def __init__(
        self,
        results: Sequence[Tensor],
        finish: Literal["one", "tuple", "none"] | Callable[[list[torch.Tensor], tuple[Any, ...]], Any],
    ) -> None: ...

@final
class Settings:
    """What is None comes from the environment, and else has a default. effort: none, quick or full."""

    def __init__(
        self,
        config: Config | None = None,
        autotune_effort: str | None = None,
        autotune_budget_seconds: float | None = None,
    ) -> None: ...
    config: Config | None
    autotune_effort: str | None
    autotune_budget_seconds: float | None

class Kernel:
    """A kernel and its specialisations. Safe to call from many threads; the interpreter lock is released while it
    compiles, tunes and runs.

    record(parameters) is called once for each specialisation (and config): it has one entry for each argument, as said
    at Argument, and returns a Recorded. What it raises comes out of the call.

    prepare(args, kwargs) -> sequence of Arguments, as many as it likes: makes a call's flat arguments. It is called
    where there are keyword arguments, a wrong number of arguments, or one that is no Argument; with prepare_always at
    every call. Without it, such calls are refused.

    With CUDA tensors, all on one device, the kernel runs through Triton: the first call of a specialisation by Triton's own
    launcher, later ones by the driver's launch call on torch's current stream. `triton` does so with tensors on the CPU too,
    for Triton's interpreter (TRITON_INTERPRET=1).

    Raises Error for tensors on other devices, of unsupported dtypes or layouts (sparse), for numpy arrays and others
    that are no torch tensors, for overlapping arguments that are stored to. Tensors that require grad are refused
    unless grad mode is off (torch.no_grad, and inside of autograd.Function.forward), or `autograd` is set.

    Calls do not appear in tracebacks. A subclass may define methods, but a __call__ of its own costs time."""

    autograd: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None
    """Where set, it is called instead, with the call's own arguments, where one requires grad and grad mode is on."""
    dispatched: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None
    """Likewise where an argument is a tensor subclass with a __torch_dispatch__ of its own (FakeTensor)."""

    def __init__(
        self,
        name: str,
        argument_names: Sequence[str],
        record: Callable[[list[Any]], Recorded],
        *,
        location: Location,
        constants: Sequence[int] = (),
        prepare: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Argument]] | None = None,
        prepare_always: bool = False,
        triton: bool = False,
        settings: Settings | None = None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Settings: ...
    def with_settings(self, settings: Settings) -> Kernel:
        """The same kernel with others; both share what is compiled."""
    def bind(self, *args: Any, **kwargs: Any) -> BoundKernel: ...
    def reset(self) -> None:
        """Forgets all specialisations, so that the next call records and compiles anew."""

@final
class BoundKernel:
    """A kernel with the arguments of one call, specialised and recorded, with no config chosen."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel with a config chosen as a call chooses it, or the one that set_config() was given. The arguments
        are checked against those it was bound to; Error where they would need another specialisation."""
    @property
    def description(self) -> str:
        """ "matmul(x: float32[64, 64], y: float32[64, 64])" """
    @property
    def spec(self) -> str:
        """The options that exist for it, as JSON: {"option": {"default": ..., "values": [...] or "choices per entry"}}"""
    @property
    def default_config(self) -> Config: ...
    @property
    def known_config(self) -> Config | None:
        """The best one that the tuning database knows for these arguments or the nearest ones."""
    def complete(self, config: Config) -> Config:
        """With every option in it. Raises Error on what is not legal."""
    def set_config(self, config: Config | None) -> None: ...
    def to_code(self, config: Config, stage: str | None = None) -> str:
        """stage: one of stages(backend); by default the last."""
    @property
    def backend(self) -> Literal["cpu", "triton"]: ...
    def tune(self, effort: str = "quick", budget_seconds: float = 10.0) -> tuple[Config, float]:
        """The best config and its time in microseconds; recorded in the database. The log goes to stderr."""
    @property
    def returned(self) -> list[tuple[Literal["argument", "new"], int, list[int], list[int], DTypeName]]:
        """What a launch gives back, for fake tensors: (kind, number, sizes, strides, dtype); the number of an argument
        is its place among the call's."""
    @property
    def written_arguments(self) -> list[int]:
        """Places of the arguments that the kernel stores to."""

def stages(backend: Literal["cpu", "triton"] = "cpu") -> list[str]:
    """In the order of the pipeline: tile, program, then loops, llvm, asm, or triton."""

@final
class GpuPlan:
    """The kernels that a call launches on a GPU (triton_program.py makes it). Opening it needs NVIDIA's driver."""

    def __init__(self, device: int, keeps: object) -> None:
        """`keeps` lives as long as the plan: what holds the loaded kernels."""
    def add(
        self,
        function: int,
        grid: Sequence[int],
        threads: int,
        shared_bytes: int,
        arguments: Sequence[int],
        scratch_bytes: int = 0,
    ) -> None:
        """One launch: a CUfunction, and for each of its parameters the number of the pointer that it is given. Pointers
        that Triton hides behind these are added: the first is to scratch memory, if it wants some, the others are null."""
    def run(self, pointers: Sequence[int], stream: int = 0, scratch: Sequence[int] = ()) -> None:
        """Launches all, asynchronously."""

@final
class Config:
    """Options by name; equality and hash by content."""

    def __init__(self, options: Mapping[str, Any] = {}) -> None:
        """Values: None, bool, int, str, or lists of these. Raises Error on others."""
    @staticmethod
    def from_json(text: str) -> Config: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __getitem__(self, name: str) -> Any:
        """KeyError where there is no such option."""
    def __contains__(self, name: object) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

# ----------------------------------------------------------------------------------------------------------------------
# Threads
# ----------------------------------------------------------------------------------------------------------------------

def num_threads() -> int:
    """Of Tilewright's own; a launch uses at most as many as torch.get_num_threads() says."""

def set_num_threads(count: int) -> None: ...
