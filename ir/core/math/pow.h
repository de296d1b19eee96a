// pow for f32, f64 and integers.
#pragma once

#include "ir/core/math/elementary.h"

namespace kiln::math {

/// An unevaluated sum: `lo` is below the last bit of `hi`.
template <class D>
struct DoubleDouble {
  D hi, lo;
};
/// a + b for |a| >= |b| or a == 0.
template <class D>
KILN_INLINE DoubleDouble<D> fast_two_sum(D a, D b) {
  const D s = a + b;
  return {s, b - (s - a)};
}

/// log(m) + e ln2 to about 2^-65 for m in [0.7, 1.42]: 2 s + s^3 (2/3 + s^2 P(s^2)), s =
/// (m-1)/(m+1).
template <class D>
KILN_INLINE DoubleDouble<D> log_double_double(D m, D e) {
  using C = Coefficients<double>;
  const D f = m - D(1), d = m + D(1);
  const D d_lo = m - (d - D(1));
  const D inverse = D(1) / d;
  const D s = f * inverse;
  const D s_lo = fma(-s, d_lo, fma(-s, d, f)) * inverse;
  const D z = s * s;
  const D z_lo = fma(s, s, -z) + (s + s) * s_lo;
  const auto c = fast_two_sum<D>(D(C::two_thirds_hi), z * polynomial<C::pow_log>(z));
  const D w = z * c.hi;
  const D w_lo = fma(z, c.hi, -w) + fma(z, c.lo + C::two_thirds_lo, z_lo * c.hi);
  const D p = s * w;
  const D p_lo = fma(s, w, -p) + fma(s, w_lo, s_lo * w);
  const auto a = fast_two_sum<D>(s + s, p);
  const auto b = fast_two_sum<D>(e * C::ln2_hi, a.hi);
  return fast_two_sum<D>(b.hi, b.lo + (a.lo + (s_lo + s_lo) + p_lo + e * C::ln2_lo));
}

/// |x|^y in double-double arithmetic; the special values of x and y are the caller's.
template <class D>
KILN_INLINE D pow_magnitude(D ax, D y) {
  using C = Coefficients<double>;
  using I = Layout<double>;
  const auto [m, e] = split_exponent(ax, 0x1.6a09e667f3bcdp-1);  // sqrt(1/2): the smallest |s|
  auto l = log_double_double(m, e);
  const auto special = (ax == D(0)) | (ax == D(I::inf));
  l.hi = select(special, select(ax == D(0), D(-I::inf), D(I::inf)), l.hi);
  D t = y * l.hi;
  D t_lo = fma(y, l.hi, -t) + y * l.lo;
  const auto beyond = (t > C::exp_max) | (t < C::exp_min);
  t_lo = select(beyond, D(0), t_lo);
  t = select(t > C::exp_max, D(C::exp_max), t);
  t = select(t < C::exp_min, D(C::exp_min), t);
  const D shifted = fma(t, C::log2e, I::shifter);
  const D n = shifted - I::shifter;
  const auto r = fast_two_sum<D>(fma(n, -C::ln2_hi, t), fma(n, -C::ln2_lo, t_lo));
  const auto one_r = fast_two_sum<D>(D(1), r.hi);
  const D rest = fma(r.hi * r.hi, polynomial<C::exp>(r.hi), fma(r.hi, r.lo, r.lo));
  return scale<D>(one_r.hi + (one_r.lo + rest),
                  bits(shifted) - __builtin_bit_cast(uint64_t, I::shifter));
}

/// |x|^y for values that came from f32 and a result that goes there.
template <class D>
KILN_INLINE D pow_magnitude_f32(D ax, D y) {
  using C = Coefficients<double>;
  using I = Layout<double>;
  const auto [m, e] = split_exponent(ax);
  const D s = (m - D(1)) / (m + D(1));
  D l = fma(s, polynomial<C::powf_log2>(s * s), e);
  l = select(ax == D(0), D(-I::inf), l);
  l = select(ax == D(I::inf), D(I::inf), l);
  D t = y * l;
  t = select(t > 200.0, D(200.0), t);
  t = select(t < -200.0, D(-200.0), t);
  const D shifted = t + I::shifter;
  const D r = t - (shifted - I::shifter);
  return polynomial<C::powf_exp2>(r) *
         power_of_two<D>(bits(shifted) - __builtin_bit_cast(uint64_t, I::shifter));
}

/// Signs and special values of C's pow, given |x|^y.
template <class D>
KILN_INLINE D finish_pow(D x, D y, D r) {
  using I = Layout<double>;
  const D ax = abs(x), half = y * 0.5;
  const auto integral = round_even(y) == y;
  r = select(ax == D(1), D(1), r);  // also for an infinite y
  const D sign = select(integral, select(round_even(half) != half, x, D(0)), D(0));
  r = with_sign(r, sign);
  const auto undefined = (x < D(0)) & (ax < D(I::inf)) & (round_even(y) != y);
  r = select(undefined, D(I::nan), r);
  r = select((x != x) | (y != y), x + y, r);
  return select((y == D(0)) | (x == D(1)), D(1), r);
}

/// x to the power y, with the special values of C's pow: pow(x, 0) and pow(1, y) are 1 even for
/// NaN, a negative finite x needs an integral y.
template <class F>
KILN_INLINE F pow(F x, F y) {
  if constexpr (sizeof(Lane<F>) == 4) {
    using D = With<F, double>;
    const D dx = convert<double>(x), dy = convert<double>(y);
    return convert<float>(finish_pow<D>(dx, dy, pow_magnitude_f32(abs(dx), dy)));
  } else {
    return finish_pow<F>(x, y, pow_magnitude(abs(x), y));
  }
}

template <class U>
KILN_INLINE bool any(U v) {
#ifdef __clang__
  if constexpr (!std::is_arithmetic_v<U>) return __builtin_reduce_or(v) != 0;
#endif
  if constexpr (std::is_arithmetic_v<U>) return v != 0;
}

/// x to the power y for two's complement x and y in unsigned lanes: wraps; a negative exponent
/// gives the truncated true value, with 0 for the undefined 0 to a negative power.
template <class U>
KILN_INLINE U pow_int(U x, U y) {
  constexpr Lane<U> one = 1, top = sizeof(Lane<U>) * 8 - 1;
  const U minus_one = U(0) - one;
  const auto negative = (y >> top) != U(0);
  const auto odd = (y & one) != U(0);
  const U unit = select(x == U(one), U(one), select(x == minus_one, select(odd, x, U(one)), U(0)));
  U r = U(one), base = x, rest = select(negative, U(0), y);
  while (any(rest)) {
    r = select((rest & one) != U(0), r * base, r);
    base = base * base;
    rest = rest >> one;
  }
  return select(negative, unit, r);
}

}  // namespace kiln::math
