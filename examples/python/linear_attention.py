"""Gated linear attention, in chunks (Yang et al., 2024). Each head has a state S[dk, dv], and at step t

    S = diag(exp(g_t)) S + k_t v_t^T,  o_t = q_t S

with gates g <= 0 for each of k's features; here g = log(sigmoid(gate)) / 16. A chunk of steps is two matrix products: with
b = cumsum(g) in the chunk, o = (q exp(b)) S + tril((q exp(b)) (k exp(-b))^T) v, where S is the state before it; after it,
S = diag(exp(b_last)) S + (k exp(b_last - b))^T v.
"""

import torch
import torch.nn.functional as F
from checking import Example, main

import tilewright as tw
import tilewright.language as twl

LONGEST_CHUNK = 64  # steps at most, so that exp(-b) stays in range


@tw.kernel()
def linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
    heads, length, dk = q.size()
    dv = v.size(2)
    out = torch.empty([heads, length, dv], dtype=v.dtype)
    for tile_h, tile_v in twl.tile([heads, dv], block_size=[1, None]):
        head = tile_h.begin
        state = twl.zeros([dk, tile_v])
        for chunk in twl.tile(length, block_size=LONGEST_CHUNK):
            g = F.logsigmoid(gate[head, chunk, :].float()) / 16
            b = g.cumsum(0)
            last = g.sum(0)
            key = k[head, chunk, :].float()
            query = q[head, chunk, :] * torch.exp(b)
            value = v[head, chunk, tile_v].float()
            scores = twl.dot(query, (key * torch.exp(-b)).T)
            seen = chunk.index[:, None] >= chunk.index[None, :]
            out[head, chunk, tile_v] = twl.dot(query, state) + twl.dot(torch.where(seen, scores, 0.0), value)
            state = torch.exp(last)[:, None] * state + twl.dot((key * torch.exp(last - b)).T, value)
    return out


def arguments(large: bool):
    h, t, dk, dv = (8, 1024, 64, 64) if large else (2, 150, 16, 24)
    return torch.randn(h, t, dk), torch.randn(h, t, dk) / dk**0.5, torch.randn(h, t, dv), torch.randn(h, t, dk)


def reference(q, k, v, gate):
    """Step by step."""
    state = torch.zeros(q.size(0), q.size(2), v.size(2))
    out = []
    for t in range(q.size(1)):
        fade = torch.exp(F.logsigmoid(gate[:, t]) / 16)
        state = fade[:, :, None] * state + k[:, t, :, None] * v[:, t, None, :]
        out.append((q[:, t, None, :] @ state)[:, 0])
    return torch.stack(out, 1)


EXAMPLES = [Example(linear_attention, arguments, reference, tolerance={"rtol": 1e-3, "atol": 1e-3})]

if __name__ == "__main__":
    main(EXAMPLES)
