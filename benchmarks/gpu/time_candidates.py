"""Checks and times compiled candidates of a row, one after the other; prints a line before and after each.

python time_candidates.py FOLDER ROW INDICES
"""

import json
import pathlib
import sys

import timing
import torch
import workload


def say(**message):
    print(json.dumps(message), flush=True)


def main():
    folder, name, indices = pathlib.Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    row = next(row for row in json.loads((folder / "manifest.json").read_text()) if row["name"] == name)
    arguments = workload.arguments_of(row, "cuda")
    expected = workload.expected_of(row, arguments)
    timer = timing.Timer()
    best = float("inf")
    for index in indices:
        say(begin=index)
        try:
            call = workload.load(folder, row["candidates"][index])
            error = workload.error_of(row, call(*arguments), expected)
            torch.cuda.synchronize()
        except Exception as problem:
            if "CUDA error" in str(problem) or "illegal" in str(problem):
                raise  # the context is lost
            say(failed=f"{type(problem).__name__}: {str(problem)[:300]}")
            continue
        if error > workload.allowed_error(row):
            say(failed=f"wrong: an error of {error:.2e}")
            continue
        us = timer.median(lambda: call(*arguments), 3)
        if us < 1.5 * best:
            us = timer.median(lambda: call(*arguments), 10)
        best = min(best, us)
        say(us=us, error=error)


if __name__ == "__main__":
    main()
