"""Measures generated files against PyTorch on one GPU. Needs PyTorch and Triton, and nothing of Tilewright.

python benchmarks/gpu/measure.py FOLDER [ROW ...] [--seconds 40] [--peers all] [--json FILE]

FOLDER is what generate.py wrote. For each row: candidates are compiled in parallel processes; each is checked against
PyTorch and timed; the best few are timed again in turns; then PyTorch's own ways and a copy of the same bytes, in the
same process. A candidate that crashes, hangs or is wrong costs that candidate. Times are medians over device events,
with the L2 cache flushed before each call. The table is printed last, and merged into the JSON file.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def run_row(arguments, row):
    """One row in processes of its own: a poisoned CUDA context ends with them."""
    start = time.monotonic()
    compiled = subprocess.run(
        [sys.executable, HERE / "compile.py", arguments.folder, row["name"], "--seconds", str(arguments.seconds)],
        capture_output=True, text=True)  # fmt: skip
    outcome = json.loads(compiled.stdout.splitlines()[-1]) if compiled.returncode == 0 else {"compiled": [], "failed": {}}
    if compiled.returncode != 0:
        print(compiled.stderr[-2000:], flush=True)
    compile_seconds = time.monotonic() - start
    results, failures = {}, dict(outcome["failed"])
    waiting = list(outcome["compiled"])
    while waiting:
        # Each line is one candidate's outcome, or the last candidate begun.
        process = subprocess.Popen(
            [sys.executable, HERE / "time_candidates.py", arguments.folder, row["name"], json.dumps(waiting)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        try:
            output, errors = process.communicate(timeout=arguments.seconds + 60)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        begun = None
        for line in output.splitlines():
            message = json.loads(line)
            if "begin" in message:
                begun = message["begin"]
            elif "failed" in message:
                failures[begun], begun = message["failed"], None
            else:
                results[begun], begun = message, None
        if process.returncode == 0:
            break
        if begun is None:
            print(errors[-2000:], flush=True)
            break
        failures[begun] = f"crashed: {errors.strip().splitlines()[-1][:200] if errors.strip() else process.returncode}"
        waiting = waiting[waiting.index(begun) + 1 :]
    tune_seconds = time.monotonic() - start
    best = sorted(results, key=lambda index: results[index]["us"])[:5]
    final = subprocess.run(
        [sys.executable, HERE / "time_finalists.py", arguments.folder, row["name"], json.dumps(best), arguments.peers],
        capture_output=True, text=True)  # fmt: skip
    if final.returncode != 0:
        print(final.stderr[-3000:], flush=True)
        return None
    measured = json.loads(final.stdout.splitlines()[-1])
    measured |= {"compile_seconds": compile_seconds, "tune_seconds": tune_seconds, "tried": len(row["candidates"]),
                 "right": len(results), "failures": failures,
                 "screened": {index: results[index]["us"] for index in sorted(results, key=lambda i: results[i]["us"])}}  # fmt: skip
    return measured


def rate(row, us):
    if row["flops"]:
        return f"{row['flops'] / us / 1e6:7.1f} TFLOP/s"
    return f"{row['bytes'] / us / 1e6:7.2f} TB/s"


def table(manifest, outcomes):
    lines = [f"{'row':34s} {'ours us':>9s} {'rate':>15s}  {'of copy':>7s} {'tuned s':>7s}  peers us (ours is times as fast)"]
    for row in manifest:
        outcome = outcomes.get(row["name"])
        if not outcome or not outcome["finalists"]:
            if row["name"] in outcomes:
                lines.append(f"{row['name']:34s} no candidate is right")
            continue
        us = min(outcome["finalists"].values())
        copy = outcome["peers"].get("copy of the bytes")
        of_copy = f"{copy / us:6.0%}" if copy else "      "
        peers = "  ".join(f"{name} {peer:.1f} ({peer / us:.2f})" for name, peer in outcome["peers"].items())
        lines.append(f"{row['name']:34s} {us:9.1f} {rate(row, us):>15s}  {of_copy:>7s} {outcome['tune_seconds']:7.1f}  {peers}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("rows", nargs="*", help="parts of rows' names; none: all")
    parser.add_argument("--seconds", type=float, default=40, help="for compiling and timing a row's candidates")
    parser.add_argument("--peers", choices=["none", "eager", "all"], default="all", help="all: torch.compile as well")
    parser.add_argument("--json", type=pathlib.Path, default=None, help="where results are merged into")
    arguments = parser.parse_intermixed_args()
    manifest = json.loads((arguments.folder / "manifest.json").read_text())
    chosen = [row for row in manifest if not arguments.rows or any(name in row["name"] for name in arguments.rows)]
    outcomes = {}
    if arguments.json and arguments.json.exists():
        outcomes = json.loads(arguments.json.read_text())
    for row in chosen:
        print(f"{row['name']}: {len(row['candidates'])} candidates", flush=True)
        outcome = run_row(arguments, row)
        if outcome is None:
            continue
        outcomes[row["name"]] = outcome
        counts = {}
        for reason in outcome["failures"].values():
            counts[reason.split(":")[0]] = counts.get(reason.split(":")[0], 0) + 1
        fastest = min(outcome["finalists"], key=outcome["finalists"].get, default=None)
        if fastest is not None:
            candidate = row["candidates"][int(fastest)]
            print(f"  {outcome['finalists'][fastest]:.1f} us: {candidate['file']} {json.dumps(candidate['config'])}")
        print(f"  compiled in {outcome['compile_seconds']:.1f} s, tuned in {outcome['tune_seconds']:.1f} s, "
              f"{outcome['right']} right, failures {counts or 'none'}", flush=True)  # fmt: skip
        for index, reason in list(outcome["failures"].items())[:3]:
            print(f"  {row['candidates'][int(index)]['file']}: {reason[:300]}")
        if arguments.json:
            arguments.json.write_text(json.dumps(outcomes, indent=1))
    print()
    print(table([row for row in manifest if row["name"] in outcomes], outcomes), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TRITON_CACHE_DIR", str(pathlib.Path.home() / ".triton" / "cache"))
    main()
