// exp, log, tanh, sigmoid, erf, rsqrt, floor, round, minimum and maximum for f32 and f64, one
// source for scalars and vectors. At most 2 ulp; NaN, infinities, signed zeros and denormals are
// right. Branch-free: every lane takes the same road.
#pragma once

#include "ir/core/math/coefficients.h"
#include "ir/core/math/lanes.h"

namespace kiln::math {

template <class F>
using Coef = Coefficients<Lane<F>>;

/// The smaller operand; NaN if one is NaN; -0 is below +0.
template <class F>
KILN_INLINE F minimum(F a, F b) {
  F r = select(a < b, a, b);
  r = select(a == b, bit_cast<F>(bits(a) | bits(b)), r);
  return select((a != a) | (b != b), a + b, r);
}

/// The larger operand; NaN if one is NaN; -0 is below +0.
template <class F>
KILN_INLINE F maximum(F a, F b) {
  F r = select(a > b, a, b);
  r = select(a == b, bit_cast<F>(bits(a) & bits(b)), r);
  return select((a != a) | (b != b), a + b, r);
}

/// Nearest integer, ties to even; keeps the sign of zero.
template <class F>
KILN_INLINE F round_even(F x) {
  const F a = abs(x);
  const F r = (a + Info<F>::all_integers) - Info<F>::all_integers;
  return select(a < Info<F>::all_integers, with_sign(r, x), x);
}

/// Largest integer not above x; keeps the sign of zero.
template <class F>
KILN_INLINE F floor(F x) {
  const F r = round_even(x);
  const F down = select(r > x, F(1), F(0));
  // r - down is never -0 unless x is: round_even gave the sign, and r > x needs x < r.
  return select(r > x, r - down, r);
}

/// 1 / sqrt(x), each step rounded.
template <class F>
KILN_INLINE F rsqrt(F x) {
  return F(1) / sqrt(x);
}

/// x split as k ln2 + r with |r| <= ln2/2, for |x| within the range of exp.
template <class F>
struct ExpArgument {
  UInt<F> k;  // two's complement
  F r;
};
template <class F>
KILN_INLINE ExpArgument<F> reduce_exp(F x) {
  using C = Coef<F>;
  const F shifted = fma(x, C::log2e, Info<F>::shifter);
  const F n = shifted - Info<F>::shifter;
  const F r = fma(n, -C::ln2_lo, fma(n, -C::ln2_hi, x));
  return {bits(shifted) - __builtin_bit_cast(typename Info<F>::UInt, Info<F>::shifter), r};
}

/// e^r - 1 for |r| <= ln2/2.
template <class F>
KILN_INLINE F expm1_reduced(F r) {
  return fma(r * r, polynomial<Coef<F>::exp>(r), r);
}

/// m * 2^k in two steps, so that results may be infinite or denormal.
template <class F>
KILN_INLINE F scale(F m, UInt<F> k) {
  const UInt<F> half = shift_right_signed<1>(k);
  return m * power_of_two<F>(half) * power_of_two<F>(k - half);
}

template <class F>
KILN_INLINE F exp(F x) {
  using C = Coef<F>;
  x = select(x > C::exp_max, F(C::exp_max), x);
  x = select(x < C::exp_min, F(C::exp_min), x);
  const auto [k, r] = reduce_exp(x);
  return scale(expm1_reduced(r) + F(1), k);
}

/// x = m * 2^e with m in [low, 2 low), for positive finite x.
template <class F>
struct Split {
  F m, e;
};
template <class F>
KILN_INLINE Split<F> split_exponent(F x, Lane<F> least = Lane<F>(2) / Lane<F>(3)) {
  using I = Info<F>;
  const auto low = __builtin_bit_cast(typename I::UInt, least);
  const auto tiny = x < I::min_normal;
  x = select(tiny, x * (I::all_integers * 4), x);
  const UInt<F> d = bits(x) - low;
  const F e = small_int_to_float<F>(shift_right_signed<I::mantissa_bits>(d));
  return {bit_cast<F>((d & I::mantissa) + low), e - select(tiny, F(I::mantissa_bits + 2), F(0))};
}

/// log(1 + f) + e ln2 for f + 1 in [2/3, 4/3), e an integer.
template <class F>
KILN_INLINE F log_reduced(F f, F e) {
  using C = Coef<F>;
  const F f2 = f * f;
  if constexpr (sizeof(Lane<F>) == 4) {
    F y = f * f2 * polynomial<C::log>(f);
    y = fma(e, C::ln2_lo, y);
    y = fma(f2, F(-0.5f), y);
    return fma(e, C::ln2_hi, f + y);
  } else {
    const F s = f / (f + 2.0);
    const F z = s * s;
    const F half = f2 * 0.5;
    const F y = fma(s, fma(z, polynomial<C::log>(z), half), e * C::ln2_lo);
    return fma(e, C::ln2_hi, f - (half - y));
  }
}

template <class F>
KILN_INLINE F log(F x) {
  using I = Info<F>;
  const auto [m, e] = split_exponent(x);
  F y = log_reduced(m - F(1), e);
  y = select(x < I::inf, y, x);  // infinity and NaN
  y = select(x < F(0), F(I::nan), y);
  return select(x == F(0), F(-I::inf), y);
}

/// (n + n_lo) / (d + d_lo), nearly correctly rounded.
template <class F>
KILN_INLINE F divide_compensated(F n, F n_lo, F d, F d_lo) {
  const F inverse = F(1) / d;
  const F q = n * inverse;
  const F remainder = fma(-q, d_lo, fma(-q, d, n) + n_lo);
  return fma(remainder, inverse, q);
}

/// expm1(2a) / (expm1(2a) + 2) with a = |x|.
template <class F>
KILN_INLINE F tanh(F x) {
  using C = Coef<F>;
  F a = abs(x);
  a = select(a > C::tanh_max, F(C::tanh_max), a);
  const auto [k, r] = reduce_exp(a + a);
  const F power = power_of_two<F>(k), less_one = power - F(1);
  const F t = r * r * polynomial<C::exp>(r);
  const F p = r + t, p_lo = (r - p) + t;
  const F m = fma(power, p, less_one);
  const F m_lo = fma(power, p_lo, fma(power, p, less_one - m));
  const F d = m + F(2);
  return with_sign(divide_compensated(m, m_lo, d, (m - (d - F(2))) + m_lo), x);
}

/// 1 / (1 + z) or z / (1 + z) with z = exp(-|x|).
template <class F>
KILN_INLINE F sigmoid(F x) {
  using C = Coef<F>;
  F a = F(0) - abs(x);
  a = select(a < C::exp_min, F(C::exp_min), a);
  const auto [k, r] = reduce_exp(a);
  const F t = expm1_reduced(r);
  const F z0 = t + F(1);
  const F z = scale(z0, k);
  const F z_lo = scale((F(1) - z0) + t, k);
  const F d = z + F(1);
  const F d_lo = ((F(1) - d) + z) + z_lo;
  const auto negative = x < F(0);
  const F q = divide_compensated(select(negative, z, F(1)), select(negative, z_lo, F(0)), d, d_lo);
  // Below the normal numbers d is 1 and z is the result; the remainder would round twice.
  return select(negative & (z < Info<F>::min_normal), z, q);
}

/// x + x P(x^2) near 0, else 1 - exp(log(erfc(|x|))).
template <class F>
KILN_INLINE F erf(F x) {
  using C = Coef<F>;
  F a = abs(x);
  const F near = fma(x, polynomial<C::erf>(x * x), x);
  const auto is_near = a < C::erf_split;
  a = select(a > C::erf_max, F(C::erf_max), a);
  const auto [k, r] = reduce_exp(polynomial<C::erfc>(a - C::erf_centre));
  const F power = power_of_two<F>(k);
  const F far = fma(F(0) - power, expm1_reduced(r), F(1) - power);
  return select(is_near, near, with_sign(far, x));
}

}  // namespace kiln::math
