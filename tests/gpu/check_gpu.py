"""Checks, on a machine with an NVIDIA GPU, that kernels called with CUDA tensors are right, and what a launch costs.

    PYTHONPATH=build/python python tests/gpu/check_gpu.py

Prints a line for each check and ends with the number of failures as its status. Needs PyTorch with CUDA, and Triton.
"""

import sys
import time
import traceback

import torch
import torch.nn.functional as F

import tilewright as tw
import tilewright.language as twl

tw.set_default_settings(autotune_effort="none")
CUDA = "cuda"


@tw.kernel()
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] + y[tile]
    return out


@tw.kernel()
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] * factor
    return out


@tw.kernel()
def softmax(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    for tile in twl.tile(m):
        out[tile, :] = torch.softmax(x[tile, :], dim=1)
    return out


@tw.kernel()
def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.empty_like(x)
    for tile in twl.tile(m):
        row = x[tile, :].to(torch.float32)
        centred = row - row.mean(-1, keepdim=True)
        normal = centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
        out[tile, :] = normal * weight[:] + bias[:]
    return out


@tw.kernel()
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    k2, n = y.size()
    assert k == k2, f"inner sizes differ: {k} and {k2}"
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in twl.tile([m, n]):
        acc = twl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in twl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = acc
    return out


@tw.kernel()
def double_in_place(x: torch.Tensor) -> torch.Tensor:
    for tile in twl.tile(x.size(0)):
        x[tile] = 2 * x[tile]
    return x


@tw.kernel()
def row_sums(x: torch.Tensor) -> torch.Tensor:
    m, n = x.size()
    out = torch.zeros([m], dtype=torch.float32, device=x.device)
    for tile_m, tile_n in twl.tile([m, n]):
        twl.atomic_add(out, [tile_m], x[tile_m, tile_n].sum(1))
    return out


def normal(*sizes, dtype=torch.float32):
    return torch.randn(sizes, device=CUDA).to(dtype)


def close(found, expected, **tolerance):
    assert found.device == expected.device
    torch.testing.assert_close(found, expected, **tolerance)


#
# Checks
#


def check_add():
    for n in (1, 1000, 1 << 20):
        x, y = normal(n), normal(n)
        for _ in range(3):  # the first by Triton's launcher, later ones by the driver's call
            close(add(x, y), x + y)


def check_layouts():
    base = normal(64, 100)
    for x in (base.t()[:, 0], base[1, ::3], base[0, 1:], base[0, :1].expand(77)):
        y = torch.randn_like(x.contiguous())
        for _ in range(2):
            close(add(x, y), x + y)


def check_numbers():
    x = normal(1000)
    for factor in (2.0, 3.5, 1.0):
        close(scale(x, factor), x * factor)


def check_rows():
    x = normal(300, 1000)
    close(softmax(x), torch.softmax(x, 1))
    weight, bias = normal(1000), normal(1000)
    close(layer_norm(x, weight, bias), F.layer_norm(x, [1000], weight, bias), rtol=1e-4, atol=1e-5)


def check_matmul():
    for dtype, tolerance in ((torch.bfloat16, 2e-2), (torch.float16, 5e-3)):
        x, y = normal(500, 300, dtype=dtype), normal(300, 200, dtype=dtype)
        for _ in range(2):
            close(matmul(x, y), x @ y, rtol=tolerance, atol=tolerance * 20)


def check_stores_and_fills():
    x = normal(1000)
    before = x.clone()
    for _ in range(2):
        assert double_in_place(x) is x
    close(x, 4 * before)
    x = normal(100, 200)
    for _ in range(2):
        close(row_sums(x), x.sum(1), rtol=1e-4, atol=1e-4)


def check_streams():
    x = normal(1 << 20)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = add(x, x)
        for _ in range(10):
            y = add(y, x)
    torch.cuda.current_stream().wait_stream(stream)
    close(y, 12 * x)


def check_cuda_graphs():
    x = normal(1000)
    for _ in range(3):
        add(x, x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = add(add(x, x), x)
    x.copy_(normal(1000))
    graph.replay()
    torch.cuda.synchronize()
    close(out, 3 * x)


def check_configs():
    x = normal(1000)
    bound = add.bind((x, x))
    for block in (64, 256, 1024):
        kernel = bound.compile_config(tw.Config(block_sizes=[block], num_warps=2))
        for _ in range(2):
            close(kernel(x, x), 2 * x)
    assert "@triton.jit" in bound.to_code(stage="triton")


def check_refusals():
    x = normal(10)
    for arguments in ((x, x.cpu()), (x, torch.ones(10).numpy())):
        try:
            add(*arguments)
        except tw.Error as error:
            print("   ", error)
        else:
            raise AssertionError("was not refused")


def check_torch_compile():
    x = normal(1000)
    compiled = torch.compile(lambda x: add(x.sin(), x) * 2, fullgraph=True)
    close(compiled(x), (x.sin() + x) * 2)


BARE_LAUNCH = r"""
#include <time.h>
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
double launch(void* function, unsigned grid, unsigned threads, unsigned shared, void* stream, void** parameters, int count) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < count; ++i)
    if (cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, shared, stream, parameters, 0)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec)) / count;
}
"""


def bare_launch(x):
    """The driver's launch call alone, of the same kernel, from a loop in C; seconds of one."""
    import ctypes
    import importlib.util
    import subprocess
    import tempfile

    folder = tempfile.mkdtemp()
    with open(f"{folder}/launch.c", "w") as file:
        file.write(BARE_LAUNCH)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"{folder}/launch.c", "-o", f"{folder}/launch.so"], check=True)
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    launch = ctypes.CDLL(f"{folder}/launch.so").launch
    launch.restype = ctypes.c_double
    bound = tw.kernel(add.fn).bind((x, x))
    with open(f"{folder}/kernel.py", "w") as file:
        file.write(bound.to_code(stage="triton"))
    spec = importlib.util.spec_from_file_location("bare_kernel", f"{folder}/kernel.py")
    module = sys.modules["bare_kernel"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = torch.empty_like(x)
    kernel = module.add_kernel
    module.add_kernel = Launched(kernel)
    module.add(x, x)
    grid, compiled = module.add_kernel.grid, module.add_kernel.compiled
    pointers = [ctypes.c_uint64(value) for value in (x.data_ptr(), x.data_ptr(), out.data_ptr(), 0, 0)]
    parameters = (ctypes.c_void_p * 5)(*(ctypes.addressof(each) for each in pointers))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    best = float("inf")
    for _ in range(50):
        torch.cuda.synchronize()
        best = min(best, launch(ctypes.c_void_p(compiled.function), grid[0], 32 * compiled.metadata.num_warps,
                                compiled.metadata.shared, stream, parameters, 200))
    return best


class Launched:
    """A kernel whose launch is noted."""

    def __init__(self, kernel):
        self._kernel = kernel

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            self.grid, self.compiled = grid, self._kernel[grid](*args, **kwargs)

        return launch


def check_overhead():
    """What a cached call costs, beside torch.add and the driver's launch call alone."""
    x = normal(1024)
    fresh = tw.kernel(add.fn)  # whose host part is no Python, as for the layouts above
    a, b, c = (normal(256, 256, dtype=torch.bfloat16) for _ in range(3))
    described = matmul.with_config(tw.Config(block_sizes=[64, 64, 64], indexing="tensor_descriptor"))
    close(described(a, b), a @ b, rtol=2e-2, atol=0.4)
    close(described(c, b), c @ b, rtol=2e-2, atol=0.4)  # by the driver's call, elsewhere in memory
    rows = {"tilewright add": lambda: fresh(x, x), "tensor maps": lambda: described(a, b), "torch.add": lambda: torch.add(x, x),
            "torch.empty": lambda: torch.empty((1024,), dtype=torch.float32, device=CUDA)}
    bare = bare_launch(x)
    print(f"    {'bare launch':16} {bare * 1e6:6.2f} us of host time")
    for name, function in rows.items():
        best = float("inf")
        for _ in range(50):
            function()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(200):
                function()
            best = min(best, (time.perf_counter() - begin) / 200)
            torch.cuda.synchronize()
        print(f"    {name:16} {best * 1e6:6.2f} us of host time, {(best - bare) * 1e6:+.2f} us above the bare launch")


def main() -> int:
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {sys.version.split()[0]}")
    failures = 0
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        begin = time.perf_counter()
        try:
            check()
            torch.cuda.synchronize()
        except Exception:  # the next check may still say something
            failures += 1
            print(f"FAILED {name}")
            traceback.print_exc()
        else:
            print(f"ok     {name} ({time.perf_counter() - begin:.1f} s)")
    print(f"{failures} failed")
    return failures


if __name__ == "__main__":
    sys.exit(main())
