// Uniform and normal values from Philox blocks. A value is a pure function of (seed, stream,
// position).
#pragma once

#include "ir/core/math/elementary.h"
#include "ir/core/philox.h"

namespace kiln::math {

/// A value and the rest that rounding took from it.
template <class F>
struct Pair {
  F hi, lo;
};

/// cos(2 pi w / 2^B) for 0 <= w < 2^B, where B is 24 in f32 and 53 in f64. The reduction to an
/// eighth of a turn is exact.
template <class F>
KILN_INLINE Pair<F> cos_turn(UInt<F> w) {
  using C = Coef<F>;
  using I = Info<F>;
  constexpr int digits = I::mantissa_bits + 1;
  constexpr Lane<UInt<F>> one = 1;
  const UInt<F> quarter = (w + (one << (digits - 3))) >> Lane<UInt<F>>(digits - 2);
  const UInt<F> offset = w - (quarter << Lane<UInt<F>>(digits - 2));
  const F f = small_int_to_float<F>(offset) * (Lane<F>(1) / Lane<F>(one << digits));
  const F z = f * f;
  const F s_rest = f * polynomial<C::sin>(z), c_rest = z * polynomial<C::cos>(z);
  const F s = fma(f, C::two_pi, s_rest), c = c_rest + F(1);
  const F s_lo = fma(f, C::two_pi, F(0) - s) + s_rest, c_lo = (F(1) - c) + c_rest;
  const auto swap = (quarter & one) != UInt<F>(0);
  const UInt<F> flip = ((quarter + one) & (one << 1)) << Lane<UInt<F>>(sizeof(one) * 8 - 2);
  return {bit_cast<F>(bits(select(swap, s, c)) ^ flip),
          bit_cast<F>(bits(select(swap, s_lo, c_lo)) ^ flip)};
}

/// sqrt(-2 log u) cos(2 pi w / 2^B) for u in (0, 1]. Carrying what the square root and the cosine
/// lose keeps the product below 2 ulp.
template <class F>
KILN_INLINE F box_muller(F u, UInt<F> w) {
  const F l = abs(log(u));
  const F v = l + l;
  const F r = sqrt(v);
  // The smallest r above 0 is far above 1e-30: that only avoids 0 / 0.
  const F r_lo = fma(F(0) - r, r, v) * F(0.5) / (r + Lane<F>(1e-30));
  const auto c = cos_turn<F>(w);
  return fma(r, c.hi, fma(r, c.lo, r_lo * c.hi));
}

/// An integer below 2^53 as f64, exactly.
template <class W>
KILN_INLINE With<W, double> float_of_u53(W v) {
  using D = With<W, double>;
  constexpr uint64_t low = 0xffffffffu;
  const D hi = bit_cast<D>((v >> uint64_t{32}) | __builtin_bit_cast(uint64_t, 0x1p84));
  const D lo = bit_cast<D>((v & low) | __builtin_bit_cast(uint64_t, 0x1p52));
  return (hi - (0x1p84 + 0x1p52)) + lo;
}

/// An integer below 2^31 in 64-bit lanes, rounded to f32.
template <class W>
KILN_INLINE With<W, float> float_of_u31(W v) {
  return convert<float>(convert<int32_t>(v));
}

/// Uniform in [0, 1): 24 bits of word 0 in f32; 53 bits of words 0 (low) and 1 in f64.
template <class L, class W>
KILN_INLINE With<W, L> uniform(const PhiloxBlock<W>& b) {
  if constexpr (sizeof(L) == 4)
    return float_of_u31(b.word[0] >> uint64_t{8}) * 0x1p-24f;
  else
    return float_of_u53((b.word[0] | (b.word[1] << uint64_t{32})) >> uint64_t{11}) * 0x1p-53;
}

/// Standard normal by Box and Muller, sqrt(-2 log u) cos(2 pi v): in f32 u is (31 bits of word 0 +
/// 1) / 2^31 and v 24 bits of word 1; in f64 u is (53 bits of words 0 and 1 + 1) / 2^53 and v 53
/// bits of words 2 and 3.
template <class L, class W>
KILN_INLINE With<W, L> normal(const PhiloxBlock<W>& b) {
  using F = With<W, L>;
  if constexpr (sizeof(L) == 4) {
    const F u = (float_of_u31(b.word[0] >> uint64_t{1}) + 1.0f) * 0x1p-31f;
    return box_muller<F>(u, convert<uint32_t>(b.word[1] >> uint64_t{8}));
  } else {
    const F u =
        (float_of_u53((b.word[0] | (b.word[1] << uint64_t{32})) >> uint64_t{11}) + 1.0) * 0x1p-53;
    return box_muller<F>(u, (b.word[2] | (b.word[3] << uint64_t{32})) >> uint64_t{11});
  }
}

/// The element of `rand` and `randn` at `position`.
template <class L, class W>
KILN_INLINE With<W, L> rand(uint64_t seed, uint64_t stream, W position) {
  return uniform<L>(philox_at(seed, stream, position));
}
template <class L, class W>
KILN_INLINE With<W, L> randn(uint64_t seed, uint64_t stream, W position) {
  return normal<L>(philox_at(seed, stream, position));
}

}  // namespace kiln::math
