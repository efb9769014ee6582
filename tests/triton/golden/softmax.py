# softmax(x: bfloat16[4096, 8192])
# config (as given): {"block_sizes": [1], "indexing": ["pointer", "pointer"], "load_eviction_policies": [""], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 8, "pid_type": "flat", "reduction_loops": [null], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    cols = tl.arange(0, 8192)
    # 15: for (auto tile : tw::tile(x.size(0))) out[tile, tw::_] = tw::softmax(x[tile, tw::_], 1);
    x = tl.load(x_ptr + pid * 8192 + cols).to(tl.float32)
    exps = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + pid * 8192 + cols, exps / tl.sum(exps, axis=0))


def softmax(x):
    out = torch.empty((4096, 8192), dtype=torch.bfloat16, device=x.device)
    softmax_kernel[(4096,)](x, out, num_warps=8)
    return out
