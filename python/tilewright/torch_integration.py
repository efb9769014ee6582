"""Kernels inside of PyTorch: under torch.compile and torch.export, with tensors that require grad, on fake tensors.

A kernel that is traced is a custom operator of PyTorch, one for each way of calling it. Its meaning on fake tensors is the
kernel's own host part, with its loops left out; which arguments it writes is read from its source.
"""

from __future__ import annotations

import ast
import itertools
import weakref

import torch

from .errors import Error
from .host_machine import AssumedNumbers, HostMachine
from .host_program import prefix_function, suffix_function

_NUMBERS = itertools.count()
_LIBRARY = torch.library.Library("tilewright", "FRAGMENT")
_SCHEMA_TYPES = {"tensor": "Tensor", "tensors": "Tensor[]", "int": "SymInt", "float": "float"}


#
# Which arguments are written, and what is returned
#


class Effects:
    """What a kernel's source says of its arguments and results.

    Attributes:
        written: names of the parameters that the loops may store to.
        results: for each result the parameter's name, where it is returned itself, or None.
        shape: "none", "one" or "tuple".
    """

    def __init__(self, source, parameters):
        from .reader import device_loops

        self.source = source
        loops = device_loops(source, source.body)
        first, last = (loops[0], loops[-1]) if loops else (len(source.body), len(source.body) - 1)
        self.before, self.loops, self.after = source.body[:first], source.body[first:last + 1], source.body[last + 1:]
        self.parameters = set(parameters)
        self.written = self._written()
        self.shape, self.results = self._results()

    def _written(self) -> set[str]:
        stored = set()
        for node in itertools.chain.from_iterable(map(ast.walk, self.loops)):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                stored |= _roots(node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                stored |= _roots(node.target.value)
            elif isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name == "store" or name.startswith("atomic_"):
                    stored |= _roots(node.args[0]) if node.args else self.parameters
                elif not self._is_harmless(node):  # a function that may store to what it is given
                    for argument in node.args:
                        stored |= _roots(argument)
        # What these variables stand for.
        aliases = [node for node in itertools.chain.from_iterable(map(ast.walk, self.before + self.loops))
                   if isinstance(node, ast.Assign) and not _is_new(node.value)]
        while True:
            found = set()
            for node in aliases:
                targets = {part.id for target in node.targets for part in ast.walk(target)
                           if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
                if targets & stored:
                    found |= _names(node.value)
            if found <= stored:
                break
            stored |= found
        return stored & self.parameters

    def _is_harmless(self, node: ast.Call) -> bool:
        """Of a call in a loop: whether it only computes."""
        import types

        from .reader import resolve

        function = resolve(self.source, node.func)
        return function is None or not (isinstance(function, types.FunctionType) and not function.__module__.startswith("torch"))

    def _results(self):
        returns = [node for node in self.after if isinstance(node, ast.Return)]
        value = returns[-1].value if returns else None
        if value is None or isinstance(value, ast.Constant) and value.value is None:
            return "none", []
        if isinstance(value, (ast.Tuple, ast.List)):
            return "tuple", [self._returned(part) for part in value.elts]
        return "one", [self._returned(value)]

    def _returned(self, node) -> str | None:
        if not isinstance(node, ast.Name) or node.id not in self.parameters:
            return None
        rebound = any(isinstance(part, ast.Name) and part.id == node.id and isinstance(part.ctx, ast.Store)
                      for statement in self.source.body for part in ast.walk(statement))
        return None if rebound else node.id


def _roots(node) -> set[str]:
    """The variables that an expression for a tensor is a part of."""
    if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        return _roots(node.value)
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, (ast.Tuple, ast.List)):
        return set().union(*map(_roots, node.elts)) if node.elts else set()
    return _names(node)


def _names(node) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_new(node) -> bool:
    """Whether an expression surely makes a tensor of its own."""
    if isinstance(node, (ast.BinOp, ast.Compare)):
        return True
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name.startswith(("new_", "empty", "zeros", "ones", "full", "clone"))
    return False


#
# Custom operators
#


def _kind(value) -> str:
    """How an argument is passed to an operator: as one of its arguments, or "constant", as a part of it."""
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, (tuple, list)) and value and all(isinstance(part, torch.Tensor) for part in value):
        return "tensors"
    if isinstance(value, bool) or value is None or isinstance(value, (str, torch.dtype, torch.device)):
        return "constant"
    if isinstance(value, (int, torch.SymInt)):
        return "int"
    if isinstance(value, (float, torch.SymFloat)):
        return "float"
    return "constant"


class Operator:
    """A kernel as an operator of PyTorch, for calls whose arguments are of these kinds."""

    def __init__(self, kernel, kinds: tuple[str, ...], constants: tuple):
        self.kernel = kernel
        self.kinds = kinds
        self.constants = constants
        self.names = list(kernel.signature.parameters)
        self.effects = kernel.effects
        name = f"{kernel.name}_{next(_NUMBERS)}".replace("<", "").replace(">", "")
        arguments = []
        for parameter, kind in zip(self.names, kinds):
            if kind == "constant":
                continue
            mark = f"(a{len(arguments)}!)" if parameter in self.effects.written and kind.startswith("tensor") else ""
            arguments.append(f"{_SCHEMA_TYPES[kind].replace('Tensor', 'Tensor' + mark)} {parameter}")
        self.count = self.effects.results.count(None)  # of results that are no arguments
        returns = "Tensor" if self.count == 1 else f"({', '.join(['Tensor'] * self.count)})"
        _LIBRARY.define(f"{name}({', '.join(arguments)}) -> {returns}")
        _LIBRARY.impl(name, self.run, "CompositeExplicitAutograd")
        torch.library.register_fake(f"tilewright::{name}", self.run_fake, lib=_LIBRARY)
        self.name = name
        if kernel.backward is not None:
            torch.library.register_autograd(f"tilewright::{name}", self.run_backward, setup_context=self.set_up, lib=_LIBRARY)

    def arguments(self, passed) -> list:
        """Those of the kernel."""
        passed, constants = iter(passed), iter(self.constants)
        return [next(constants) if kind == "constant" else next(passed) for kind in self.kinds]

    def run(self, *passed):
        with torch.no_grad():
            return self.new_results(self.arguments(passed), self.kernel._run(*self.arguments(passed)))

    def run_fake(self, *passed):
        """The host part, without its loops."""
        arguments = self.arguments(passed)
        result = run_host_part(self.kernel, arguments)
        return self.new_results(arguments, result)

    def new_results(self, arguments, result):
        """The results that are no arguments, as an operator returns them; PyTorch wants memory of its own for each."""
        results = [] if self.effects.shape == "none" else list(result) if self.effects.shape == "tuple" else [result]
        news = [one for one, name in zip(results, self.effects.results) if name is None]
        for one in news:
            if not isinstance(one, torch.Tensor):
                raise Error(f"kernel {self.kernel.name} returns a {type(one).__name__}; under torch.compile and torch.export a kernel "
                            f"returns tensors")
        seen = {_storage(value) for value in arguments if isinstance(value, torch.Tensor)}
        made = []
        for one in news:
            made.append(one.clone() if _storage(one) in seen else one)
            seen.add(_storage(one))
        return made[0] if self.count == 1 else tuple(made) if made else None

    def set_up(self, ctx, inputs, output):
        arguments = self.arguments(inputs)
        saved = self.kernel.saved_for_backward(arguments, self.kernel.result_of(arguments, output))
        ctx.tensors = [isinstance(value, torch.Tensor) for value in saved]
        ctx.others = [value for value in saved if not isinstance(value, torch.Tensor)]
        ctx.save_for_backward(*(value for value in saved if isinstance(value, torch.Tensor)))
        ctx.kinds = self.kinds

    def run_backward(self, ctx, *grads):
        gradients = iter(self.kernel.gradients(ctx, grads))
        passed = [kind for kind in self.kinds if kind != "constant"]
        return tuple(next(gradients) if kind == "tensor" else None for kind in passed)


def _storage(tensor: torch.Tensor):
    return tensor.untyped_storage()._cdata


def run_host_part(kernel, arguments):
    """The result of a kernel on fake tensors."""
    numbers = AssumedNumbers(kernel.only_config)
    result = _host_part(kernel, arguments, numbers)
    if numbers.any_asked:
        other = _host_part(kernel, arguments, AssumedNumbers(kernel.only_config, other=True))
        if _shapes(result) != _shapes(other):
            raise Error(f"kernel {kernel.name} returns tensors whose sizes the config chooses; give it a config for torch.compile and "
                        f"torch.export, which have to know them before")
    return result


def _shapes(result) -> list:
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [tuple(part.shape) if isinstance(part, torch.Tensor) else part for part in parts]


def _host_part(kernel, arguments, numbers: AssumedNumbers):
    effects = kernel.effects
    prefix = kernel.host_functions.get("before")
    if prefix is None:
        prefix = kernel.host_functions["before"] = prefix_function(kernel.source, effects.before)
    parameters = list(kernel.signature.parameters.values())
    positional = [v for v, p in zip(arguments, parameters) if p.kind is not p.KEYWORD_ONLY]
    keyword = {p.name: v for v, p in zip(arguments, parameters) if p.kind is p.KEYWORD_ONLY}
    with HostMachine(numbers=numbers).running():
        done, names = prefix(*positional, **keyword)
    if done or not effects.after:
        return names if done else None
    known = tuple(sorted(names))
    suffix = kernel.host_functions.get(known)
    if suffix is None:
        suffix = kernel.host_functions[known] = suffix_function(kernel.source, effects.after, known)
    return suffix(**names)


# The tracer's constant functions take constants only: a kernel is none (to PyTorch 2.11), nor is a number where shapes are
# dynamic; a string is.
_KERNELS: weakref.WeakValueDictionary[str, Traceable] = weakref.WeakValueDictionary()


def name_in_graphs(kernel: Traceable) -> str:
    """A new name, by which the tracer's constant functions find this kernel."""
    name = f"{kernel.name}_{next(_NUMBERS)}"
    _KERNELS[name] = kernel
    return name


@torch._dynamo.assume_constant_result
def _operator_name(traced_as: str, kinds: tuple[str, ...], constants: tuple) -> str:
    return _KERNELS[traced_as].operator_for(kinds, constants)


@torch._dynamo.assume_constant_result
def _result_shape(traced_as: str) -> tuple[str, tuple[str | None, ...]]:
    effects = _KERNELS[traced_as].effects
    return effects.shape, tuple(effects.results)


class Traceable:
    """A part of Kernel: its calls in graphs of PyTorch, and its gradients."""

    backward = None  # of register_backward
    _save = None

    def operator_for(self, kinds: tuple[str, ...], constants: tuple):
        """The name of the operator for these kinds of arguments."""
        key = (kinds, constants, self.backward)
        with self._lock:
            if key not in self._operators:
                self._operators[key] = Operator(self, kinds, constants)
            return self._operators[key].name

    def traced(self, values):
        """A call in a graph; `values` has one for each parameter. PyTorch's tracer reads this."""
        kinds = tuple([_kind(value) for value in values])
        constants = tuple([value for value, kind in zip(values, kinds) if kind == "constant"])
        passed = [value for value, kind in zip(values, kinds) if kind != "constant"]
        passed = [list(value) if isinstance(value, tuple) else value for value in passed]
        made = getattr(torch.ops.tilewright, _operator_name(self.traced_as, kinds, constants)).default(*passed)
        return self.result_of(values, made)

    def result_of(self, values, made):
        """What the kernel returns: an operator's results, and arguments."""
        shape, results = _result_shape(self.traced_as)
        if shape == "none":
            return None
        if made is None or isinstance(made, torch.Tensor):
            made = (made,)
        every = []
        taken = 0
        for name in results:
            if name is None:
                every.append(made[taken])
                taken += 1
            else:
                every.append(values[self.parameter_names.index(name)])
        return every[0] if shape == "one" else tuple(every)

    #
    # Gradients
    #

    def register_backward(self, backward, *, save=None):
        """Makes the kernel differentiable.

        Args:
            backward: called with the gradients of the kernel's results, followed by what was saved. It returns the gradients of
                the kernel's tensor arguments, in order; None for those that have none. A kernel, or any function.
            save: called with the kernel's arguments, as a tuple, and its result after a call; returns what `backward` needs, as
                a tuple. Without it, the kernel's arguments are saved.

        Returns `backward`, so that it can stand above a function as a decorator.
        """
        self.backward = backward
        self._save = save
        return backward

    def saved_for_backward(self, arguments, result) -> tuple:
        saved = tuple(arguments) if self._save is None else self._save(tuple(arguments), result)
        return tuple(saved) if isinstance(saved, (tuple, list)) else (saved,)

    def gradients(self, ctx, grads) -> list:
        tensors, others = iter(ctx.saved_tensors), iter(ctx.others)
        saved = [next(tensors) if is_tensor else next(others) for is_tensor in ctx.tensors]
        result = self.backward(*grads, *saved)
        gradients = list(result) if isinstance(result, (tuple, list)) else [result]
        count = sum(kind == "tensor" for kind in ctx.kinds)
        if len(gradients) > count:
            raise Error(f"the backward function of kernel {self.name} gives {len(gradients)} gradients for {count} tensors")
        return gradients + [None] * (count - len(gradients))

    def differentiable(self, args, kwargs):
        """A call where an argument requires grad."""
        values = self.normalize_args(*args, **kwargs)
        if self.backward is None:
            names = [name for name, value in zip(self.parameter_names, values) if isinstance(value, torch.Tensor) and value.requires_grad]
            raise Error(f"kernel {self.name}: {', '.join(names) or 'an argument'} requires grad, and the kernel has no backward: give it one "
                        f"by {self.name}.register_backward(function), call it under torch.no_grad(), or detach() the argument")
        kinds = tuple(map(_kind, values))
        return _Differentiable.apply(self, kinds, *values)


    def dispatched(self, args, kwargs):
        """A call with a tensor that a tracer follows."""
        return traced_call(self, args, kwargs)


class _Differentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kernel, kinds, *values):
        result = kernel._run(*values)
        ctx.kernel, ctx.kinds = kernel, kinds
        saved = kernel.saved_for_backward(values, result)
        ctx.tensors = [isinstance(value, torch.Tensor) for value in saved]
        ctx.others = [value for value in saved if not isinstance(value, torch.Tensor)]
        ctx.save_for_backward(*(value for value in saved if isinstance(value, torch.Tensor)))
        written = [value for name, value in zip(kernel.parameter_names, values)
                   if isinstance(value, torch.Tensor) and name in kernel.effects.written]
        ctx.mark_dirty(*written)
        return result

    @staticmethod
    def backward(ctx, *grads):
        gradients = iter(ctx.kernel.gradients(ctx, grads))
        return (None, None, *(next(gradients) if kind == "tensor" else None for kind in ctx.kinds))


#
# Tensors of a tracer, outside of torch.compile's own reading
#


def is_traced(value) -> bool:
    """Whether it is a tensor without data, or one that a tracer follows."""
    return isinstance(value, torch.Tensor) and type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def traced_call(kernel, args, kwargs):
    return kernel.traced(list(kernel.normalize_args(*args, **kwargs)))


__all__ = ["Effects", "Traceable", "is_traced", "name_in_graphs", "traced_call"]
