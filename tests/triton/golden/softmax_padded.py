# softmax(x: float32[4096, 1000])
# config (as given): {"block_sizes": [4], "indexing": ["pointer", "pointer"], "load_eviction_policies": [""], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 4, "pid_type": "flat", "reduction_loops": [null], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    offs = pid * 4 + tl.arange(0, 4)
    cols = tl.arange(0, 1024)
    offsets = offs[:, None] * 1000 + cols[None, :]
    mask = cols[None, :] < 1000
    # 15: for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
    x = tl.load(x_ptr + offsets, mask=mask, other=float("-inf"))
    exps = tl.exp(x - tl.max(x, axis=1)[:, None])
    tl.store(out_ptr + offsets, tl.div_rn(exps, tl.sum(exps, axis=1)[:, None]), mask=mask)


def softmax(x):
    out = torch.empty((4096, 1000), dtype=torch.float32, device=x.device)
    softmax_kernel[(1024,)](x, out, num_warps=4)
    return out
