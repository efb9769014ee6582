# matmul(x: bfloat16[4096, 4096], y: bfloat16[4096, 4096])
# config (as given): {"block_sizes": [128, 256, 64], "indexing": ["pointer", "pointer", "pointer"], "l2_groupings": [8], "load_eviction_policies": ["", ""], "loop_orders": [[0, 1]], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 8, "pid_type": "flat", "range_flattens": [false], "range_num_stages": [0], "range_unroll_factors": [1], "static_ranges": [false], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(x_ptr, y_ptr, out_ptr):
    pid = tl.program_id(0)
    # 16: for (auto [tile_m, tile_n] : tw::tile({m, n})) {
    first_row = pid // 128 * 8
    pid_m = first_row + pid % 8
    pid_n = pid % 128 // 8
    # 17: auto acc = tw::zeros({tile_m, tile_n}, tw::float32);
    acc = tl.zeros((128, 256), tl.float32)
    offs_m = pid_m * 128 + tl.arange(0, 128)
    offs_n = pid_n * 256 + tl.arange(0, 256)
    for k in range(0, 4096, 64):
        offs_k = k + tl.arange(0, 64)
        # 18: for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
        x = tl.load(x_ptr + (offs_m[:, None] * 4096 + offs_k[None, :]))
        y = tl.load(y_ptr + (offs_k[:, None] * 4096 + offs_n[None, :]))
        acc = tl.dot(x, y, acc=acc)
    # 19: out[tile_m, tile_n] = epilogue(acc, tile_n);
    tl.store(out_ptr + (offs_m[:, None] * 4096 + offs_n[None, :]), acc)


def matmul(x, y):
    out = torch.empty((4096, 4096), dtype=torch.bfloat16, device=x.device)
    matmul_kernel[(512,)](x, y, out, num_warps=8, num_stages=3)
    return out
