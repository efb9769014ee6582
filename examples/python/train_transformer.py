"""A small transformer, trained on a text that this file makes, with kernels for its norms, rotary positions, attention, gated
MLP and loss, forward and backward; then the same kernels continue a text with it.

    python examples/python/train_transformer.py                 trains, compares with PyTorch, times, and generates
    python examples/python/train_transformer.py --steps 20      fewer steps

The loss at each step is compared with that of the same model of PyTorch's own operations, from the same beginning.
"""

from __future__ import annotations

import argparse
import math
import random
import time

import torch
import torch.nn.functional as F
from losses import cross_entropy
from norms import rms_norm
from transformer_parts import rope, silu_and_multiply

import tilewright as tw
import tilewright.language as twl

#
# Kernels
#


@tw.kernel()
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    """Causal; q, k, v: [heads, length, features]. Also gives the logarithm of each row's sum of powers."""
    heads, length, dim = q.size()
    out = torch.empty_like(q)
    log_sums = torch.empty([heads, length])
    scale = 1 / math.sqrt(dim)
    for tile_h, tile_q in twl.tile([heads, length], block_size=[1, None]):
        head = tile_h.begin
        query = q[head, tile_q, :]
        largest, total, acc = twl.full([tile_q], -math.inf), twl.zeros([tile_q]), twl.zeros([tile_q, dim])
        for tile_k in twl.tile(0, tile_q.end):
            scores = twl.dot(query, k[head, tile_k, :].T) * scale
            scores = torch.where(tile_q.index[:, None] >= tile_k.index[None, :], scores, -math.inf)
            new = torch.maximum(largest, scores.amax(1))
            weights = torch.exp(scores - new[:, None])
            fade = torch.exp(largest - new)
            total = total * fade + weights.sum(1)
            acc = torch.addmm(acc * fade[:, None], weights, v[head, tile_k, :])
            largest = new
        out[head, tile_q, :] = acc / total[:, None]
        log_sums[head, tile_q] = largest + torch.log(total)
    return out, log_sums


def score_gradients(grad, q, k, v, out, log_sums, head, tile_q, tile_k, scale):
    """Weights of attention for a tile of queries and keys, and the gradient of the scores."""
    scores = twl.dot(q[head, tile_q, :], k[head, tile_k, :].T) * scale
    seen = tile_q.index[:, None] >= tile_k.index[None, :]
    weights = torch.where(seen, torch.exp(scores - log_sums[head, tile_q, None]), 0.0)
    along = (grad[head, tile_q, :] * out[head, tile_q, :]).sum(1)
    of_weights = twl.dot(grad[head, tile_q, :], v[head, tile_k, :].T)
    return weights, weights * (of_weights - along[:, None]) * scale


@tw.kernel()
def attention_backward(grad, grad_log_sums, q, k, v, out, log_sums):
    """Queries walk over the keys that they see, for dq; keys over the queries that see them, for dk and dv."""
    heads, length, dim = q.size()
    grad_q, grad_k, grad_v = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    scale = 1 / math.sqrt(dim)
    for tile_h, tile_q in twl.tile([heads, length], block_size=[1, None]):
        head = tile_h.begin
        acc = twl.zeros([tile_q, dim])
        for tile_k in twl.tile(0, tile_q.end):
            _, slope = score_gradients(grad, q, k, v, out, log_sums, head, tile_q, tile_k, scale)
            acc = torch.addmm(acc, slope, k[head, tile_k, :])
        grad_q[head, tile_q, :] = acc
    for tile_h, tile_k in twl.tile([heads, length], block_size=[1, None]):
        head = tile_h.begin
        of_k, of_v = twl.zeros([tile_k, dim]), twl.zeros([tile_k, dim])
        for tile_q in twl.tile(tile_k.begin, length):
            weights, slope = score_gradients(grad, q, k, v, out, log_sums, head, tile_q, tile_k, scale)
            of_v = torch.addmm(of_v, weights.T, grad[head, tile_q, :])
            of_k = torch.addmm(of_k, slope.T, q[head, tile_q, :])
        grad_k[head, tile_k, :], grad_v[head, tile_k, :] = of_k, of_v
    return grad_q, grad_k, grad_v


attention.register_backward(attention_backward, save=lambda inputs, results: (*inputs, *results))


@rope.register_backward
def rope_backward(grad, x, cos, sin):
    """The pairs turned back."""
    return rope(grad, cos, -sin)


@tw.kernel()
def gate_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    m, n = grad.size()
    out = torch.empty_like(x)
    for tile_m, tile_n in twl.tile([m, n]):
        a, b, g = x[tile_m, tile_n], x[tile_m, tile_n + n], grad[tile_m, tile_n]
        s = torch.sigmoid(a)
        out[tile_m, tile_n] = g * b * s * (1 + a * (1 - s))
        out[tile_m, tile_n + n] = g * a * s
    return out


silu_and_multiply.register_backward(gate_backward)


class Kernels:
    rms_norm, rope, gate, cross_entropy = rms_norm, rope, silu_and_multiply, cross_entropy

    def attention(q, k, v):
        return attention(q, k, v)[0]


class PyTorch:
    """The same operations, PyTorch's own."""

    cross_entropy = F.cross_entropy

    def rms_norm(x, weight):
        return F.rms_norm(x, weight.shape, weight, 1e-6)

    def rope(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def gate(x):
        a, b = x.chunk(2, -1)
        return F.silu(a) * b


#
# The model
#


class Block(torch.nn.Module):
    def __init__(self, width: int, heads: int, operations):
        super().__init__()
        self.heads, self.operations = heads, operations
        self.norm1, self.norm2 = (torch.nn.Parameter(torch.ones(width)) for _ in range(2))
        self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)
        self.up = torch.nn.Linear(width, 4 * width, bias=False)
        self.down = torch.nn.Linear(2 * width, width, bias=False)

    def forward(self, x, cos, sin):
        """x: [batch, length, width]"""
        op, (batch, length, width) = self.operations, x.shape
        normal = op.rms_norm(x.reshape(-1, width), self.norm1)
        parts = self.qkv(normal).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts.reshape(3, batch * self.heads, length, width // self.heads).unbind(0)
        seen = op.attention(op.rope(q, cos, sin), op.rope(k, cos, sin), v)
        seen = seen.view(batch, self.heads, length, -1).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(seen)
        normal = op.rms_norm(x.reshape(-1, width), self.norm2)
        return x + self.down(op.gate(self.up(normal))).view_as(x)


class Transformer(torch.nn.Module):
    def __init__(self, letters: int, width: int, heads: int, blocks: int, length: int, operations):
        super().__init__()
        self.operations = operations
        self.embedding = torch.nn.Embedding(letters, width)
        self.blocks = torch.nn.ModuleList(Block(width, heads, operations) for _ in range(blocks))
        self.norm = torch.nn.Parameter(torch.ones(width))
        self.head = torch.nn.Linear(width, letters, bias=False)
        half = width // heads // 2
        angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(half) / half)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def forward(self, ids):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(self.operations.rms_norm(x.reshape(-1, x.size(-1)), self.norm))

    def loss(self, ids):
        logits = self(ids[:, :-1])
        return self.operations.cross_entropy(logits, ids[:, 1:].reshape(-1))


#
# Text, training, generation
#

LETTERS = "0123456789+= .\n"


def text(lines: int) -> str:
    """Sums, such as "17 + 5 = 22."."""
    chance = random.Random(0)
    pairs = [(chance.randrange(100), chance.randrange(100)) for _ in range(lines)]
    return "".join(f"{a} + {b} = {a + b}.\n" for a, b in pairs)


def batches(steps: int, batch: int, length: int):
    data = torch.tensor([LETTERS.index(letter) for letter in text(4000)])
    chance = torch.Generator().manual_seed(0)
    for _ in range(steps):
        begins = torch.randint(0, len(data) - length - 1, (batch,), generator=chance)
        yield torch.stack([data[b : b + length + 1] for b in begins.tolist()])


def make_model(operations, length: int, seed: int = 0) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(len(LETTERS), 64, 4, 2, length, operations)


def train(model, steps: int, batch: int, length: int, loss_of=None):
    """Losses, and the median time of a step in seconds."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss_of = loss_of or model.loss
    losses, times = [], []
    for ids in batches(steps, batch, length):
        begin = time.perf_counter()
        loss = loss_of(ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - begin)
        losses.append(loss.item())
    return losses, sorted(times)[len(times) // 2]


@torch.no_grad()
def generate(model, begin: str, letters: int, length: int) -> str:
    """The most likely letters after a beginning. All calls have one shape: what is after the last letter is not seen by it."""
    ids = [LETTERS.index(letter) for letter in begin]
    for _ in range(letters):
        window = ids[-length:]
        logits = model(torch.tensor([window + [0] * (length - len(window))]))
        ids.append(int(logits[len(window) - 1].argmax()))
    return "".join(LETTERS[i] for i in ids)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=128)
    options = parser.parse_args()
    sizes = options.steps, options.batch, options.length

    ours = make_model(Kernels, options.length)
    next_to = make_model(PyTorch, options.length)
    losses, seconds = train(ours, *sizes)
    expected, eager_seconds = train(next_to, *sizes)
    compiled = make_model(PyTorch, options.length)
    _, compiled_seconds = train(compiled, *sizes, loss_of=torch.compile(compiled.loss))

    for step in range(0, options.steps, max(options.steps // 10, 1)):
        print(f"step {step:4}: loss {losses[step]:.4f}, PyTorch's {expected[step]:.4f}")
    worst = max(abs(a - b) / b for a, b in zip(losses, expected))
    print(f"the losses differ by at most {worst:.1e} of their value")
    print(f"a step: {seconds * 1e3:.1f} ms; {eager_seconds / seconds:.2f}x eager ({eager_seconds * 1e3:.1f} ms), "
          f"{compiled_seconds / seconds:.2f}x torch.compile ({compiled_seconds * 1e3:.1f} ms)")
    print(generate(ours, "1 + 2 = 3.\n12 + 30 = ", 12, options.length))


if __name__ == "__main__":
    main()
