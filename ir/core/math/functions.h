// The functions of the math library on f32 and f64, by arity: X(function, Op of ops.def, ...).
// This list alone makes the kernels in bitcode, the scalar functions, the oracle's cases and the
// code generator's calls.
#pragma once

#define KILN_MATH_UNARY(X, ...)                  \
  X(exp, Exp __VA_OPT__(, ) __VA_ARGS__)         \
  X(log, Log __VA_OPT__(, ) __VA_ARGS__)         \
  X(tanh, Tanh __VA_OPT__(, ) __VA_ARGS__)       \
  X(sigmoid, Sigmoid __VA_OPT__(, ) __VA_ARGS__) \
  X(erf, Erf __VA_OPT__(, ) __VA_ARGS__)

#define KILN_MATH_BINARY(X, ...) X(pow, Pow __VA_OPT__(, ) __VA_ARGS__)
