"""Writes the generated Triton files of every row and config, for measure.py to run where there is a GPU.

python benchmarks/gpu/generate.py FOLDER [--tilewright build/bin/tilewright] [ROW ...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess

import rows


def generate(tilewright, row, kernel, config):
    """The file's text, or what is wrong with the config."""
    sizes = ",".join(f"{name}={size}" for name, size in row.sizes.items())
    command = [tilewright, "show", kernel, "--backend", "triton", "--dtype", row.dtype, "--size", sizes,
               "--config", json.dumps(config)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=pathlib.Path(tilewright).parent.parent)
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("rows", nargs="*", help="parts of rows' names; none: all")
    parser.add_argument("--tilewright", default="build/bin/tilewright")
    arguments = parser.parse_intermixed_args()
    tilewright = str(pathlib.Path(arguments.tilewright).resolve())
    manifest = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row in rows.selected(arguments.rows):
            tried = [(kernel, config) for kernel, configs in row.kernels for config in configs]
            texts = list(pool.map(lambda each: generate(tilewright, row, *each), tried))
            candidates, seen = [], set()
            folder = arguments.folder / row.name.replace(" ", "_")
            folder.mkdir(parents=True, exist_ok=True)
            for (kernel, config), (text, error) in zip(tried, texts):
                if error:
                    print(f"{row.name}: {kernel} {json.dumps(config)}: {error}")
                    continue
                # Configs that make the same program are one.
                body = "\n".join(line for line in text.splitlines() if not line.startswith("# config"))
                if body in seen:
                    continue
                seen.add(body)
                path = folder / f"{kernel}_{len(candidates)}.py"
                path.write_text(text)
                candidates.append({"kernel": kernel, "config": config, "file": str(path.relative_to(arguments.folder))})
            manifest.append({"name": row.name, "sizes": row.sizes, "dtype": row.dtype, "flops": row.flops,
                             "bytes": row.bytes, "candidates": candidates})  # fmt: skip
            print(f"{row.name}: {len(candidates)} files")
    (arguments.folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


if __name__ == "__main__":
    main()
