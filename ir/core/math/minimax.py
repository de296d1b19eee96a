#!/usr/bin/env python3
"""Fits the polynomials of coefficients.h and prints them. Needs mpmath.

Weighted least squares at Chebyshev nodes, reweighted towards minimax (Lawson); coefficients are
rounded one by one, lowest power first, and the others refitted.
"""
from mpmath import mp, mpf

mp.dps = 60
LN2 = mp.log(2)


def rounded(v, bits):
    if v == 0:
        return mpf(0)
    m, e = mp.frexp(v)
    s = mpf(2) ** bits
    return mp.nint(m * s) / s * mpf(2) ** e


def fit_powers(f, w, powers, a, b, nodes=121, rounds=12):
    """Coefficients of `powers` that minimise max |w (f - p)| on [a, b], and that maximum."""
    n = len(powers)
    xs = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / nodes) for i in range(nodes)]
    fs = [f(x) for x in xs]
    ws = [w(x) for x in xs]
    basis = [[x ** k for k in powers] for x in xs]
    weight = [mpf(1)] * nodes
    best = None
    for _ in range(rounds):
        lhs, rhs = mp.matrix(n, n), mp.matrix(n, 1)
        for v, fx, wx, l in zip(basis, fs, ws, weight):
            q = l * wx * wx
            for r in range(n):
                rhs[r] += q * v[r] * fx
                for t in range(n):
                    lhs[r, t] += q * v[r] * v[t]
        c = mp.lu_solve(lhs, rhs)
        err = [abs(wx * (fx - sum(ci * vi for ci, vi in zip(c, v))))
               for v, fx, wx in zip(basis, fs, ws)]
        m = max(err)
        if best is None or m < best[1]:
            best = (list(c), m)
        weight = [l * (e / m + mpf('1e-3')) for l, e in zip(weight, err)]
    return best


def fit(name, f, w, degree, a, b, bits, exact=()):
    """Prints the polynomial of `degree` for f on [a, b] with coefficients of `bits` bits."""
    a, b = mpf(a), mpf(b)
    xs = [a + (b - a) * (i + mpf(1) / 3) / 600 for i in range(600)]
    fx, wx = [f(x) for x in xs], [w(x) for x in xs]

    def error(c):
        return max(abs(wi * (fi - sum(ck * x ** k for k, ck in enumerate(c))))
                   for x, fi, wi in zip(xs, fx, wx))

    fixed = []
    for k in range(degree + 1):
        rest = lambda x: f(x) - sum(c * x ** i for i, c in enumerate(fixed))
        c, m = fit_powers(rest, w, list(range(k, degree + 1)), a, b)
        if k == 0:
            unrounded = m
            plain = [rounded(v, bits) for v in c]
        fixed.append(rounded(mpf(exact[k]) if k < len(exact) else c[0], bits))
    if not exact and error(plain) < error(fixed):
        fixed = plain
    print(f"{name}: degree {degree}, error 2^{float(mp.log(error(fixed), 2)):.1f}"
          f" (unrounded 2^{float(mp.log(unrounded, 2)):.1f})")
    print("  " + ", ".join(float(c).hex() for c in fixed), flush=True)


def off_zero(f):
    """f where it would be 0 / 0 at 0."""
    return lambda x: f(x if abs(x) > mpf(10) ** -12 else mpf(10) ** -12)


def exp_tail(degree, bits):
    half = LN2 / 2 * mpf('1.001')
    fit("(e^r - 1 - r) / r^2", off_zero(lambda r: (mp.exp(r) - 1 - r) / r ** 2),
        lambda r: r ** 2 * mp.exp(-r), degree, -half, half, bits)


def exp2(degree, bits):
    fit("2^r", lambda r: mpf(2) ** r, lambda r: mpf(2) ** -r, degree, -0.5005, 0.5005, bits, [1])


def log_tail(degree, bits):
    third = mpf(1) / 3 * mpf('1.0001')
    fit("(log(1+f) - f + f^2/2) / f^3", off_zero(lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3),
        off_zero(lambda f: abs(f ** 3 / mp.log1p(f))), degree, -third, third, bits)


def atanh_tail(degree, bits, skip, scale=1):
    """2 atanh(s) * scale less its first `skip` terms, over s^(2 skip + 1), in s^2."""
    zmax = (mpf(1) / 5) ** 2 * mpf('1.0001')

    def tail(z):
        s = mp.sqrt(z)
        v = 2 * mp.atanh(s) - sum(2 * s ** (2 * k + 1) / (2 * k + 1) for k in range(skip))
        return v * scale / s ** (2 * skip + 1)
    fit(f"2 atanh(s), {skip} terms less", off_zero(tail),
        lambda z: mp.sqrt(max(z, mpf(10) ** -12)) ** (2 * skip), degree, 0, zmax, bits)


def erf_near(degree, bits, split):
    fit("erf(x)/x - 1", off_zero(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1), lambda z: mpf(1),
        degree, 0, mpf(split) ** 2, bits)


def erf_far(degree, bits, lo, hi):
    fit("log(erfc(2 + t))", lambda t: mp.log(mp.erfc(t + 2)),
        lambda t: mp.erfc(t + 2) / mp.erf(t + 2), degree, mpf(lo) - 2, mpf(hi) - 2, bits)


def turn(degree, bits):
    two_pi = rounded(2 * mp.pi, bits)
    root = lambda z: mp.sqrt(max(z, mpf(10) ** -20))
    fit("sin(2 pi f)/f - two_pi", lambda z: mp.sin(2 * mp.pi * root(z)) / root(z) - two_pi,
        lambda z: root(z) / mp.sin(2 * mp.pi * root(z)), degree, 0, mpf(1) / 64, bits)
    fit("(cos(2 pi f) - 1)/f^2", lambda z: (mp.cos(2 * mp.pi * root(z)) - 1) / root(z) ** 2,
        lambda z: z, degree, 0, mpf(1) / 64, bits)


print("f32")
exp_tail(4, 24)
log_tail(7, 24)
erf_near(6, 24, '0.92')
erf_far(7, 24, '0.92', '3.95')
turn(3, 24)
print("f64")
exp_tail(10, 53)
atanh_tail(7, 53, 1)
atanh_tail(7, 53, 2)
erf_near(11, 53, 1)
erf_far(18, 53, 1, '5.95')
turn(6, 53)
print("pow of f32")
atanh_tail(5, 53, 0, 1 / LN2)
exp2(7, 53)
