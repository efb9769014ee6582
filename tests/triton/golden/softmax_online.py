# softmax_online(x: bfloat16[256, 131072])
# config (as given): {"block_sizes": [1, 4096, 4096], "indexing": ["pointer", "pointer", "pointer"], "load_eviction_policies": ["last", "first"], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 8, "pid_type": "flat", "range_flattens": [false, false], "range_num_stages": [0, 0], "range_unroll_factors": [1, 1], "static_ranges": [false, false], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def softmax_online_kernel(x_ptr, out_ptr):
    pid = tl.program_id(0)
    # 37: auto total = tw::zeros({tile_m});
    total = 0.0
    # 36: auto largest = tw::full({tile_m}, -INFINITY);
    largest = float("-inf")
    for n in range(0, 131072, 4096):
        offs_n = n + tl.arange(0, 4096)
        # 39: auto values = x[tile_m, tile_n].to(tw::float32);
        value = tl.load(x_ptr + pid * 131072 + offs_n, eviction_policy="evict_last")
        values = value.to(tl.float32)
        # 40: auto next = tw::maximum(largest, tw::amax(values, 1));
        next = tl.maximum(largest, tl.reduce(values, 0, _maximum), propagate_nan=tl.PropagateNan.ALL)
        # 41: total = total * tw::exp(largest - next) + tw::sum(tw::exp(values - next[tw::_, tw::none]), 1);
        total = total * tl.exp(largest - next) + tl.sum(tl.exp(values - next), axis=0)
        largest = next
    for n_1 in range(0, 131072, 4096):
        offs_n_1 = n_1 + tl.arange(0, 4096)
        # 45: auto values = x[tile_m, tile_n].to(tw::float32);
        value_1 = tl.load(x_ptr + pid * 131072 + offs_n_1, eviction_policy="evict_first")
        values_1 = value_1.to(tl.float32)
        # 46: out[tile_m, tile_n] = tw::exp(values - largest[tw::_, tw::none]) / total[tw::_, tw::none];
        tl.store(out_ptr + pid * 131072 + offs_n_1, tl.exp(values_1 - largest) / total)


def softmax_online(x):
    out = torch.empty((256, 131072), dtype=torch.bfloat16, device=x.device)
    softmax_online_kernel[(256,)](x, out, num_warps=8, num_stages=3)
    return out
