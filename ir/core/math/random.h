// Uniform and normal values from Philox blocks. A value is a pure function of (seed, stream,
// position).
#pragma once

#include "ir/core/math/elementary.h"
#include "ir/core/philox.h"

namespace kiln::math {

/// cos(2 pi w / 2^B) for 0 <= w < 2^B, where B is 24 in f32 and 53 in f64. The reduction to an
/// eighth of a turn is exact.
template <class F>
KILN_INLINE F cos_turn(UInt<F> w) {
  using C = Coef<F>;
  using I = Info<F>;
  constexpr int digits = I::mantissa_bits + 1;
  constexpr Lane<UInt<F>> one = 1;
  const UInt<F> quarter = (w + (one << (digits - 3))) >> Lane<UInt<F>>(digits - 2);
  const UInt<F> offset = w - (quarter << Lane<UInt<F>>(digits - 2));
  const F f = small_int_to_float<F>(offset) * (Lane<F>(1) / Lane<F>(one << digits));
  const F z = f * f;
  const F s = fma(f, C::two_pi, f * polynomial<C::sin>(z));
  const F c = fma(z, polynomial<C::cos>(z), F(1));
  const F v = select((quarter & one) != UInt<F>(0), s, c);
  const UInt<F> flip = ((quarter + one) & (one << 1)) << Lane<UInt<F>>(sizeof(one) * 8 - 2);
  return bit_cast<F>(bits(v) ^ flip);
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
    const F c = cos_turn<F>(convert<uint32_t>(b.word[1] >> uint64_t{8}));
    return sqrt(log(u) * -2.0f) * c;
  } else {
    const F u =
        (float_of_u53((b.word[0] | (b.word[1] << uint64_t{32})) >> uint64_t{11}) + 1.0) * 0x1p-53;
    const F c = cos_turn<F>((b.word[2] | (b.word[3] << uint64_t{32})) >> uint64_t{11});
    return sqrt(log(u) * -2.0) * c;
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
