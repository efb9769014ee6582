"""Arguments, right results and PyTorch's ways for the kernel of a row."""

import importlib.util
import math

import torch
import torch.nn.functional as F


def load(folder, candidate):
    spec = importlib.util.spec_from_file_location(candidate["file"].replace("/", "_")[:-3], folder / candidate["file"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, candidate["kernel"])


def arguments_of(row, device):
    """Random ones. On the CPU, for compiling, of no particular values."""
    kernel, sizes, dtype = row["candidates"][0]["kernel"], row["sizes"], getattr(torch, row["dtype"])
    if device == "cpu":
        make = lambda *shape: torch.empty(shape, dtype=dtype)  # noqa: E731
    else:
        torch.manual_seed(0)
        make = lambda *shape: torch.randn(shape, dtype=dtype, device=device)  # noqa: E731
    if kernel == "add":
        return [make(sizes["n"]), make(sizes["n"])]
    if kernel in ("softmax", "softmax_online"):
        return [make(sizes["m"], sizes["n"])]
    if kernel == "layer_norm":
        return [make(sizes["m"], sizes["n"]), make(sizes["n"]), make(sizes["n"]), 1e-5]
    if kernel == "rms_norm":
        return [make(sizes["m"], sizes["n"]), make(sizes["n"]), 1e-5]
    if kernel == "cross_entropy":
        target = torch.randint(0, sizes["n"], (sizes["m"],), device=device) if device != "cpu" else torch.empty(sizes["m"], dtype=torch.int64)
        return [make(sizes["m"], sizes["n"]), target]
    if kernel == "silu_and_multiply":
        return [make(sizes["m"], sizes["n2"])]
    if kernel == "matmul":
        return [make(sizes["m"], sizes["k"]), make(sizes["k"], sizes["n"])]
    if kernel == "attention":
        return [make(sizes["h"], sizes["q"], sizes["d"])] + [make(sizes["h"], sizes["k"], sizes["d"]) for _ in range(2)]
    raise ValueError(f"no arguments are known for {kernel}")


def half(x):
    return x.shape[-1] // 2


def function_of(row):
    """The row's work in PyTorch."""
    kernel = row["candidates"][0]["kernel"]
    return {
        "add": lambda x, y: x + y,
        "softmax": lambda x: torch.softmax(x, -1),
        "softmax_online": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x, w, b, eps: F.layer_norm(x, (x.shape[-1],), w, b, eps),
        "rms_norm": lambda x, w, eps: F.rms_norm(x, (x.shape[-1],), w, eps),
        "cross_entropy": lambda x, t: F.cross_entropy(x, t, reduction="none"),
        "silu_and_multiply": lambda x: F.silu(x[:, : half(x)]) * x[:, half(x) :],
        "matmul": lambda x, y: x @ y,
        "attention": lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None])[0],
    }[kernel]


def expected_of(row, arguments):
    """In float32; of a few rows where the whole would be too much."""
    wide = [a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in arguments]
    kernel = row["candidates"][0]["kernel"]
    if kernel == "matmul":
        return wide[0][:256] @ wide[1]
    if kernel == "attention":
        q, k, v = (a[:4] for a in wide)
        return torch.softmax(q[:, :256] @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), -1) @ v
    return function_of(row)(*wide)


def part_of(row, result):
    """What expected_of computes of the result."""
    kernel = row["candidates"][0]["kernel"]
    if kernel == "matmul":
        return result[:256]
    return result[:4, :256] if kernel == "attention" else result


def error_of(row, result, expected):
    """Of the norm; NaN counts as wrong."""
    found = part_of(row, result[0] if isinstance(result, tuple) else result).float()
    if found.shape != expected.shape:
        return math.inf
    error = ((found - expected).norm() / expected.norm()).item()
    return error if error == error else math.inf


def allowed_error(row):
    """Twice the rounding of the results' type, and as much again for attention's rounded weights."""
    if row["dtype"] == "float32":
        return 1e-6
    return 1e-2 if row["candidates"][0]["kernel"] == "attention" else 4e-3


def peers_of(row, arguments, which):
    """Name and call for each of PyTorch's ways, and a copy of the same bytes."""
    function = function_of(row)
    kernel = row["candidates"][0]["kernel"]
    peers = {}
    if which == "none":
        return peers
    torch.backends.cuda.matmul.allow_tf32 = False
    if kernel == "attention":
        q, k, v = (a.view(row_shape(row)) for a in arguments)
        for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION"):
            peers[backend.split("_")[0].lower()] = sdpa(backend, q, k, v)
    else:
        peers["eager"] = lambda: function(*arguments)
    if which == "all" and kernel != "attention":
        compiled = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)
        peers["compile"] = lambda: compiled(*arguments)
    if row["bytes"]:
        source = torch.empty(row["bytes"] // 2, dtype=torch.uint8, device="cuda").random_(0, 255)
        target = torch.empty_like(source)
        peers["copy of the bytes"] = lambda: target.copy_(source)
    return peers


def row_shape(row):
    batch, heads, length, dim = (int(part) for part in row["name"].split()[-1].split("x"))
    return batch, heads, length, dim


def sdpa(backend, q, k, v):
    def call():
        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, backend)):
            return F.scaled_dot_product_attention(q, k, v)

    return call
