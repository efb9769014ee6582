"""Kernels: functions under ``@tw.kernel()``."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import pickle
import sys
import threading
import time
import types
import warnings
from typing import Any, Callable, Hashable, Sequence

import torch

from . import _core
from .config import Config, as_config
from .errors import Error, NeedsView, NotRecordable, with_excerpt
from .host_views import HostViews
from .language import constexpr
from .parameters import binder_of
from .programs import Program, RecordedProgram, SplitProgram
from .settings import Settings, make_settings
from .source import source_of
from .torch_integration import Effects, Traceable, name_in_graphs
from .values import NeedsValue


class Kernel(Traceable):
    """A kernel: called like the function it was made from, with tensors, numbers, and what else the function takes.

    The first call for each kind of arguments (dtypes, sizes, strides, constants) compiles; later ones run. Safe to call from
    many threads. A call raises Error, at the user's line, for what is wrong with the kernel or the arguments; then nothing
    has been written to any argument.
    """

    def __init__(self, function: types.FunctionType, settings: Settings, configs: Sequence[Config], key: Callable | None):
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"a kernel is made of a function, found a {type(function).__name__}")
        functools.update_wrapper(self, function)
        self.fn = function
        self.name = function.__name__
        self.settings = settings
        self.configs = list(configs)
        self.key = key
        self.signature = inspect.signature(function)
        for parameter in self.signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                raise TypeError(f"kernel {self.name} takes **{parameter.name}; name its parameters")
        self.values_of = binder_of(self.signature, self.name)  # of a call's arguments: those of all parameters
        self.unrecorded = ""  # what in the host part only Python can do
        self._lock = threading.RLock()
        self.views = HostViews()  # that stand in the loops
        self._program: Program | None = None
        self._call: Callable = self._run
        self._chosen: dict[Hashable, Config] = {}
        self._seen: set[Hashable] = set()
        self._operators: dict[Hashable, Any] = {}
        self.traced_as = name_in_graphs(self)
        self.host_functions: dict[Hashable, Callable] = {}  # the parts of the host part, as Python functions
        self.parameter_names = list(self.signature.parameters)
        self._defaults = {p.name: p.default for p in self.signature.parameters.values() if p.default is not p.empty}
        if settings.static_shapes is False:
            warnings.warn(f"kernel {self.name}: static_shapes=False has no effect yet: each set of sizes is compiled on its own",
                          stacklevel=4)

    @functools.cached_property
    def source(self):
        return source_of(self.fn, "kernel")

    @functools.cached_property
    def effects(self) -> Effects:
        return Effects(self.source, self.parameter_names)

    @property
    def only_config(self) -> Config | None:
        return self.configs[0] if len(self.configs) == 1 else None

    #
    # Calls
    #

    def __call__(self, *args, **kwargs):
        if torch.compiler.is_dynamo_compiling():
            values = list(args)
            for name in self.parameter_names[len(args):]:
                values.append(kwargs[name] if name in kwargs else self._defaults[name])
            return self.traced(values)
        try:
            return self._call(*args, **kwargs)
        except (NeedsValue, NotRecordable):  # of the reading of a specialisation
            pass
        except Error as error:
            raise with_excerpt(error).with_traceback(None) from None
        try:
            return self._run(*args, **kwargs)
        except Error as error:
            raise with_excerpt(error).with_traceback(None) from None

    def _run(self, *args, **kwargs):
        """A call of any kind. What later calls can do at once is kept in _call."""
        if self.settings.is_interpreted:
            from .interpreter import interpret

            return interpret(self, args, kwargs)
        if len(self.configs) > 1:
            return self._with_best(args, kwargs)
        looked_at = self.settings.forces_autotune or self.settings.prints_output_code
        if looked_at:
            self._look_at_new(self.normalize_args(*args, **kwargs))
        result = self._attempt(lambda program: program.call(*args, **kwargs))
        if not looked_at:
            self._call = self._watching if self._program.outer_values else self._program.call
        return result

    def watch_outside(self) -> None:
        """From now on, calls look whether a global or a closure's variable that is compiled in has another value."""
        if self._call != self._run:
            self._call = self._watching

    def _watching(self, *args, **kwargs):
        program = self._program
        if program is None or program.outer_values.have_changed():
            return self._run(*args, **kwargs)
        return program.call(*args, **kwargs)

    def _look_at_new(self, values) -> None:
        """Of arguments that need a specialisation of their own: what the settings want to be done for each."""
        key = self.specialization_key(values)
        with self._lock:
            if key in self._seen:
                return
            self._seen.add(key)
        bound = self.bind(values)
        if self.settings.forces_autotune and not self.configs:
            bound.autotune(effort=self.settings.autotune_effort or "quick")
        if self.settings.prints_output_code:
            print(f"tilewright: {bound!r} with {bound.config!r}:\n{bound.to_code()}", file=sys.stderr)

    def _attempt(self, work: Callable[[Program], Any]):
        """Does work with the kernel's program, which is made anew where the reading finds that it must be."""
        while True:
            if self._program is not None and self._program.outer_values.have_changed():
                self.reset()
            program = self._program or self._first_program()
            try:
                return work(program)
            except NeedsValue as needs:
                self._replace(program, type(program), program.constants | {needs.index})
            except NeedsView as needs:
                with self._lock:
                    if self.views.name_of(needs.node) is None:
                        self.views.add(self.source, needs.node)
                self._replace(program, SplitProgram, frozenset())
            except NotRecordable as reason:
                if isinstance(program, SplitProgram):
                    raise
                self.unrecorded = str(reason)
                self._replace(program, SplitProgram, frozenset())

    def _first_program(self) -> Program:
        with self._lock:
            if self._program is None:
                self.source  # an error where there is none
                constants = frozenset(i for i, parameter in enumerate(self.signature.parameters.values())
                                      if _is_constexpr(parameter.annotation))
                self._program = RecordedProgram(self, constants)
            return self._program

    def _replace(self, old: Program, kind: type, constants) -> None:
        with self._lock:
            if self._program is old:
                self._program = kind(self, constants)

    #
    # Configs
    #

    def bind(self, args: tuple) -> BoundKernel:
        """The kernel for these arguments: what is compiled, tuned and shown of it."""
        args = self._as_tuple(args)
        try:
            return BoundKernel(self, args, self._attempt(lambda program: program.bind(args, {})))
        except Error as error:
            raise with_excerpt(error).with_traceback(None) from None

    def autotune(self, args: Sequence, *, force: bool = True, **options) -> Config:
        """Searches for the best config for these arguments, which later calls then take. Arguments that the kernel writes
        to are copied before. ``options``: effort ("quick", "full") and budget_seconds."""
        return self.bind(tuple(args)).autotune(args, force=force, **options)

    def reset(self) -> None:
        """Forgets what was compiled and found; the next call begins anew."""
        with self._lock:
            if self._program is not None:
                self._program.core.reset()
            self._program = None
            self._call = self._run
            self._chosen.clear()
            self._seen.clear()

    def with_config(self, config) -> Kernel:
        """The same kernel, with this config."""
        return Kernel(self.fn, self.settings, [as_config(config)], self.key)

    def normalize_args(self, *args, **kwargs) -> tuple:
        """The arguments in order, with default values."""
        return tuple(self.values_of(*args, **kwargs))

    def specialization_key(self, args: Sequence) -> Hashable:
        """Equal where two calls run the same compiled kernel."""
        from .arguments import flatten

        parts: list = []
        for value in flatten(self.normalize_args(*args), frozenset()):
            if isinstance(value, torch.Tensor):
                parts.append((value.dtype, tuple(value.shape), value.stride(), value.device.type, value.data_ptr() % 16 == 0))
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                parts.append(type(value))
            else:
                parts.append(value.key if isinstance(value, _core.Constant) else value)
        return tuple(parts) if self.key is None else (self.key(*args), *parts)

    def _with_best(self, args, kwargs):
        """Of several configs, the one that is fastest for these arguments, measured at the first call."""
        values = self.normalize_args(*args, **kwargs)
        key = self.specialization_key(values)
        config = self._chosen.get(key)
        if config is None:
            with self._lock:
                config = self._chosen.get(key)
                if config is None:
                    config = self._chosen[key] = self._fastest(values)
        return self._one(config)._run(*args, **kwargs)

    def _one(self, config: Config) -> Kernel:
        with self._lock:
            if config not in self._kernels:
                self._kernels[config] = Kernel(self.fn, self.settings, [config], self.key)
            return self._kernels[config]

    @functools.cached_property
    def _kernels(self) -> dict[Config, Kernel]:
        return {}

    def _fastest(self, values) -> Config:
        best, best_seconds, failures = None, float("inf"), []
        for config in self.configs:
            try:
                seconds = _measured(self._one(config), values)
            except Error as error:
                failures.append(f"{config!r}: {error}")
                continue
            if seconds < best_seconds:
                best, best_seconds = config, seconds
        if best is None:
            raise Error(f"kernel {self.name}: none of its {len(self.configs)} configs works:\n" + "\n".join(failures))
        print(f"tilewright: {self.name}: {best!r} is the fastest of {len(self.configs)} configs", file=sys.stderr)
        return best

    @staticmethod
    def _as_tuple(args) -> tuple:
        if isinstance(args, torch.Tensor) or not isinstance(args, (tuple, list)):
            raise TypeError("bind takes the arguments of a call as a tuple, as in kernel.bind((x, y))")
        return tuple(args)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    #
    # Copies: as of a function, the kernel itself, by its name
    #

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo) -> Kernel:
        return self

    def __reduce__(self):
        found = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self:
            return self.__qualname__
        if isinstance(found, Kernel) and found.fn is self.fn:
            return _again, (found, self.settings, self.configs, self.key)
        if found is self.fn:
            return Kernel, (self.fn, self.settings, self.configs, self.key)
        raise pickle.PicklingError(f"kernel {self.name} cannot be pickled, because it is not found as {self.__qualname__} of module "
                                   f"{self.__module__}; define it at the top of the module")

    def __repr__(self):
        return f"<tilewright kernel {self.name}>"


def _again(kernel: Kernel, settings: Settings, configs: Sequence[Config], key: Callable | None) -> Kernel:
    """The same function as a kernel with other settings and configs."""
    return Kernel(kernel.fn, settings, configs, key)


def _is_constexpr(annotation) -> bool:
    return annotation is constexpr or isinstance(annotation, str) and annotation.rpartition(".")[2] == "constexpr"


def _copied(values):
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in values]


def _measured(kernel: Kernel, values) -> float:
    """The least time of a few calls, in seconds, on copies of the arguments."""
    values = _copied(values)
    kernel._run(*values)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        kernel._run(*values)
        times.append(time.perf_counter() - begin)
    return min(times)


class BoundKernel:
    """A kernel for the arguments of one call."""

    def __init__(self, kernel: Kernel, args: tuple, core: _core.BoundKernel):
        self.kernel = kernel
        self.settings = kernel.settings
        self._args = args
        self._core = core
        self._config: Config | None = None

    def __call__(self, *args, **kwargs):
        if self._config is None:
            return self.kernel(*args, **kwargs)
        return self.compile_config(self._config)(*args, **kwargs)

    def compile_config(self, config=None) -> Callable:
        """The kernel as it is with a config; what is called then is compiled."""
        config = as_config(config) if config is not None else self.default_config
        self._core.complete(config.core)  # raises Error on what is not legal
        return self.kernel._one(config)

    def set_config(self, config) -> None:
        """The config that later calls of this take."""
        config = as_config(config)
        self._core.complete(config.core)
        self._config = config

    def autotune(self, args: Sequence | None = None, *, force: bool = True, effort: str = "quick",
                 budget_seconds: float | None = None) -> Config:
        """Searches, and sets the best config found. Unless ``force``, a config that is known for these arguments is taken."""
        known = self._core.known_config
        if not force and known is not None:
            config = Config.from_core(known)
        else:
            budget = budget_seconds or self.settings.autotune_budget_seconds or (10.0 if effort == "quick" else 120.0)
            found, _ = self._core.tune(effort, budget)
            config = Config.from_core(found)
        self._config = config
        return config

    @property
    def default_config(self) -> Config:
        return Config.from_core(self._core.default_config)

    @property
    def config(self) -> Config:
        """The one that a call takes."""
        if self._config is not None:
            return self._config
        if self.kernel.only_config is not None:
            return self.kernel.only_config
        known = self._core.known_config
        return self.default_config if known is None else Config.from_core(known)

    @property
    def config_spec(self) -> ConfigSpec:
        """The options that the kernel has, and their legal values."""
        return ConfigSpec(self)

    def to_code(self, config=None, *, stage: str | None = None) -> str:
        """The kernel's text at a stage of the compiler; ``tw.stages()`` lists them, and the last one is the default. "triton" is
        what a GPU would run, also where the arguments are on the CPU; its default config is then the GPU's."""
        if stage == "triton" and self._core.backend != "triton":
            on_gpu = Kernel(self.kernel.fn, dataclasses.replace(self.settings, backend="triton"), [], self.kernel.key)
            return on_gpu.bind(self._args).to_code(config, stage=stage)
        config = as_config(config) if config is not None else self.config
        try:
            return self._core.to_code(config.core, stage)
        except Error as error:
            raise with_excerpt(error).with_traceback(None) from None

    def to_triton_code(self, config=None) -> str:
        if self._core.backend != "triton":
            raise Error("this kernel is compiled for the CPU; to_code(config, stage=...) has its text")
        return self.to_code(config, stage="triton")

    def run_ref(self, *args):
        """The kernel on PyTorch, tile by tile."""
        from .interpreter import interpret

        return interpret(self.kernel, args, {})

    def format_kernel_decorator(self, config, settings=None) -> str:
        """What to write above the function to always have this config."""
        return f"@tw.kernel(config={as_config(config)!r})"

    def __repr__(self):
        return f"<{self._core.description}>"


class ConfigSpec:
    """The options of a bound kernel."""

    def __init__(self, bound: BoundKernel):
        self._bound = bound

    def default_config(self) -> Config:
        return self._bound.default_config

    def normalize(self, config) -> Config:
        """With every option in it. Raises Error on what is not legal."""
        return Config.from_core(self._bound._core.complete(as_config(config).core))

    def to_json(self) -> str:
        return self._bound._core.spec

    def to_dict(self) -> dict:
        """What is known of each option, by its name."""
        return {option["name"]: option for option in json.loads(self._bound._core.spec)["options"]}

    def __repr__(self):
        return f"<the options of {self._bound._core.description}: {', '.join(self.to_dict())}>"


def kernel(fn: Callable | None = None, *, config=None, configs: Sequence | None = None, key: Callable | None = None,
           **settings) -> Any:
    """Makes a kernel of a function: ``@tw.kernel()``, or ``@tw.kernel(config=..., autotune_effort="none", ...)``.

    Args:
        config: the one to take; else the best known, which the first call searches for.
        configs: the fastest of these, which the first call measures.
        key: a function of the arguments, whose result is part of what tells specialisations apart.
        settings: see Settings.

    Raises TypeError for settings that there are not, and Error for what a config or a setting cannot be.
    """
    if config is not None and configs is not None:
        raise TypeError("a kernel has config= or configs=, not both")
    chosen = [as_config(config)] if config is not None else [as_config(one) for one in configs or []]
    made = make_settings(settings)

    def decorate(function) -> Kernel:
        return Kernel(function, made, chosen, key)

    return decorate if fn is None else decorate(fn)


jit = kernel
