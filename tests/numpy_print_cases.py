#!/usr/bin/env python3
"""Writes print_cases.inc: C++ expressions and what NumPy prints for the same arrays.

Usage: numpy_print_cases.py > print_cases.inc   (needs NumPy)
"""
import numpy as np

f, d, i, l = np.float32, np.float64, np.int32, np.int64


def vector(values, kind):
    """The C++ Tensor and the NumPy array of a list."""
    types = {f: "float", d: "double", i: "int32_t", l: "int64_t", bool: "bool"}

    def literal(v):
        if kind in (f, d):
            if np.isnan(v):
                return "NAN"
            if np.isinf(v):
                return "-INFINITY" if v < 0 else "INFINITY"
            return float(v).hex() + ("f" if kind is f else "")
        return str(v).lower()

    array = np.array(values, dtype=kind)
    text = ", ".join(literal(v) for v in array.ravel().tolist())
    shape = ", ".join(map(str, array.shape))
    return f"Tensor(std::vector<{types[kind]}>{{{text}}}, {{{shape}}})", array


def arange(n, shape, kind):
    name = {f: "f32", d: "f64", i: "i32", l: "i64"}[kind]
    dims = ", ".join(map(str, shape))
    return f"arange({n}, {name}).reshape({{{dims}}})", np.arange(n, dtype=kind).reshape(shape)


nan, inf = np.nan, np.inf
cases = []
for kind in (f, d):
    for values in (
        [1, 2, 3], [1.5, -2.25, 3], [0.1, 0.2, 0.3], [1e-5, 1], [1e10, 1], [1e8, 2e8], [99999999.0, 1],
        [1e-4, 1e-3], [9e-5, 1e-4], [0.001, 2.0], [0.001, 0.5], [1 / 3, 2 / 3, 1], [123456.789, 1.0],
        [1e-30, 1e30], [0.0, -0.0], [0.0, 1e-10], [nan, 1, 2], [inf, -1, 0.5], [-inf, nan, 0],
        [nan, nan], [inf], [-inf, -inf], [nan, 1e10], [-inf, 1e-10], [3.14159265358979, 2.718281828459045],
        [1e20, 1e-20, nan], [16777216.0, 0.5], [5e-324 if kind is d else 1e-45, 1], [1.7e308 if kind is d else 3e38, 1],
        [-1.5e-7, 2.5], [0.12345678901, 1], [100, 1000, 10000], [0.5, 1000], [0.5, 499.9], [1e15, 1e16],
        [[1, 2.5], [-3, 4]], [[nan, 1], [inf, -inf]], [[[1, 2], [3, 4]], [[5, 6], [7, 8.25]]], [],
        [[0.1, 1e-9]], [1.00000001, 1.0], [2.5e-5] * 3, [1e100 if kind is d else 1e30, 1],
    ):
        cases.append(vector(values, kind))
    for v in (0.0, -0.0, 1.0, 0.1, 1 / 3, 1e15, 1e16, 123456789.0, 1e-4, 9.9e-5, 1e-10, nan, inf, -inf, 3e38, -2.5, 999999.0, 1e6, 16777216.0):
        cases.append(vector(v, kind))
for kind in (i, l):
    for values in ([1, -20, 300], [0], [], [[1, 2], [30, -4]], 7, -3, [2147483647, -2147483648], [[[1]], [[2]]]):
        cases.append(vector(values, kind))
cases += [vector(v, bool) for v in ([True, False], [True, True], [False], True, False, [[True, False], [False, True]])]
cases += [
    arange(100, (100,), l), arange(100, (100,), f), arange(40, (2, 20), f), arange(60, (2, 30), l), arange(1001, (1001,), l),
    arange(1000, (1000,), l), arange(1200, (30, 40), f), arange(1200, (3, 400), f), arange(1200, (400, 3), i),
    arange(2000, (10, 10, 20), d), arange(4096, (8, 8, 8, 8), f), arange(1001, (1, 1001), l),
    arange(24, (2, 3, 4), l), arange(24, (2, 1, 3, 2, 2), f), arange(0, (3, 0), f), arange(0, (0, 3, 2), l), arange(1, (1, 1, 1), f),
    arange(1400, (7, 200), l), arange(6006, (6, 1001), l),
]
print(f"// Written by numpy_print_cases.py with NumPy {np.__version__}.")
for expression, array in cases:
    print(f'PRINT_CASE(({expression}),\nR"({array!s})")')
