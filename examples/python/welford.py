"""Mean and variance of rows in one pass, by parts: for a and b with counts n, means u and sums of squared distances s,

    n = n_a + n_b,  d = u_b - u_a,  u = u_a + d n_b / n,  s = s_a + s_b + d^2 n_a n_b / n

(Welford 1962; Chan, Golub and LeVeque 1983), as a reduction of tuples and as values that a loop carries.
"""

import torch
from checking import Example, main

import tilewright as tw
import tilewright.language as twl


def combine(a, b):
    n_a, mean_a, squares_a = a
    n_b, mean_b, squares_b = b
    n = n_a + n_b
    distance, share = mean_b - mean_a, n_b / n
    return n, mean_a + distance * share, squares_a + squares_b + distance * distance * n_a * share


@tw.kernel()
def welford_reduction(x: torch.Tensor):
    m, n = x.size()
    means, variances = torch.empty([m]), torch.empty([m])
    for tile in twl.tile(m):
        values = x[tile, :].float()
        count, mean, squares = twl.reduce(combine, (torch.ones_like(values), values, torch.zeros_like(values)), 1)
        means[tile], variances[tile] = mean, squares / count
    return means, variances


@tw.kernel()
def welford_loop(x: torch.Tensor):
    m, n = x.size()
    means, variances = torch.empty([m]), torch.empty([m])
    for tile_m in twl.tile(m):
        moments = twl.zeros([tile_m]), twl.zeros([tile_m]), twl.zeros([tile_m])
        for tile_n in twl.tile(n):
            variance, mean = torch.var_mean(x[tile_m, tile_n].float(), dim=1, correction=0)
            count = (tile_n.end - tile_n.begin).float()
            moments = combine(moments, (count + torch.zeros_like(mean), mean, variance * count))
        count, mean, squares = moments
        means[tile_m], variances[tile_m] = mean, squares / count
    return means, variances


def rows(large: bool):
    return (torch.randn(4096, 1024) if large else torch.randn(23, 57),)


def reference(x):
    variance, mean = torch.var_mean(x, dim=1, correction=0)
    return mean, variance


EXAMPLES = [Example(welford_reduction, rows, reference), Example(welford_loop, rows, reference)]

if __name__ == "__main__":
    main(EXAMPLES)
