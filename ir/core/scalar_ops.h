// What every operation means for one element: the contract that the interpreters run and that
// generated code must match bit for bit (all NaNs alike). docs/numerics.md says it in words.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/core/math/functions.h"

namespace kiln::scalar {

template <class T>
concept Float = std::floating_point<T>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Number = Float<T> || Integer<T>;

/// An unsigned type in which T's arithmetic wraps and does not promote to int.
template <Integer T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

/// a + b; integers wrap, bool is or.
template <class T>
constexpr T add(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  else if constexpr (std::same_as<T, bool>)
    return a || b;
  else
    return a + b;
}

/// a - b; integers wrap.
template <Number T>
constexpr T sub(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  else
    return a - b;
}

/// a * b; integers wrap, bool is and.
template <class T>
constexpr T mul(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  else if constexpr (std::same_as<T, bool>)
    return a && b;
  else
    return a * b;
}

template <Float T>
constexpr T div(T a, T b) {
  return a / b;
}

/// -a; integers wrap.
template <Number T>
constexpr T neg(T a) {
  if constexpr (Integer<T>)
    return sub<T>(0, a);
  else
    return -a;
}

/// Absolute value; the smallest integer stays.
template <Number T>
constexpr T abs(T a) {
  if constexpr (Float<T>)
    return __builtin_copysign(a, T(1));
  else
    return a < T(0) ? neg(a) : a;
}

/// Smaller and larger operand: NaN propagates, -0 is below +0, false below true.
template <class T>
T minimum(T a, T b);
template <class T>
T maximum(T a, T b);

// Square root, correctly rounded; rsqrt is 1 / sqrt(a), rounded twice.
template <Float T>
T sqrt(T a);
template <Float T>
T rsqrt(T a);

// The math library, to at most 2 ulp: T exp(T), T pow(T, T) ...
#define KILN_UNARY(name, Op) \
  template <Float T>         \
  T name(T a);
#define KILN_BINARY(name, Op) \
  template <Float T>          \
  T name(T a, T b);
KILN_MATH_UNARY(KILN_UNARY)
KILN_MATH_BINARY(KILN_BINARY)
#undef KILN_UNARY
#undef KILN_BINARY

/// a to the power b; integers wrap, and a negative exponent gives the truncated true value (0 to a
/// negative power is 0).
template <Integer T>
T pow(T a, T b);

/// Largest integer not above a, and nearest integer with ties to even; integers stay.
template <Number T>
T floor(T a);
template <Number T>
T round(T a);

template <class T>
constexpr bool eq(T a, T b) {
  return a == b;
}
template <class T>
constexpr bool ne(T a, T b) {
  return a != b;
}
template <class T>
constexpr bool lt(T a, T b) {
  return a < b;
}
template <class T>
constexpr bool le(T a, T b) {
  return a <= b;
}
template <class T>
constexpr bool gt(T a, T b) {
  return a > b;
}
template <class T>
constexpr bool ge(T a, T b) {
  return a >= b;
}

/// Whether a is not zero; NaN is not.
template <class T>
constexpr bool truth(T a) {
  return a != T(0);
}
template <class T>
constexpr bool logical_and(T a, T b) {
  return truth(a) && truth(b);
}
template <class T>
constexpr bool logical_or(T a, T b) {
  return truth(a) || truth(b);
}
template <class T>
constexpr bool logical_not(T a) {
  return !truth(a);
}

template <class T>
constexpr T where(bool condition, T a, T b) {
  return condition ? a : b;
}

/// Conversion: to bool by truth; floats to integers truncate and saturate, NaN to 0; integers to
/// narrower ones wrap; everything else rounds to nearest even.
template <class To, class From>
constexpr To cast(From v) {
  if constexpr (std::same_as<To, bool>) {
    return truth(v);
  } else if constexpr (Float<From> && Integer<To>) {
    using Limits = std::numeric_limits<To>;
    // The bounds are powers of two, or 0: exact in From.
    constexpr From low = static_cast<From>(Limits::min());
    constexpr From high = static_cast<From>(To(1) << (Limits::digits - 1)) * From(2);
    if (v != v) return 0;
    if (v <= low) return Limits::min();
    if (v >= high) return Limits::max();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

/// Element `position` of the random tensor of (seed, stream): uniform in [0, 1), standard normal.
template <Float T>
T rand(int64_t seed, int64_t stream, int64_t position);
template <Float T>
T randn(int64_t seed, int64_t stream, int64_t position);

/// A candidate of argmax and argmin.
template <class T>
struct Extreme {
  T value;
  int64_t index;
};

/// The better of two candidates, in any order: a NaN first, else the larger (smaller) value, and of
/// equals the lower index. -0 and +0 are equal here.
template <bool larger, class T>
constexpr Extreme<T> better(Extreme<T> a, Extreme<T> b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan ? a : b;
  if (!a_nan && a.value != b.value) return (a.value > b.value) == larger ? a : b;
  return a.index < b.index ? a : b;
}

}  // namespace kiln::scalar
