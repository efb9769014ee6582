"""Attention, without ever holding the whole matrix of scores: for a tile of queries, keys and values are walked in tiles,
and the softmax is kept up to date on the way (Dao et al., "FlashAttention", 2022).

attention           every query sees every key
causal_attention    query i sees keys 0 to i
modified_attention  as the caller's modify(score, head, query, key) says, of tensors that broadcast: ALiBi, a soft cap
"""

import math
from typing import Callable

import torch
import torch.nn.functional as F
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


def softmax_step(state, scores, values):
    """The online softmax over the keys so far, and then these."""
    largest, total, acc = state
    new = torch.maximum(largest, scores.amax(-1))
    weights = torch.exp(scores - new[:, None])
    fade = torch.exp(largest - new)
    return new, total * fade + weights.sum(-1), torch.addmm(acc * fade[:, None], weights.to(values.dtype), values)


def softmax_begin(tile_q, dim):
    return twl.full([tile_q], -math.inf), twl.zeros([tile_q]), twl.zeros([tile_q, dim])


@tw.kernel()
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """q, k, v: [..., heads, length, features]"""
    length, dim = q.shape[-2:]
    queries, keys, values = (x.reshape(-1, x.size(-2), dim) for x in (q, k, v))
    out = torch.empty_like(queries)
    for tile_h, tile_q in twl.tile([queries.size(0), length], block_size=[1, None]):
        head = tile_h.begin
        query = queries[head, tile_q, :]
        state = softmax_begin(tile_q, dim)
        for tile_k in twl.tile(keys.size(1)):
            scores = twl.dot(query, keys[head, tile_k, :].T) / math.sqrt(dim)
            state = softmax_step(state, scores, values[head, tile_k, :])
        _, total, acc = state
        out[head, tile_q, :] = acc / total[:, None]
    return out.view(q.shape)


@tw.kernel()
def causal_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    heads, length, dim = q.size()
    assert k.size(1) == length, f"there are {length} queries and {k.size(1)} keys"
    out = torch.empty_like(q)
    for tile_h, tile_q in twl.tile([heads, length], block_size=[1, None]):
        head = tile_h.begin
        query = q[head, tile_q, :]
        state = softmax_begin(tile_q, dim)
        for tile_k in twl.tile(0, tile_q.end):  # no later key is seen by any of these queries
            scores = twl.dot(query, k[head, tile_k, :].T) / math.sqrt(dim)
            seen = tile_q.index[:, None] >= tile_k.index[None, :]
            state = softmax_step(state, torch.where(seen, scores, -math.inf), v[head, tile_k, :])
        _, total, acc = state
        out[head, tile_q, :] = acc / total[:, None]
    return out


@tw.kernel()
def modified_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, modify: Callable) -> torch.Tensor:
    heads, length, dim = q.size()
    out = torch.empty_like(q)
    for tile_h, tile_q in twl.tile([heads, length], block_size=[1, None]):
        head = tile_h.begin
        query = q[head, tile_q, :]
        state = softmax_begin(tile_q, dim)
        for tile_k in twl.tile(k.size(1)):
            scores = twl.dot(query, k[head, tile_k, :].T) / math.sqrt(dim)
            modified = modify(scores, head, tile_q.index[:, None], tile_k.index[None, :])
            state = softmax_step(state, modified, v[head, tile_k, :])
        _, total, acc = state
        out[head, tile_q, :] = acc / total[:, None]
    return out


def alibi(score, head, query, key):
    """Nearer keys count more (Press et al., 2022)."""
    return score + torch.exp2(-(head + 1).float()) * (key - query)


def soft_cap(cap: float):
    return lambda score, head, query, key: torch.tanh(score / cap) * cap


def heads(large: bool):
    h, t, d = (16, 1024, 64) if large else (3, 70, 16)
    return tuple(torch.randn(h, t, d) for _ in range(3))


def batch_of_heads(large: bool):
    return tuple(x.reshape(1, *x.shape).repeat(2, 1, 1, 1) for x in heads(large))


def causal_reference(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def modified_reference(q, k, v, modify):
    index = torch.arange(q.size(1))
    head = torch.arange(q.size(0))[:, None, None]
    scores = modify(q @ k.transpose(1, 2) / math.sqrt(q.size(2)), head, index[:, None], index[None, :])
    return torch.softmax(scores, -1) @ v


EXAMPLES = [
    Example(attention, batch_of_heads, F.scaled_dot_product_attention),
    Example(causal_attention, heads, causal_reference),
    Example(modified_attention, lambda large: (*heads(large), alibi), modified_reference, name="alibi_attention"),
    Example(modified_attention, lambda large: (*heads(large), soft_cap(5.0)), modified_reference, name="soft_cap_attention"),
]

if __name__ == "__main__":
    main(EXAMPLES)
