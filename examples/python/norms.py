"""Layer normalisation and root-mean-square normalisation over rows, forward and backward, as functions of PyTorch.

With r = 1 / sqrt(variance + eps), z = (x - mean) r, y = z weight + bias, and the gradient g of y, s = g weight:

    dx = r (s - mean(s) - z mean(s z)),  dweight = sum over rows of g z,  dbias = sum over rows of g

and without the means for rms_norm, where r = 1 / sqrt(mean(x^2) + eps).
"""

import torch
import torch.nn.functional as F
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


@tw.kernel()
def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    m, n = x.size()
    assert weight.size(0) == n and bias.size(0) == n, f"rows have {n} elements"
    out = torch.empty_like(x)
    for tile in twl.tile(m):
        values = x[tile, :].float()
        centered = values - values.mean(1, keepdim=True)
        variance = (centered * centered).mean(1, keepdim=True)
        out[tile, :] = centered * torch.rsqrt(variance + eps) * weight[:] + bias[:]
    return out


@tw.kernel()
def layer_norm_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5):
    """Rows give dx; then, with each row's mean and scale at hand, columns give the rest."""
    m, n = x.size()
    grad_x, grad_weight, grad_bias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(bias)
    means, scales = torch.empty([m]), torch.empty([m])
    for tile in twl.tile(m):
        variance, mean = torch.var_mean(x[tile, :].float(), dim=1, correction=0)
        scale = torch.rsqrt(variance + eps)
        normal = (x[tile, :] - mean[:, None]) * scale[:, None]
        slope = grad[tile, :].float() * weight[:]
        along = (slope * normal).mean(1, keepdim=True)
        grad_x[tile, :] = scale[:, None] * (slope - slope.mean(1, keepdim=True) - normal * along)
        means[tile], scales[tile] = mean, scale
    twl.barrier()
    for tile_n in twl.tile(n):
        weight_total, bias_total = twl.zeros([tile_n]), twl.zeros([tile_n])
        for tile_m in twl.tile(m):
            slope = grad[tile_m, tile_n].float()
            normal = (x[tile_m, tile_n] - means[tile_m, None]) * scales[tile_m, None]
            weight_total += (slope * normal).sum(0)
            bias_total += slope.sum(0)
        grad_weight[tile_n], grad_bias[tile_n] = weight_total, bias_total
    return grad_x, grad_weight, grad_bias


@tw.kernel()
def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    m, n = x.size()
    assert weight.size(0) == n, f"weight has {weight.size(0)} elements for rows of {n}"
    out = torch.empty_like(x)
    for tile in twl.tile(m):
        values = x[tile, :].float()
        out[tile, :] = values * torch.rsqrt((values * values).mean(1, keepdim=True) + eps) * weight[:]
    return out


@tw.kernel()
def rms_norm_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6):
    m, n = x.size()
    grad_x, grad_weight = torch.empty_like(x), torch.empty_like(weight)
    scales = torch.empty([m])
    for tile in twl.tile(m):
        values = x[tile, :].float()
        scale = torch.rsqrt((values * values).mean(1, keepdim=True) + eps)
        normal = values * scale
        slope = grad[tile, :].float() * weight[:]
        grad_x[tile, :] = scale * (slope - normal * (slope * normal).mean(1, keepdim=True))
        scales[tile] = scale.squeeze(1)
    twl.barrier()
    for tile_n in twl.tile(n):
        total = twl.zeros([tile_n])
        for tile_m in twl.tile(m):
            total += (grad[tile_m, tile_n] * (x[tile_m, tile_n] * scales[tile_m, None])).sum(0)
        grad_weight[tile_n] = total
    return grad_x, grad_weight


layer_norm.register_backward(layer_norm_backward)
rms_norm.register_backward(rms_norm_backward)


def layer_norm_arguments(large: bool):
    m, n = (4096, 1024) if large else (37, 96)
    return torch.randn(m, n), torch.randn(n), torch.randn(n), 1e-5


def layer_norm_backward_arguments(large: bool):
    x, *rest = layer_norm_arguments(large)
    return torch.randn_like(x), x, *rest


def rms_norm_arguments(large: bool):
    x, weight, *_ = layer_norm_arguments(large)
    return x, weight, 1e-6


def rms_norm_backward_arguments(large: bool):
    x, *rest = rms_norm_arguments(large)
    return torch.randn_like(x), x, *rest


def layer_norm_reference(x, weight, bias, eps):
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def rms_norm_reference(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


def gradients_of(function):
    """What autograd gives for all tensors among the arguments."""

    def reference(grad, *arguments):
        with torch.enable_grad():
            leaves = [value.detach().requires_grad_() if isinstance(value, torch.Tensor) else value for value in arguments]
            function(*leaves).backward(grad)
        return tuple(leaf.grad for leaf in leaves if isinstance(leaf, torch.Tensor))

    return reference


def differentiated(function):
    """The gradients by autograd through a kernel with a registered backward."""
    return gradients_of(function)


TOLERANCE = {"rtol": 1e-3, "atol": 1e-3}
EXAMPLES = [
    Example(layer_norm, layer_norm_arguments, layer_norm_reference),
    Example(layer_norm_backward, layer_norm_backward_arguments, gradients_of(layer_norm_reference), tolerance=TOLERANCE),
    Example(differentiated(layer_norm), layer_norm_backward_arguments, gradients_of(layer_norm_reference),
            name="layer_norm_by_autograd", tolerance=TOLERANCE),
    Example(rms_norm, rms_norm_arguments, rms_norm_reference),
    Example(rms_norm_backward, rms_norm_backward_arguments, gradients_of(rms_norm_reference), tolerance=TOLERANCE),
]

if __name__ == "__main__":
    main(EXAMPLES)
