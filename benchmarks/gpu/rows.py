"""The rows that are measured: which kernel at which size, which configs are tried, and what the result must be.

`configs` start from what suits the hardware for work of this kind. Each is as for `tilewright show --config`: what it
leaves out takes its default."""

import itertools


def config(**options):
    return {name: value for name, value in options.items() if value is not None}


def products(**choices):
    return [config(**dict(zip(choices, values))) for values in itertools.product(*choices.values())]


def whole_rows(columns, tensors=1):
    """A row, or a few short ones, in the registers of a program."""
    found = []
    for rows in (1, 2, 4, 8):
        if rows * columns > 16384 and rows > 1:
            continue
        for warps in (1, 2, 4, 8, 16, 32):
            # From 4 to 128 numbers of a tile in each thread.
            if 4 <= rows * columns // (32 * warps) <= 128:
                for eviction in (None, "first"):
                    found.append(config(block_sizes=[rows], num_warps=warps, load_eviction_policies=eviction))
    return found


def rolled_rows(blocks, warps):
    return [config(block_sizes=[1], reduction_loops=[block], num_warps=w, num_stages=s)
            for block in blocks for w in warps for s in (2, 3, 4)]  # fmt: skip


def online_rows(blocks, warps):
    return [config(block_sizes=[1, block, block], num_warps=w, num_stages=s, load_eviction_policies=["last", "first"])
            for block in blocks for w in warps for s in (2, 3, 4)]  # fmt: skip


def pointwise_2d():
    return products(block_sizes=[[1, 1024], [1, 2048], [1, 4096], [2, 1024], [4, 512]], num_warps=[4, 8, 16])


def matmuls():
    found = []
    shapes = [(128, 256, 64, 8), (256, 128, 64, 8), (128, 128, 64, 4), (128, 128, 64, 8), (128, 128, 128, 8),
              (64, 256, 64, 4), (256, 64, 64, 4), (64, 128, 64, 4)]  # fmt: skip
    for (m, n, k, warps), stages in itertools.product(shapes, (3, 4)):
        # Operands of all stages in shared memory.
        if stages * (m + n) * k * 2 > 227 * 1024:
            continue
        base = dict(block_sizes=[m, n, k], num_warps=warps, num_stages=stages, l2_groupings=[8])
        for indexing in ("pointer", "tensor_descriptor"):
            found.append(config(**base, indexing=indexing))
        for flatten in (False, True):
            found.append(config(**base, indexing="tensor_descriptor", pid_type="persistent_interleaved",
                                range_flattens=[flatten]))  # fmt: skip
    return found


def attentions(dim):
    found = []
    for rows, columns, warps, stages in itertools.product((64, 128), (32, 64, 128), (4, 8), (2, 3, 4)):
        if rows == 64 and warps == 8:
            continue
        if (rows + 2 * stages * columns) * dim * 2 > 227 * 1024:
            continue
        for indexing in ("pointer", "tensor_descriptor"):
            found.append(config(block_sizes=[rows, columns], num_warps=warps, num_stages=stages, indexing=indexing))
    return found


class Row:
    """`kernels`: (name, configs) pairs; all are tried for the row. `sizes`, `dtype`: as for `tilewright show`.
    `work`: "flops" or "bytes" of one call."""

    def __init__(self, name, kernels, sizes, dtype, *, flops=0, bytes=0):
        self.name, self.kernels, self.sizes, self.dtype = name, kernels, sizes, dtype
        self.flops, self.bytes = flops, bytes


def all_rows():
    rows = []
    n = 1 << 26
    rows.append(Row("add f32 64M", [("add", products(block_sizes=[[1024], [2048], [4096], [8192]], num_warps=[4, 8]))],
                    {"n": n}, "float32", bytes=3 * 4 * n))  # fmt: skip
    for m, n in ((4096, 8192), (16384, 1024)):
        rows.append(Row(f"softmax bf16 {m}x{n}", [("softmax", whole_rows(n))], {"m": m, "n": n}, "bfloat16",
                        bytes=2 * 2 * m * n))  # fmt: skip
    m, n = 256, 131072
    rows.append(Row(f"softmax bf16 {m}x{n}",
                    [("softmax", whole_rows(n) + rolled_rows((4096, 8192, 16384), (8, 16, 32))),
                     ("softmax_online", online_rows((4096, 8192, 16384), (8, 16, 32)))],
                    {"m": m, "n": n}, "bfloat16", bytes=2 * 2 * m * n))  # fmt: skip
    for kernel in ("layer_norm", "rms_norm"):
        for m, n in ((8192, 4096), (4096, 16384)):
            rows.append(Row(f"{kernel} bf16 {m}x{n}", [(kernel, whole_rows(n))], {"m": m, "n": n}, "bfloat16",
                            bytes=2 * 2 * m * n))  # fmt: skip
    m, n = 8192, 32768
    rows.append(Row(f"cross_entropy bf16 {m}x{n}",
                    [("cross_entropy", whole_rows(n) + rolled_rows((4096, 8192), (8, 16)))],
                    {"m": m, "n": n}, "bfloat16", bytes=2 * m * n))  # fmt: skip
    m, n = 8192, 14336
    rows.append(Row(f"silu_mul bf16 {m}x{n}", [("silu_and_multiply", pointwise_2d())], {"m": m, "n2": 2 * n},
                    "bfloat16", bytes=3 * 2 * m * n))  # fmt: skip
    for n in (2048, 4096, 8192):
        rows.append(Row(f"matmul bf16 {n}", [("matmul", matmuls())], {"m": n, "n": n, "k": n}, "bfloat16",
                        flops=2 * n**3))  # fmt: skip
    for batch, heads, length, dim in ((4, 32, 4096, 128), (4, 48, 1024, 64)):
        rows.append(Row(f"attention bf16 {batch}x{heads}x{length}x{dim}", [("attention", attentions(dim))],
                        {"h": batch * heads, "q": length, "k": length, "d": dim}, "bfloat16",
                        flops=4 * batch * heads * length * length * dim))  # fmt: skip
    return rows


def selected(names):
    """The rows whose names hold one of the words; all of them where there is none."""
    return [row for row in all_rows() if not names or any(name in row.name for name in names)]
