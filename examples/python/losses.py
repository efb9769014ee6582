"""Losses over rows of logits, without their softmax in memory. With p = softmax(x) and q = softmax(y):

cross entropy          log(sum(exp(x))) - x[target], and its gradient (p - one_hot(target)) g
KL divergence          KL(p, q) = sum(p (log p - log q))
Jensen-Shannon         (KL(p, m) + KL(q, m)) / 2 with m = (p + q) / 2
"""

import math

import torch
import torch.nn.functional as F
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean over rows, which PyTorch takes after the loop."""
    m, n = logits.size()
    assert target.size(0) == m, f"there are {m} rows and {target.size(0)} targets"
    loss = torch.empty([m])
    for tile in twl.tile(m):
        values = logits[tile, :].float()
        chosen = torch.gather(values, 1, target[tile, None])
        loss[tile] = torch.logsumexp(values, 1) - chosen.squeeze(1)
    return loss.mean()


@tw.kernel()
def cross_entropy_backward(grad: torch.Tensor, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    m, n = logits.size()
    share = grad / m
    out = torch.empty_like(logits)
    for tile in twl.tile(m):
        chances = torch.softmax(logits[tile, :].float(), 1)
        hit = twl.arange(n)[None, :] == target[tile, None]
        out[tile, :] = (chances - hit.float()) * share[()]
    return out


cross_entropy.register_backward(cross_entropy_backward)


@tw.kernel()
def kl_divergence(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0)])
    for tile in twl.tile(x.size(0)):
        log_p, log_q = F.log_softmax(x[tile, :].float(), 1), F.log_softmax(y[tile, :].float(), 1)
        out[tile] = (torch.exp(log_p) * (log_p - log_q)).sum(1)
    return out


@tw.kernel()
def js_divergence(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0)])
    for tile in twl.tile(x.size(0)):
        log_p, log_q = F.log_softmax(x[tile, :].float(), 1), F.log_softmax(y[tile, :].float(), 1)
        log_mean = torch.logaddexp(log_p, log_q) - math.log(2)
        out[tile] = (torch.exp(log_p) * (log_p - log_mean) + torch.exp(log_q) * (log_q - log_mean)).sum(1) / 2
    return out


def with_targets(large: bool):
    m, n = (2048, 8192) if large else (40, 130)
    return torch.randn(m, n), torch.randint(0, n, (m,))


def gradient(kernel):
    def differentiated(logits, target):
        with torch.enable_grad():
            leaf = logits.detach().requires_grad_()
            kernel(leaf, target).backward()
        return leaf.grad

    return differentiated


def pairs(large: bool):
    m, n = (2048, 4096) if large else (40, 130)
    return torch.randn(m, n), torch.randn(m, n)


def kl_reference(x, y):
    return F.kl_div(F.log_softmax(y, 1), F.log_softmax(x, 1), reduction="none", log_target=True).sum(1)


def js_reference(x, y):
    log_p, log_q = F.log_softmax(x, 1), F.log_softmax(y, 1)
    mean = torch.log((log_p.exp() + log_q.exp()) / 2)
    return ((log_p.exp() * (log_p - mean)).sum(1) + (log_q.exp() * (log_q - mean)).sum(1)) / 2


EXAMPLES = [
    Example(cross_entropy, with_targets, F.cross_entropy),
    Example(gradient(cross_entropy), with_targets, gradient(F.cross_entropy), name="cross_entropy_by_autograd"),
    Example(kl_divergence, pairs, kl_reference),
    Example(js_divergence, pairs, js_reference),
]

if __name__ == "__main__":
    main(EXAMPLES)
