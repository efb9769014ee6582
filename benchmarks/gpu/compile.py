"""Compiles a row's candidates in parallel processes, so that Triton finds them in its cache. Prints, as its last line,
which ones compiled and why others did not.

python compile.py FOLDER ROW --seconds N
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib

import workload


def compile_candidate(folder, row, index):
    import torch
    import triton

    # The launcher asks for the multiprocessors of its arguments' device, which here is the CPU.
    properties = torch.cuda.get_device_properties(0)
    ask, torch.cuda.get_device_properties = torch.cuda.get_device_properties, lambda device=None: properties

    # The launcher is called as it is; its launches only compile.
    run = triton.runtime.jit.JITFunction.run

    def compile_only(self, *arguments, **options):
        return run(self, *arguments, **(options | {"warmup": True}))

    triton.runtime.jit.JITFunction.run = compile_only
    try:
        workload.load(folder, row["candidates"][index])(*workload.arguments_of(row, "cpu"))
    finally:
        triton.runtime.jit.JITFunction.run = run
        torch.cuda.get_device_properties = ask
    return index


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("row")
    parser.add_argument("--seconds", type=float)
    arguments = parser.parse_args()
    manifest = json.loads((arguments.folder / "manifest.json").read_text())
    row = next(row for row in manifest if row["name"] == arguments.row)
    context = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(os.cpu_count(), mp_context=context)
    futures = {pool.submit(compile_candidate, arguments.folder, row, index): index for index in range(len(row["candidates"]))}
    done, waiting = concurrent.futures.wait(futures, timeout=arguments.seconds)
    compiled, failed = [], {futures[future]: "too slow to compile" for future in waiting}
    for future in done:
        error = future.exception()
        if error is None:
            compiled.append(futures[future])
        else:
            failed[futures[future]] = f"{type(error).__name__}: {str(error)[-600:]}"
    print(json.dumps({"compiled": sorted(compiled), "failed": failed}), flush=True)
    for process in pool._processes.values():
        process.kill()
    os._exit(0)


if __name__ == "__main__":
    main()
