# add(x: float32[16777216], y: float32[16777216])
# config (as given): {"block_sizes": [1024], "indexing": ["pointer", "pointer", "pointer"], "load_eviction_policies": ["", ""], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 4, "pid_type": "flat", "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr):
    pid = tl.program_id(0)
    offs = pid * 1024 + tl.arange(0, 1024)
    # 12: for (auto tile : tw::tile(n)) out[tile] = x[tile] + y[tile];
    x = tl.load(x_ptr + offs)
    y = tl.load(y_ptr + offs)
    tl.store(out_ptr + offs, x + y)


def add(x, y):
    out = torch.empty((16777216,), dtype=torch.float32, device=x.device)
    add_kernel[(16384,)](x, y, out, num_warps=4)
    return out
