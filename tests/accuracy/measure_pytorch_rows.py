"""Writes pytorch_row_errors.json: how exactly PyTorch reduces, scans and multiplies rows of numbers on this CPU.

    measure_pytorch_rows.py build/bin/pytorch_row_errors tests/accuracy/pytorch_row_errors.json

It needs torch (2.13.0 made the file that is committed); nothing else in the project does.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import torch

FUNCTIONS = {
    "sum": lambda x, y: torch.sum(x, 1),
    "mean": lambda x, y: torch.mean(x, 1),
    "amax": lambda x, y: torch.amax(x, 1),
    "logsumexp": lambda x, y: torch.logsumexp(x, 1),
    "softmax": lambda x, y: torch.softmax(x, 1),
    "log_softmax": lambda x, y: torch.log_softmax(x, 1),
    "cumsum": lambda x, y: torch.cumsum(x, 1),
    "var": lambda x, y: torch.var(x, 1),
    "std": lambda x, y: torch.std(x, 1),
    "norm": lambda x, y: torch.linalg.vector_norm(x, 2, 1),
    "matmul": lambda x, y: x @ y,
}


def main(program, output):
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        subprocess.run([program, "inputs", folder], check=True)
        manifest = json.loads((folder / "manifest.json").read_text())
        for dtype in manifest["dtypes"]:
            for length in manifest["lengths"]:
                end = f"{dtype}.{length}"
                data = bytearray((folder / f"rows.{end}").read_bytes())
                x = torch.frombuffer(data, dtype=getattr(torch, dtype)).reshape(-1, length)
                data = bytearray((folder / f"columns.{end}").read_bytes())
                y = torch.frombuffer(data, dtype=torch.float64).reshape(length, -1).to(x.dtype)
                for case in manifest["cases"]:
                    result = FUNCTIONS[case](x, y).contiguous()
                    (folder / f"{case}.{end}.out").write_bytes(result.view(torch.uint8).numpy().tobytes())
        about = f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
        subprocess.run([program, "compare", folder, output, about], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
