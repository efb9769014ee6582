# attention(q: bfloat16[128, 4096, 128], k: bfloat16[128, 4096, 128], v: bfloat16[128, 4096, 128])
# config (as given): {"block_sizes": [128, 128], "indexing": ["pointer", "pointer", "pointer", "pointer"], "l2_groupings": [1], "load_eviction_policies": ["", "", ""], "loop_orders": [[0, 1]], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 8, "pid_type": "flat", "range_flattens": [false], "range_num_stages": [0], "range_unroll_factors": [1], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr):
    pid = tl.program_id(0)
    # 19: for (auto [tile_h, tile_q] : tw::tile({heads, queries}, tw::block_size({1, tw::none}))) {
    pid_h = pid // 32
    pid_q = pid % 32
    offs_q = pid_q * 128 + tl.arange(0, 128)
    cols = tl.arange(0, 128)
    offsets = offs_q[:, None] * 128 + cols[None, :]
    # 20: auto query = q[tile_h, tile_q, tw::_];
    query = tl.load(q_ptr + pid_h * 524288 + offsets)
    # 22: auto total = tw::zeros({tile_h, tile_q});
    total = tl.zeros((128,), tl.float32)
    # 23: auto acc = tw::zeros({tile_h, tile_q, dim});
    acc = tl.zeros((128, 128), tl.float32)
    # 21: auto largest = tw::full({tile_h, tile_q}, -INFINITY);
    largest = tl.full((128,), float("-inf"), tl.float32)
    for start_k in range(0, 4096, 128):
        offs_k = start_k + tl.arange(0, 128)
        offsets_1 = offs_k[:, None] * 128 + cols[None, :]
        # 25: auto scores = tw::dot(query, k[tile_h, tile_k, tw::_].transpose(1, 2)) * scale;
        k = tl.load(k_ptr + pid_h * 524288 + offsets_1)
        product = tl.dot(query, k.T)
        scores = product * 0.088388346
        # 26: auto next = tw::maximum(largest, tw::amax(scores, -1));
        next = tl.maximum(largest, tl.reduce(scores, 1, _maximum), propagate_nan=tl.PropagateNan.ALL)
        # 28: auto fade = tw::exp(largest - next);
        fade = tl.exp(largest - next)
        # 27: auto weights = tw::exp(scores - next.unsqueeze(-1));
        weights = tl.exp(scores - next[:, None])
        # 29: total = total * fade + tw::sum(weights, -1);
        total = total * fade + tl.sum(weights, axis=1)
        # 30: acc = tw::baddbmm(acc * fade.unsqueeze(-1), weights.to(v.dtype()), v[tile_h, tile_k, tw::_]);
        v = tl.load(v_ptr + pid_h * 524288 + offsets_1)
        acc = tl.dot(weights.to(tl.bfloat16), v, acc=acc * fade[:, None])
        largest = next
    # 33: out[tile_h, tile_q, tw::_] = acc / total.unsqueeze(-1);
    tl.store(out_ptr + pid_h * 524288 + offsets, acc / total[:, None])


def attention(q, k, v):
    out = torch.empty((128, 4096, 128), dtype=torch.bfloat16, device=q.device)
    attention_kernel[(4096,)](q, k, v, out, num_warps=8, num_stages=3)
    return out
