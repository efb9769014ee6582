# matmul(x: bfloat16[4096, 4096], y: bfloat16[4096, 4096])
# config (as given): {"block_sizes": [128, 256, 64], "indexing": ["tensor_descriptor", "tensor_descriptor", "tensor_descriptor"], "l2_groupings": [8], "load_eviction_policies": ["", ""], "loop_orders": [[0, 1]], "maxnreg": null, "num_sm_multiplier": 1, "num_stages": 3, "num_warps": 8, "pid_type": "persistent_interleaved", "range_flattens": [true], "range_num_stages": [0], "range_unroll_factors": [1], "static_ranges": [false], "store_eviction_policies": [""]}
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul_kernel(x_desc, y_desc, out_desc):
    pid = tl.program_id(0)
    for tile_id in tl.range(pid, 512, tl.num_programs(0), flatten=True):
        # 16: for (auto [tile_m, tile_n] : tw::tile({m, n})) {
        first_row = tile_id // 128 * 8
        pid_m = first_row + tile_id % 8
        pid_n = tile_id % 128 // 8
        # 17: auto acc = tw::zeros({tile_m, tile_n}, tw::float32);
        acc = tl.zeros((128, 256), tl.float32)
        for k in range(0, 4096, 64):
            # 18: for (auto tile_k : tw::tile(k)) acc = tw::addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n]);
            x = x_desc.load([pid_m * 128, k])
            y = y_desc.load([k, pid_n * 256])
            acc = tl.dot(x, y, acc=acc)
        # 19: out[tile_m, tile_n] = epilogue(acc, tile_n);
        out_desc.store([pid_m * 128, pid_n * 256], acc.to(tl.bfloat16))


def matmul(x, y):
    out = torch.empty((4096, 4096), dtype=torch.bfloat16, device=x.device)
    multiprocessors = torch.cuda.get_device_properties(x.device).multi_processor_count
    x_desc = TensorDescriptor.from_tensor(x, [128, 64])
    y_desc = TensorDescriptor.from_tensor(y, [64, 256])
    out_desc = TensorDescriptor.from_tensor(out, [128, 256])
    matmul_kernel[(multiprocessors,)](x_desc, y_desc, out_desc, num_warps=8, num_stages=3)
    return out
