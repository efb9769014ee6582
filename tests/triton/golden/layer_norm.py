# layer_norm(x: bfloat16[8192, 4096], weight: bfloat16[4096], bias: bfloat16[4096], eps: float32)
# config (as given): {"block_sizes": [1], "indexing": ["pointer", "pointer", "pointer", "pointer"], "load_eviction_policies": ["", "", ""], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 4, "pid_type": "flat", "reduction_loops": [null], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, eps: tl.float32, out_ptr):
    pid = tl.program_id(0)
    cols = tl.arange(0, 4096)
    # 22: auto values = x[tile, tw::_].to(tw::float32);
    values = tl.load(x_ptr + pid * 4096 + cols).to(tl.float32)
    # 23: auto centered = values - tw::mean(values, 1, /*keepdim=*/true);
    centered = values - tl.sum(values, axis=0) * 0.00024414062
    # 25: out[tile, tw::_] = centered * tw::rsqrt(variance + eps) * weight[tw::_] + bias[tw::_];
    weight = tl.load(weight_ptr + cols).to(tl.float32)
    bias = tl.load(bias_ptr + cols).to(tl.float32)
    value = tl.rsqrt(tl.sum(centered * centered, axis=0) * 0.00024414062 + eps)
    tl.store(out_ptr + pid * 4096 + cols, centered * value * weight + bias)


def layer_norm(x, weight, bias, eps):
    out = torch.empty((8192, 4096), dtype=torch.bfloat16, device=x.device)
    layer_norm_kernel[(8192,)](x, weight, bias, eps, out, num_warps=4)
    return out
