# jagged_softmax(x: float32[65536, 256], offsets: int64[512])
# config (as given): {"block_sizes": [256, 16, 16], "load_eviction_policies": ["", "", "last", "first"], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 4, "pid_type": "flat", "range_flattens": [false, false, false], "range_num_stages": [0, 0, 0], "range_unroll_factors": [1, 1, 1], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def jagged_softmax_kernel(x_ptr, offsets_ptr, out_ptr):
    pid = tl.program_id(0)
    # 53: auto begin = offsets[group];
    begin = tl.load(offsets_ptr + pid)
    # 54: auto end = offsets[group + 1];
    end = tl.load(offsets_ptr + pid + 1)
    # 57: auto total = tw::zeros({tile_d});
    total = tl.zeros((256,), tl.float32)
    # 56: auto largest = tw::full({tile_d}, -INFINITY);
    largest = tl.full((256,), float("-inf"), tl.float32)
    cols = tl.arange(0, 256)
    for i in range(begin, end, 16):
        offs_i = i + tl.arange(0, 16)
        # 59: auto values = x[tile, tile_d].to(tw::float32);
        values = tl.load(x_ptr + (offs_i[:, None] * 256 + cols[None, :]), mask=offs_i[:, None] < end, other=float("-inf"), eviction_policy="evict_last")
        # 60: auto next = tw::maximum(largest, tw::amax(values, 0));
        next = tl.maximum(largest, tl.reduce(values, 0, _maximum), propagate_nan=tl.PropagateNan.ALL)
        # 61: total = total * tw::exp(largest - next) + tw::sum(tw::exp(values - next), 0);
        total = total * tl.exp(largest - next) + tl.sum(tl.exp(values - next[None, :]), axis=0)
        largest = next
    for i_1 in range(begin, end, 16):
        offs_i_1 = i_1 + tl.arange(0, 16)
        offsets = offs_i_1[:, None] * 256 + cols[None, :]
        mask = offs_i_1[:, None] < end
        # 64: for (auto tile : tw::tile(begin, end)) out[tile, tile_d] = tw::exp(x[tile, tile_d] - largest) / total;
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0, eviction_policy="evict_first")
        tl.store(out_ptr + offsets, tl.div_rn(tl.exp(x - largest[None, :]), total[None, :]), mask=mask)


def jagged_softmax(x, offsets):
    out = torch.empty((65536, 256), dtype=torch.float32, device=x.device)
    jagged_softmax_kernel[(511,)](x, offsets, out, num_warps=4, num_stages=3)
    return out
