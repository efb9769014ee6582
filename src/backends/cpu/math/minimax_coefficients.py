#!/usr/bin/env python3
"""Prints the polynomial coefficients that expand_math uses.

Method: the largest weighted error w(x) |f(x) - p(x)| over a fine grid of Chebyshev points is minimised by linear
programming, with residuals in 60 digits (Muller, "Elementary Functions", 3rd ed., ch. 3, has the theory). Unlike Remez'
exchange this does not mind weights with a zero inside the interval. The coefficients are rounded to the target precision one after the other, from the constant term up, and after each
the remaining ones are fitted again, so that a coefficient's rounding error is made up for by those that follow (after
Brisebarre, Muller and Tisserand 2006, greedily). Printed beside each polynomial: its degree, and the largest weighted
error, as a power of two, before and after rounding.

Needs mpmath, numpy and scipy. Run: python3 minimax_coefficients.py [name]
"""

import struct
import sys

import mpmath as mp
import numpy as np
from scipy.optimize import linprog

mp.mp.dps = 60


def rounded(value, precision):
    if precision == "f32":
        return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])
    return mp.mpf(float(value))  # float() of an mpf rounds to nearest


def points(a, b, count=400):
    """Chebyshev points, just off the symmetric places, so that none falls on a zero of a weight."""
    centre, radius = (a + b) / 2 + (b - a) * mp.mpf("1.1e-4"), (b - a) / 2 * mp.mpf("0.9997")
    return [centre - radius * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def largest_error(residual, weight, grid):
    return max(abs(weight(x) * r) for x, r in zip(grid, residual))


def solve(f, weight, powers, fixed, a, b):
    """Weighted minimax fit of f - sum(fixed) by sum(c[k] x^k for k in powers), on a grid. Returns (coefficients, error)."""
    grid = points(a, b)
    target = [f(x) - mp.fsum(c * x**k for k, c in fixed) for x in grid]
    if not powers:
        return [], largest_error(target, weight, grid)
    # The weighted powers are made orthonormal over the grid first: as they are, they are too alike to compute with.
    columns, basis = [], []
    for i, k in enumerate(powers):
        column = [weight(x) * x**k for x in grid]
        row = [mp.mpf(int(i == j)) for j in range(len(powers))]
        for _ in range(2):
            for other, other_row in zip(columns, basis):
                dot = mp.fdot(column, other)
                column = [c - dot * o for c, o in zip(column, other)]
                row = [c - dot * o for c, o in zip(row, other_row)]
        norm = mp.sqrt(mp.fdot(column, column))
        columns.append([c / norm for c in column])
        basis.append([c / norm for c in row])
    columns = np.array([[float(c) for c in column] for column in columns]).T
    coefficients = [mp.mpf(0)] * len(powers)
    # The linear program is solved in double precision for a correction, several times: each finds what is left of the
    # residual, which is computed in 60 digits.
    best = None
    for _ in range(8):
        residual = [t - mp.fsum(c * x**k for k, c in zip(powers, coefficients)) for t, x in zip(target, grid)]
        size = largest_error(residual, weight, grid)
        if best is None or size < best[1]:
            best = (list(coefficients), size)
        if size == 0:
            break
        right = np.array([float(weight(x) * r / size) for x, r in zip(grid, residual)])
        # minimise e, with |right - columns c| <= e
        ones = np.ones((len(grid), 1))
        answer = linprog(np.r_[np.zeros(len(powers)), 1.0],
                         A_ub=np.vstack([np.hstack([-columns, -ones]), np.hstack([columns, -ones])]),
                         b_ub=np.r_[-right, right], bounds=[(None, None)] * len(powers) + [(0, None)], method="highs")
        if not answer.success:
            break
        steps = [mp.mpf(d) * size for d in answer.x[:-1]]
        coefficients = [c + mp.fsum(step * row[i] for step, row in zip(steps, basis))
                        for i, c in enumerate(coefficients)]
    return best


def minimax(name, f, powers, a, b, precision, weight=lambda x: mp.mpf(1), fixed=()):
    """Fits, rounds and prints."""
    a, b = mp.mpf(a), mp.mpf(b)
    _, ideal = solve(f, weight, list(powers), list(fixed), a, b)
    done, left = list(fixed), list(powers)
    result = []
    while left:
        coefficients, _ = solve(f, weight, left, done, a, b)
        c = rounded(coefficients[0], precision)
        result.append((left[0], c))
        done.append((left[0], c))
        left.pop(0)
    _, final = solve(f, weight, [], done, a, b)
    log2 = lambda e: mp.nstr(mp.log(e, 2), 5)
    print(f"// {name}: on [{mp.nstr(a, 6)}, {mp.nstr(b, 6)}], error 2^{log2(ideal)}, rounded 2^{log2(final)}")
    digits = 9 if precision == "f32" else 17
    for k, c in result:
        text = f"{float(c):.{digits - 1}e}"
        print(f"//   x^{k}: {text}  ({float(c).hex()})")
    print("{" + ", ".join(f"{float(c):.{digits - 1}e}" for _, c in result) + "}")
    print()
    return result


def entire(f, at_zero):
    """f with its limit at zero, for quotients such as (exp(x) - 1) / x."""
    return lambda x: at_zero if abs(x) < mp.mpf("1e-25") else f(x)


JOBS = {}


def job(function):
    JOBS[function.__name__] = function
    return function


HALF_LN2 = mp.log(2) / 2
WIDER = mp.mpf("1.01")  # a reduced argument may lie just outside its interval


def exp_tail(precision, count):
    # exp(r) = 1 + r + r^2 q(r)
    q = entire(lambda r: (mp.exp(r) - 1 - r) / r**2, mp.mpf(1) / 2)
    minimax(f"(exp(r) - 1 - r) / r^2, {precision}", q, range(count), -HALF_LN2 * WIDER, HALF_LN2 * WIDER, precision,
            weight=lambda r: r**2 / mp.exp(r))


def expm1_tail(precision, count):
    # expm1(r) = r + r^2 q(r)
    q = entire(lambda r: (mp.exp(r) - 1 - r) / r**2, mp.mpf(1) / 2)
    minimax(f"(expm1(r) - r) / r^2, {precision}", q, range(count), -HALF_LN2 * WIDER, HALF_LN2 * WIDER, precision,
            weight=lambda r: abs(r**2 / mp.expm1(r)))


def exp2_tail(precision, count):
    # 2^r = 1 + r q(r)
    q = entire(lambda r: (mp.mpf(2)**r - 1) / r, mp.log(2))
    minimax(f"(2^r - 1) / r, {precision}", q, range(count), -WIDER / 2, WIDER / 2, precision,
            weight=lambda r: abs(r) / mp.mpf(2)**r)


def log_tail(precision, count, base, name):
    # log_b(1 + f) = f / ln b + f^2 q(f), 1 + f in [sqrt(1/2), sqrt(2)]
    scale = 1 / mp.log(base)
    q = entire(lambda f: (mp.log1p(f) - f) / f**2 * scale, -scale / 2)
    minimax(f"({name}(1 + f) - f / ln b) / f^2, {precision}", q, range(count), mp.sqrt(0.5) - 1, mp.sqrt(2) - 1,
            precision, weight=lambda f: abs(f**2 / (mp.log1p(f) * scale)))


def log_atanh(precision, count):
    # log(1 + f) = 2 atanh(s), s = f / (2 + f): 2 atanh(s) = 2 s + s^3 q(s^2), as a polynomial in z = s^2
    limit = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    q = lambda z: 2 * (mp.atanh(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z)**3 if z > mp.mpf("1e-30") else mp.mpf(2) / 3
    minimax(f"(2 atanh(s) - 2 s) / s^3 in s^2, {precision}", q, range(count), 0, limit**2 * WIDER, precision,
            weight=lambda z: z / 2)


def tanh_small(precision, count, limit):
    # tanh(x) = x + x^3 q(x^2)
    q = lambda z: (mp.tanh(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z)**3 if z > mp.mpf("1e-30") else -mp.mpf(1) / 3
    minimax(f"(tanh(x) - x) / x^3 in x^2, {precision}", q, range(count), 0, mp.mpf(limit)**2, precision,
            weight=lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)) if z > 0 else mp.mpf("1e-20"))


def erf_small(precision, count, limit):
    # erf(x) = x + x q(x^2)
    q = lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > mp.mpf("1e-30") else 2 / mp.sqrt(mp.pi) - 1
    minimax(f"erf(x) / x - 1 in x^2, {precision}", q, range(count), 0, mp.mpf(limit)**2, precision,
            weight=lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > 0 else mp.sqrt(mp.pi) / 2)


def erf_large(precision, count, start, end):
    # erf(x) = 1 - exp(p(x)); an error of p counts as much as erfc(x) is
    minimax(f"log(erfc(x)), {precision}", lambda x: mp.log(mp.erfc(x)), range(count), start, end, precision,
            weight=lambda x: mp.erfc(x) / mp.erf(x))


def erf_large_wide(precision, count, start, end):
    # erf(x) = 1 - exp(p(u) - x^2), u = (x - 5/2) / (x + 4)
    x_of = lambda u: (4 * u + mp.mpf(5) / 2) / (1 - u)
    u_of = lambda x: (mp.mpf(x) - mp.mpf(5) / 2) / (mp.mpf(x) + 4)
    minimax(f"log(erfc(x)) + x^2 in (x - 5/2) / (x + 4), {precision}",
            lambda u: mp.log(mp.erfc(x_of(u))) + x_of(u)**2, range(count), u_of(start), u_of(end), precision,
            weight=lambda u: mp.erfc(x_of(u)) / mp.erf(x_of(u)))


QUARTER_PI = mp.pi / 4 * WIDER


def sin_tail(precision, count):
    # sin(r) = r + r^3 q(r^2)
    q = lambda z: (mp.sin(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z)**3 if z > mp.mpf("1e-30") else -mp.mpf(1) / 6
    minimax(f"(sin(r) - r) / r^3 in r^2, {precision}", q, range(count), 0, QUARTER_PI**2, precision,
            weight=lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)) if z > 0 else mp.mpf("1e-20"))


def cos_tail(precision, count):
    # cos(r) = 1 - r^2 / 2 + r^4 q(r^2)
    q = lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > mp.mpf("1e-20") else mp.mpf(1) / 24
    minimax(f"(cos(r) - 1 + r^2 / 2) / r^4 in r^2, {precision}", q, range(count), 0, QUARTER_PI**2, precision,
            weight=lambda z: z**2 / mp.cos(mp.sqrt(z)))


def split(name, value, precision, parts, bits=None):
    """Prints a constant as a sum of `parts` numbers, all but the last with at most `bits` significant bits."""
    value = mp.mpf(value)
    pieces = []
    for i in range(parts):
        piece = rounded(value, precision)
        if bits and i + 1 < parts:
            exponent = mp.floor(mp.log(abs(value), 2))
            unit = mp.mpf(2) ** (exponent - bits + 1)
            piece = mp.nint(value / unit) * unit
        pieces.append(float(piece))
        value -= piece
    digits = 9 if precision == "f32" else 17
    print(f"// {name}, {precision}: " + " + ".join(f"{p:.{digits - 1}e}" for p in pieces))


JOBS = {
    "constants": lambda: [
        split("ln 2", mp.log(2), "f32", 2), split("ln 2, short", mp.log(2), "f32", 2, 15),
        split("1 / ln 2", 1 / mp.log(2), "f32", 2), split("1 / ln 10", 1 / mp.log(10), "f32", 2),
        split("log10 2", mp.log(2, 10), "f32", 2), split("pi / 2", mp.pi / 2, "f32", 3),
        split("2 / pi", 2 / mp.pi, "f32", 1),
        split("ln 2", mp.log(2), "f64", 2), split("ln 2, short", mp.log(2), "f64", 2, 40),
        split("1 / ln 2", 1 / mp.log(2), "f64", 2), split("1 / ln 10", 1 / mp.log(10), "f64", 2),
        split("log10 2", mp.log(2, 10), "f64", 2), split("pi / 2", mp.pi / 2, "f64", 3),
        split("2 / pi", 2 / mp.pi, "f64", 1)],
    "exp": lambda: [exp_tail("f32", 5), exp_tail("f64", 10)],
    "expm1": lambda: [expm1_tail("f32", 6), expm1_tail("f64", 11)],
    "exp2": lambda: [exp2_tail("f32", 6), exp2_tail("f64", 11)],
    "log": lambda: [log_tail("f32", 9, mp.e, "log"), log_tail("f32", 9, 2, "log2"),
                    log_tail("f32", 9, 10, "log10"), log_atanh("f64", 7)],
    "tanh": lambda: [tanh_small("f32", 7, 1), tanh_small("f64", 15, 1)],
    "erf": lambda: [erf_small("f32", 7, 0.95), erf_large("f32", 7, 0.95, 4),
                    erf_small("f64", 13, 1), erf_large_wide("f64", 14, 1, 6)],
    "trig": lambda: [sin_tail("f32", 3), cos_tail("f32", 3), sin_tail("f64", 6), cos_tail("f64", 6)],
}


if __name__ == "__main__":
    for name in sys.argv[1:] or JOBS:
        JOBS[name]()
