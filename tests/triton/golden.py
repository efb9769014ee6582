"""The generated text of a few kernels, as people read it: tests/triton/golden/NAME.py.

python tests/triton/golden.py build/bin/tilewright        writes the files anew
"""

import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent / "golden"

# NAME: what stands behind `tilewright show --backend triton`.
COMMANDS = {
    "add": ["add", "--config", '{"block_sizes": [1024]}'],
    "softmax": ["softmax", "--dtype", "bfloat16", "--size", "m=4096,n=8192", "--config",
                '{"block_sizes": [1], "num_warps": 8}'],
    "softmax_padded": ["softmax", "--size", "m=4096,n=1000", "--config", '{"block_sizes": [4], "num_warps": 4}'],
    "softmax_online": ["softmax_online", "--dtype", "bfloat16", "--size", "m=256,n=131072", "--config",
                       '{"block_sizes": [1, 4096, 4096], "num_warps": 8}'],
    "matmul": ["matmul", "--dtype", "bfloat16", "--size", "m=4096,n=4096,k=4096", "--config",
               '{"block_sizes": [128, 256, 64], "l2_groupings": [8], "indexing": "pointer", "num_warps": 8}'],
    "matmul_persistent": ["matmul", "--dtype", "bfloat16", "--size", "m=4096,n=4096,k=4096", "--config",
                          '{"block_sizes": [128, 256, 64], "l2_groupings": [8], "indexing": "tensor_descriptor", '
                          '"pid_type": "persistent_interleaved", "range_flattens": [true], "num_warps": 8}'],
    "attention": ["attention", "--dtype", "bfloat16", "--size", "h=128,q=4096,k=4096,d=128", "--config",
                  '{"block_sizes": [128, 128], "indexing": "pointer", "num_warps": 8}'],
    "layer_norm": ["layer_norm", "--dtype", "bfloat16", "--config", '{"block_sizes": [1]}'],
    "jagged_softmax": ["jagged_softmax", "--config", '{"block_sizes": [256, 16, 16], "num_warps": 4}'],
}  # fmt: skip


def generate(tilewright, name):
    command = [str(pathlib.Path(tilewright).resolve()), "show", *COMMANDS[name], "--backend", "triton"]
    # Where the compiler has made paths relative, they are so to the build folder.
    folder = pathlib.Path(tilewright).resolve().parent.parent
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in COMMANDS:
        (FOLDER / f"{name}.py").write_text(generate(sys.argv[1], name))
