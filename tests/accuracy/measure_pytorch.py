"""Writes pytorch_errors.json: how PyTorch computes the pointwise operations of tilewright/operations.inc on this CPU.

    measure_pytorch.py build/bin/pytorch_errors tests/accuracy/pytorch_errors.json

It needs torch (2.13.0 made the file that is committed); nothing else in the project does. The program given writes the
inputs, PyTorch computes here, and the program compares with the references that the tests use.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

SPECIAL = {
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "nan_to_num_as": lambda x: torch.nan_to_num(x, 1, 2, -3),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "logit": lambda x, eps: torch.logit(x, None if eps < 0 else eps),
    "addcmul": lambda a, b, c, value: torch.addcmul(a, b, c, value=value),
    "addcdiv": lambda a, b, c, value: torch.addcdiv(a, b, c, value=value),
}


def function_named(name):
    return SPECIAL.get(name) or getattr(F, name, None) or getattr(torch, name)


def whole(numbers):
    """1, not 1.0, where a number is whole: integers take no other."""
    return [int(n) if n == int(n) else n for n in numbers]


def main(program, output):
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        subprocess.run([program, "inputs", folder], check=True)
        manifest = json.loads((folder / "manifest.json").read_text())
        results = []
        for index, case in enumerate(manifest):
            function, found = function_named(case["name"]), {}
            for dtype_name, file in case["inputs"].items():
                data = bytearray((folder / file).read_bytes())
                operands = torch.frombuffer(data, dtype=getattr(torch, dtype_name)).reshape(case["operands"], -1)
                try:
                    result = function(*operands.unbind(0), *whole(case["numbers"]))
                except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
                    found[dtype_name] = {"refused": str(error).splitlines()[0]}
                    continue
                raw = result.contiguous().view(torch.uint8).numpy().tobytes()
                (folder / f"{index}.{dtype_name}.out").write_bytes(raw)
                found[dtype_name] = {"result": str(result.dtype).removeprefix("torch.")}
            results.append(found)
        (folder / "results.json").write_text(json.dumps(results))
        about = f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
        subprocess.run([program, "compare", folder, output, about], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
