"""Settings: how a kernel is tuned, compiled and run. The decorator's beat the environment's, which beat the defaults."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import Callable, Sequence

import torch

from . import _core
from .config import Config
from .errors import Error

_EFFORTS = ("none", "quick", "full")
_DOT_PRECISIONS = ("ieee", "tf32", "tf32x3")  # the CPU's products are always ieee


@dataclasses.dataclass
class Settings:
    """The settings of LANGUAGE, as keyword arguments of ``@tw.kernel``. None: from ``TILEWRIGHT_...``, else the default.

    Attributes:
        static_shapes: each set of sizes is compiled on its own (True).
        autotune_effort: "none" takes the default config, "quick" (the default) and "full" search.
        autotune_budget_seconds: of a search (10).
        autotune_baseline_fn: gives the right results while tuning; else the default config does.
        autotune_baseline_atol, autotune_baseline_rtol: how far a config's results may be from these.
        autotune_config_overrides: options that every config of a search has.
        force_autotune: search even if a config is known.
        backend: "triton" runs tensors on the CPU by Triton's interpreter too (TRITON_INTERPRET=1); else the tensors' device
            decides: "cpu", or "triton" for CUDA.
        interpret: run on PyTorch, tile by tile.
        dot_precision: how exact products of float32 are at least: "ieee" (as on the CPU always), "tf32", "tf32x3".
        fast_math: False.
        index_dtype: the least that offsets are computed in; they are as wide as the tensors need by themselves.
        print_output_code: what is compiled, to stderr.
        print_repro: False.
        ignore_warnings: of tw.exc.
    """

    static_shapes: bool | None = None
    autotune_effort: str | None = None
    autotune_budget_seconds: float | None = None
    autotune_baseline_fn: Callable | None = None
    autotune_baseline_atol: float | None = None
    autotune_baseline_rtol: float | None = None
    autotune_config_overrides: dict | None = None
    force_autotune: bool | None = None
    backend: str | None = None
    interpret: bool | None = None
    dot_precision: str | None = None
    fast_math: bool | None = None
    index_dtype: object | None = None
    print_output_code: bool | None = None
    print_repro: bool | None = None
    ignore_warnings: Sequence | None = None

    def __post_init__(self):
        if self.autotune_effort not in (None, *_EFFORTS):
            raise Error(f"autotune_effort is one of {', '.join(map(repr, _EFFORTS))}, found {self.autotune_effort!r}")
        if self.backend not in (None, "cpu", "triton"):
            raise Error(f"there is no backend {self.backend!r}; there are 'cpu' and 'triton'")
        if self.dot_precision not in (None, *_DOT_PRECISIONS):
            raise Error(f"dot_precision is one of {', '.join(map(repr, _DOT_PRECISIONS))}, found {self.dot_precision!r}")
        if self.fast_math:
            raise Error("fast_math is not there yet; leave it out")
        for name in ("autotune_baseline_fn", "autotune_baseline_atol", "autotune_baseline_rtol"):
            if getattr(self, name) is not None:
                raise Error(f"{name} is not there yet; the default config's results are the baseline")
        if self.autotune_config_overrides is not None:
            raise Error("autotune_config_overrides is not there yet; tune, and change the config that is found")
        if self.print_repro:
            raise Error("print_repro is not there yet; bound.format_kernel_decorator(bound.config) says what to write")
        if self.index_dtype not in (None, torch.int32, torch.int64):
            raise Error(f"index_dtype is torch.int32 or torch.int64, found {self.index_dtype}")

    @property
    def is_interpreted(self) -> bool:
        return _flag("TILEWRIGHT_INTERPRET") if self.interpret is None else self.interpret

    @property
    def forces_autotune(self) -> bool:
        return _flag("TILEWRIGHT_FORCE_AUTOTUNE") if self.force_autotune is None else self.force_autotune

    @property
    def prints_output_code(self) -> bool:
        return _flag("TILEWRIGHT_PRINT_OUTPUT_CODE") if self.print_output_code is None else self.print_output_code

    def core(self, config: Config | None = None) -> _core.Settings:
        return _core.Settings(None if config is None else config.core, self.autotune_effort, self.autotune_budget_seconds)


_NAMES = frozenset(field.name for field in dataclasses.fields(Settings))

# Names of other systems that are heard of, and what to do about each.
_FOREIGN = {
    "autotune_log_level": "TILEWRIGHT_LOG sets how much is logged",
    "autotune_compile_timeout": "a candidate that takes too long is given up by itself",
    "autotune_precompile": "candidates are compiled in parallel by themselves",
    "use_default_config": "autotune_effort='none' takes the default config",
    "autotune_accuracy_check": "results are always checked",
    "ref_mode": "interpret=True runs on PyTorch",
    "allow_warp_specialize": "it is an option of the config",
    "autotune_max_generations": "autotune_budget_seconds limits a search",
    "autotune_random_seed": "TILEWRIGHT_AUTOTUNE_SEED is not there; set a config to have the same again",
}

_defaults = Settings()


def make_settings(given: dict) -> Settings:
    """Settings from keyword arguments. Raises TypeError for names that there are not."""
    unknown = [name for name in given if name not in _NAMES]
    if unknown:
        name = unknown[0]
        cure = _FOREIGN.get(name, f"there are {', '.join(sorted(_NAMES | {'config', 'configs', 'key'}))}")
        raise TypeError(f"there is no setting {name}: {cure}")
    merged = {field.name: getattr(_defaults, field.name) for field in dataclasses.fields(Settings)}
    return Settings(**{**merged, **given})


@contextlib.contextmanager
def set_default_settings(**given):
    """For kernels that are made in the ``with`` block: settings that their decorators do not say."""
    global _defaults
    outer, _defaults = _defaults, make_settings(given)
    try:
        yield _defaults
    finally:
        _defaults = outer


def _flag(name: str) -> bool:
    return os.environ.get(name, "0").lower() not in ("", "0", "false", "off", "no")
