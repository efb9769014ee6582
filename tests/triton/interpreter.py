"""What Triton's CPU interpreter lacks of a GPU, for running generated files as they are.

- Functions of libdevice are in a library of GPU code: NumPy's stand in for them, in double precision.
- Numbers among a kernel's arguments get the type of their value instead of the declared one.
- It keeps bfloat16 as its bits, computes with those as with integers, and rounds towards zero: here such arithmetic is
  in float32, rounded to nearest.
- What compares numbers has their type, and becomes such a number where it is repeated: here it is a bool.
- Its loops have Python's numbers as variables, which have no methods: here they are tensors. The modules of generated
  files get this `range` too.
- It makes Python's numbers of arrays with one element in a way that NumPy 2.4 does not know any more.
- There is no device to ask for the number of its multiprocessors: a few, so that persistent programs have several
  tiles each.
"""

import types

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import interpreter

MULTIPROCESSORS = 3


def _of_torch(function):
    return lambda x: function(torch.from_numpy(np.asarray(x))).numpy()


_FUNCTIONS = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "cbrt": np.cbrt, "trunc": np.trunc, "rint": np.rint,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "atan2": np.arctan2, "pow": np.power,
    "copysign": np.copysign, "fmod": np.fmod, "mul_rn": np.multiply, "erfc": _of_torch(torch.special.erfc),
    "lgamma": _of_torch(torch.lgamma), "erfinv": _of_torch(torch.special.erfinv),
}  # fmt: skip


def _substitute(function):
    def call(*operands):
        dtype = next(operand.dtype for operand in operands if isinstance(operand, tl.tensor))
        values = [
            operand.handle.data.astype(np.float64) if isinstance(operand, tl.tensor) else float(operand)
            for operand in operands
        ]
        with np.errstate(all="ignore"):
            result = np.asarray(function(*values)).astype(np.float32 if dtype == tl.float32 else np.float64)
        shape = list(result.shape)
        kind = tl.block_type(dtype, shape) if any(isinstance(o, tl.tensor) and o.type.is_block() for o in operands) else dtype
        return tl.tensor(interpreter.TensorHandle(result, dtype), kind)

    return call


class _DeclaredNumbers(interpreter.GridExecutor):
    """Gives each number the type that its parameter is declared with."""

    def __call__(self, *arguments, **options):
        declared = [self.fn.__annotations__.get(name) for name in self.arg_names]
        arguments = [
            _typed(argument, kind) if kind is not None and isinstance(argument, (bool, int, float)) else argument
            for argument, kind in zip(arguments, declared)
        ]
        super().__call__(*arguments, **options)


def _typed(value, kind):
    kind = getattr(tl, str(kind).removeprefix("tl.").replace("fp", "float"))
    handle = interpreter.TensorHandle(np.array([value], dtype=interpreter._get_np_dtype(kind)), kind)
    return tl.tensor(handle, kind)


def _decoded(handle):
    if handle.dtype.scalar != tl.bfloat16 or handle.data.dtype != np.uint16:
        return handle
    bits = handle.data.astype(np.uint32) << 16
    return interpreter.TensorHandle(bits.view(np.float32), tl.float32)


def _encoded(handle):
    values = torch.from_numpy(np.array(handle.data, dtype=np.float32)).to(torch.bfloat16)
    return interpreter.TensorHandle(values.view(torch.int16).numpy().view(np.uint16), tl.bfloat16)


def _arithmetic_by_type(method):
    def call(self, *operands):
        decoded = [_decoded(o) if isinstance(o, interpreter.TensorHandle) else o for o in operands]
        result = method(self, *decoded)
        if result.data.dtype == np.bool_:
            return interpreter.TensorHandle(result.data, tl.int1)
        is_narrow = any(before is not after for before, after in zip(operands, decoded))
        return _encoded(result) if is_narrow and result.data.dtype == np.float32 else result

    return call


def _dot_in_float32(method):
    def call(self, a, b, acc, *options):
        return method(self, _decoded(a), _decoded(b), acc, *options)

    return call


def _rounding_to_nearest(method):
    def call(self, source, kind, *options):
        if kind.scalar == tl.bfloat16 and source.dtype.scalar != tl.bfloat16:
            return _encoded(source)
        return method(self, _decoded(source), kind, *options)

    return call


def tensor_range(*bounds, **options):
    """What `range` is in a kernel: its variable is a tensor."""
    values = [int(bound) for bound in bounds]
    is_wide = any(isinstance(bound, tl.tensor) and bound.dtype == tl.int64 for bound in bounds)
    for value in range(*values):
        yield _typed(value, "tl.int64" if is_wide else "tl.int32")


def _with_tensor_range(patch):
    def patched(language, scope):
        patch(language, scope)
        scope.set_attr(language, "range", tensor_range)

    return patched


def _index_by_item(patch):
    def patched(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    return patched


def install():
    assert triton.knobs.runtime.interpret, "TRITON_INTERPRET=1 must be set before triton is imported"
    for name, function in _FUNCTIONS.items():
        setattr(libdevice, name, _substitute(function))
    interpreter.GridExecutor = _DeclaredNumbers
    builder = interpreter.InterpreterBuilder
    builder.binary_op = _arithmetic_by_type(builder.binary_op)
    builder.get_bf16 = lambda self, value: _encoded(interpreter.TensorHandle(np.array([value], np.float32), tl.float32))
    builder.create_dot = _dot_in_float32(builder.create_dot)
    for name in ("cast_impl", "create_fp_to_fp"):
        setattr(builder, name, _rounding_to_nearest(getattr(builder, name)))
    interpreter._patch_lang_core = _with_tensor_range(interpreter._patch_lang_core)
    interpreter._patch_lang_tensor = _index_by_item(interpreter._patch_lang_tensor)
    torch.cuda.get_device_properties = lambda device: types.SimpleNamespace(multi_processor_count=MULTIPROCESSORS)
