"""Tunes the kernels of rows.py from Python by Tilewright's own search, and measures what it finds beside PyTorch.

    PYTHONPATH=build/python python benchmarks/gpu/tune.py [ROW ...] [--json FILE] [--seconds N] [--peers none|eager|all]

ROW: a part of a row's name; none: all. For each row: arguments, a search from nothing within the row's budget, the result
checked against PyTorch in float32, then the tuned config, the default one, PyTorch's ways and a copy of the same bytes
timed in turns: medians over device events, with the L2 cache flushed before each call. Results are merged into FILE; rows
that are in it are not measured again without --again. The table comes last.
"""

import argparse
import importlib
import json
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent.parent / "examples" / "python"))

import rows  # noqa: E402
import timing  # noqa: E402
import torch  # noqa: E402
import workload  # noqa: E402

EXAMPLES = {"add": "add", "softmax": "softmax", "softmax_online": "softmax", "layer_norm": "norms", "rms_norm": "norms",
            "cross_entropy": "losses", "silu_and_multiply": "transformer_parts", "matmul": "matmul",
            "attention": "attention"}  # fmt: skip


def budget_of(row):
    """In seconds: what the kind of work is given."""
    if not row.flops:
        return 30
    return 60 if row.kernels[0][0] == "attention" else 40


def described(row, kernel):
    """As workload.py takes it."""
    return {"name": row.name, "sizes": row.sizes, "dtype": row.dtype, "flops": row.flops, "bytes": row.bytes,
            "candidates": [{"kernel": kernel}]}  # fmt: skip


def tune(row, kernel_name, seconds):
    kernel = getattr(importlib.import_module(EXAMPLES[kernel_name]), kernel_name)
    what = described(row, kernel_name)
    arguments = workload.arguments_of(what, "cuda")
    begin = time.monotonic()
    bound = kernel.bind(tuple(arguments))
    config = bound.autotune(arguments, effort="full", budget_seconds=seconds)
    seconds = time.monotonic() - begin
    tuned, default = kernel.with_config(config), kernel.with_config(bound.default_config)
    expected = workload.expected_of(what, arguments)
    if kernel_name == "cross_entropy":  # the example gives the mean
        expected = expected.mean()
    error = workload.error_of(what, tuned(*arguments), expected)
    return what, arguments, {"tuned": tuned, "default": default}, {
        "kernel": kernel_name, "config": config.to_dict(),
        "tune_seconds": seconds, "error": error, "right": error <= workload.allowed_error(what)}  # fmt: skip


def measure(row, seconds, which):
    """The best of the row's kernels."""
    calls, outcomes = {}, {}
    for kernel_name, _ in row.kernels:
        what, arguments, kernels, outcome = tune(row, kernel_name, seconds / len(row.kernels))
        outcomes[kernel_name] = outcome
        print(f"  {kernel_name}: {outcome['tune_seconds']:.1f} s, error {outcome['error']:.1e} {outcome['config']}", flush=True)
        for kind, kernel in kernels.items():
            calls[f"{kernel_name} {kind}"] = lambda kernel=kernel, arguments=arguments: kernel(*arguments)
    peers = {}
    for peer, call in workload.peers_of(what, arguments, which).items():
        try:
            call()
            torch.cuda.synchronize()
            peers[peer] = call
        except Exception as problem:
            print(f"  {peer}: {type(problem).__name__}: {str(problem)[:200]}", flush=True)
    for call in calls.values():
        call()
    found = timing.Timer().in_turns(calls | peers, rounds=5, each=10)
    best = min(outcomes, key=lambda name: found[f"{name} tuned"])
    return outcomes[best] | {"us": found[f"{best} tuned"], "default_us": found[f"{best} default"],
                             "peers": {peer: found[peer] for peer in peers}, "seconds": sum(o["tune_seconds"] for o in outcomes.values()),
                             "device": torch.cuda.get_device_name(), "torch": torch.__version__}  # fmt: skip


def table(all_rows, outcomes):
    lines = [f"{'row':30s} {'tuned us':>9s} {'default':>9s} {'rate':>15s} {'of copy':>8s} {'seconds':>8s}  peers us (ours is times as fast)"]
    for row in all_rows:
        outcome = outcomes.get(row.name)
        if not outcome:
            continue
        us = outcome["us"]
        rate = f"{row.flops / us / 1e6:7.1f} TFLOP/s" if row.flops else f"{row.bytes / us / 1e6:7.2f} TB/s"
        copy = outcome["peers"].get("copy of the bytes")
        peers = "  ".join(f"{name} {peer:.1f} ({peer / us:.2f})" for name, peer in outcome["peers"].items())
        wrong = "" if outcome["right"] else "  WRONG"
        lines.append(f"{row.name:30s} {us:9.1f} {outcome['default_us']:9.1f} {rate:>15s} {f'{copy / us:.0%}' if copy else '':>8s} "
                     f"{outcome['seconds']:8.1f}  {peers}{wrong}")  # fmt: skip
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="parts of rows' names; none: all")
    parser.add_argument("--json", type=pathlib.Path, help="where results are merged into")
    parser.add_argument("--again", action="store_true", help="rows that the file has, too")
    parser.add_argument("--seconds", type=float, help="for each row's search; by default 30, 40 for products, 60 for attention")
    parser.add_argument("--peers", choices=["none", "eager", "all"], default="all", help="all: torch.compile as well")
    arguments = parser.parse_intermixed_args()
    # A search from nothing finds nothing of earlier ones.
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="tilewright-tune-")
    os.environ.setdefault("TILEWRIGHT_AUTOTUNE_EFFORT", "none")
    outcomes = {}
    if arguments.json and arguments.json.exists():
        outcomes = json.loads(arguments.json.read_text())
    chosen = rows.selected(arguments.rows)
    for row in chosen:
        if row.name in outcomes and not arguments.again:
            continue
        print(f"{row.name}:", flush=True)
        try:
            outcomes[row.name] = measure(row, arguments.seconds or budget_of(row), arguments.peers)
        except Exception as problem:  # the next row may still say something
            print(f"  FAILED {type(problem).__name__}: {str(problem)[:2000]}", flush=True)
            continue
        if arguments.json:
            arguments.json.write_text(json.dumps(outcomes, indent=1))
    print(f"\n{table(chosen, outcomes)}", flush=True)


if __name__ == "__main__":
    main()
