"""The command line: ``python -m tilewright list|tune|run|show``, on the kernels of a Python file or module.

A kernel is named with the file or module that it is in, ``examples/add.py:add`` or ``mypackage.kernels:add``. The file is
run to find it, under the name of a module, so that a main program in it does not start.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import re
import sys
import time
from typing import Any, Sequence

import torch

from . import _core
from .config import Config
from .errors import Error
from .kernel import BoundKernel, Kernel

_EPILOG = """\
arguments of a kernel:
  float32[1024, 512]      a tensor of that dtype and those sizes, of normal random numbers; integers are from 0 to 99
  int64[1024]<16          integers from 0 to 15
  float32[512, 1024].T    any of these, transposed
  0.5   3   true   none   numbers, bools and None
  'text'                  a string

examples:
  python -m tilewright list kernels.py
  python -m tilewright tune kernels.py:matmul "float32[512, 512]" "float32[512, 512]" --budget 30
  python -m tilewright run kernels.py:add "float32[1024]" "float32[1024]"
  python -m tilewright show kernels.py:add "float32[1024]" "float32[1024]" --stage asm
"""


class UsageError(Exception):
    """What was typed is wrong."""


#
# What is typed
#


def parse_argument(text: str) -> Any:
    """An argument of a kernel from its text on the command line. Raises UsageError on what is none."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    tensor = re.fullmatch(r"(\w+)\[([\d\s,]*)\](?:<(\d+))?(\.T)?", text)
    if not tensor:
        raise UsageError(f"{text!r} is no argument: a tensor is as in float32[1024, 512], a string as in 'text'")
    name, sizes, below, transposed = tensor.groups()
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise UsageError(f"there is no dtype torch.{name}")
    sizes = [int(size) for size in sizes.split(",") if size.strip()]
    made = _random(sizes, dtype, below)
    return made.T if transposed else made


def _random(sizes: list[int], dtype: torch.dtype, below: str | None) -> torch.Tensor:
    if dtype.is_floating_point and below is None:
        return torch.randn(sizes).to(dtype)
    return torch.randint(0, int(below or (2 if dtype == torch.bool else 100)), sizes).to(dtype)


def _import(place: str):
    """The module at a path, or of a name."""
    if not place.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(place)
    if not os.path.exists(place):
        raise UsageError(f"there is no file {place}")
    name = os.path.splitext(os.path.basename(place))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
    spec = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _kernels(module) -> dict[str, Kernel]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}


def find_kernel(text: str) -> Kernel:
    """FILE:KERNEL. The kernel may be left out where there is only one."""
    place, _, name = text.partition(":")
    kernels = _kernels(_import(place))
    if not name and len(kernels) == 1:
        return next(iter(kernels.values()))
    if name not in kernels:
        found = ", ".join(kernels) or "none"
        raise UsageError(f"there is no kernel {name} in {place}; there are: {found}" if name
                         else f"say which kernel of {place}, as in {place}:NAME; there are: {found}")
    return kernels[name]


def _bind(options) -> tuple[BoundKernel, list]:
    torch.manual_seed(options.seed)
    if options.threads:
        torch.set_num_threads(options.threads)
        _core.set_num_threads(options.threads)
    values = [parse_argument(text) for text in options.arguments]
    return find_kernel(options.kernel).bind(tuple(values)), values


def _config(bound: BoundKernel, text: str | None) -> Config:
    """The one that was typed; else the best one that is known, or the default."""
    if text is None:
        return bound.config
    return bound.default_config if text == "default" else bound.config_spec.normalize(Config.from_core(_core.Config.from_json(text)))


#
# Commands
#


def _list(options) -> None:
    for name, kernel in _kernels(_import(options.module)).items():
        summary = (kernel.__doc__ or "").strip().partition("\n")[0]
        print(f"{name}{kernel.signature}{'  ' + summary if summary else ''}")


def _tune(options) -> None:
    bound, values = _bind(options)
    config = bound.autotune(values, effort=options.effort, budget_seconds=options.budget)
    print(config.to_json())


def _run(options) -> None:
    bound, values = _bind(options)
    kernel = bound.compile_config(_config(bound, options.config))
    result = kernel(*values)
    times = []
    for _ in range(options.times):
        begin = time.perf_counter()
        kernel(*values)
        times.append(time.perf_counter() - begin)
    print(result)
    print(f"{bound!r}: {sorted(times)[len(times) // 2] * 1e6:.1f} us, the median of {len(times)} calls")


def _show(options) -> None:
    bound, _ = _bind(options)
    if options.stage == "spec":
        print(bound.config_spec.to_json())
    else:
        print(bound.to_code(_config(bound, options.config), stage=options.stage))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tilewright", description="Lists, tunes, runs and shows kernels.",
                                     epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, function, summary):
        made = commands.add_parser(name, help=summary, description=summary, epilog=_EPILOG,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
        made.set_defaults(function=function)
        return made

    command("list", _list, "Lists the kernels of a file or module").add_argument("module", metavar="FILE")
    for name, function, summary in (("tune", _tune, "Searches for the fastest config, keeps it, and prints it"),
                                    ("run", _run, "Runs a kernel on random arguments, and prints result and time"),
                                    ("show", _show, "Prints a kernel at one stage of its way to machine code")):
        made = command(name, function, summary)
        made.add_argument("kernel", metavar="FILE:KERNEL")
        made.add_argument("arguments", nargs="*", metavar="ARGUMENT")
        made.add_argument("--seed", type=int, default=0, help="of the random arguments")
        made.add_argument("--threads", type=int, help="threads to run on")
        if name == "tune":
            made.add_argument("--effort", choices=["quick", "full"], default="full")
            made.add_argument("--budget", type=float, default=25.0, metavar="SECONDS", help="the most it may take")
        else:
            made.add_argument("--config", metavar="JSON", help="or the word default; else the best that is known")
        if name == "run":
            made.add_argument("--times", type=int, default=20, help="calls to time")
        if name == "show":
            made.add_argument("--stage", choices=[*_core.stages(), "spec"], default="tile")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; the process's exit status: 1 where the kernel or the call is wrong, 2 where the command is."""
    options = _parser().parse_args(arguments)
    try:
        options.function(options)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
