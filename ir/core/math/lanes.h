// The few primitives that the math is written in, for plain scalars and for clang's vectors.
//
// F below is float, double or a vector of 16 of them; every operation is an IEEE basic operation,
// an explicit fma, an integer operation or a select, so that a lane has the same bits everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

#define KILN_INLINE inline __attribute__((always_inline))

namespace kiln::math {

/// What belongs to a lane type: the unsigned integer of its size, and its layout.
template <class L>
struct Layout;
template <>
struct Layout<float> {
  using UInt = uint32_t;
  using Int = int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr UInt bias = 127;
  static constexpr UInt sign = 0x80000000u;
  static constexpr UInt mantissa = 0x7fffffu;
  static constexpr float inf = __builtin_inff();
  static constexpr float nan = __builtin_nanf("");
  static constexpr float min_normal = 0x1p-126f;
  static constexpr float shifter = 0x1.8p23f;  // adding it rounds to an integer
  static constexpr float all_integers = 0x1p23f;
};
template <>
struct Layout<double> {
  using UInt = uint64_t;
  using Int = int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr UInt bias = 1023;
  static constexpr UInt sign = 0x8000000000000000u;
  static constexpr UInt mantissa = 0xfffffffffffffu;
  static constexpr double inf = __builtin_inf();
  static constexpr double nan = __builtin_nan("");
  static constexpr double min_normal = 0x1p-1022;
  static constexpr double shifter = 0x1.8p52;
  static constexpr double all_integers = 0x1p52;
};

/// The types that go with F: its lane type, and vectors of the same width of other lane types.
template <class F>
struct Types {
  using Lane = F;
  template <class T>
  using With = T;
};

#ifdef __clang__
template <class T>
using Vec16 = T __attribute__((ext_vector_type(16)));
template <class L>
struct Types16 {
  using Lane = L;
  template <class T>
  using With = Vec16<T>;
};
template <>
struct Types<Vec16<float>> : Types16<float> {};
template <>
struct Types<Vec16<double>> : Types16<double> {};
template <>
struct Types<Vec16<uint32_t>> : Types16<uint32_t> {};
template <>
struct Types<Vec16<int32_t>> : Types16<int32_t> {};
template <>
struct Types<Vec16<uint64_t>> : Types16<uint64_t> {};
template <>
struct Types<Vec16<int64_t>> : Types16<int64_t> {};
#endif

template <class F>
using Lane = typename Types<F>::Lane;
template <class F, class T>
using With = typename Types<F>::template With<T>;
template <class F>
using UInt = With<F, typename Layout<Lane<F>>::UInt>;
template <class F>
using Info = Layout<Lane<F>>;
template <class F>
using Same = std::type_identity_t<F>;  // keeps an argument out of deduction: constants convert

template <class To, class From>
KILN_INLINE To bit_cast(From v) {
  return __builtin_bit_cast(To, v);
}
template <class F>
KILN_INLINE UInt<F> bits(F v) {
  return bit_cast<UInt<F>>(v);
}

template <class M, class F>
KILN_INLINE F select(M m, F a, Same<F> b) {
  return m ? a : b;
}

/// The value of every lane as a T: an int conversion rounds or wraps as static_cast does.
template <class T, class V>
KILN_INLINE With<V, T> convert(V v) {
#ifdef __clang__
  if constexpr (!std::is_arithmetic_v<V>) return __builtin_convertvector(v, With<V, T>);
#endif
  if constexpr (std::is_arithmetic_v<V>) return static_cast<T>(v);
}

/// a * b + c, rounded once. The only way in which the math contracts.
template <class F>
KILN_INLINE F fma(F a, Same<F> b, Same<F> c) {
#ifdef __clang__
  return __builtin_elementwise_fma(a, b, c);
#else
  if constexpr (sizeof(F) == 4) return __builtin_fmaf(a, b, c);
  return __builtin_fma(a, b, c);
#endif
}

template <class F>
KILN_INLINE F sqrt(F a) {
#ifdef __clang__
  return __builtin_elementwise_sqrt(a);
#else
  if constexpr (sizeof(F) == 4) return __builtin_sqrtf(a);
  return __builtin_sqrt(a);
#endif
}

template <class F>
KILN_INLINE F abs(F a) {
  return bit_cast<F>(bits(a) & ~Info<F>::sign);
}
/// `magnitude`, which has no sign bit, with the sign of `s`.
template <class F>
KILN_INLINE F with_sign(F magnitude, F s) {
  return bit_cast<F>(bits(magnitude) | (bits(s) & Info<F>::sign));
}

/// Shift of two's complement values held in unsigned lanes.
template <int N, class U>
KILN_INLINE U shift_right_signed(U v) {
  using S = With<U, std::make_signed_t<Lane<U>>>;
  return bit_cast<U>(bit_cast<S>(v) >> N);
}

/// The float of a two's complement integer of fewer than mantissa_bits - 1 bits.
template <class F>
KILN_INLINE F small_int_to_float(UInt<F> v) {
  constexpr auto base = __builtin_bit_cast(typename Info<F>::UInt, Info<F>::shifter);
  return bit_cast<F>(v + base) - Info<F>::shifter;
}

/// 2^k for a k within the normal exponents; anything else gives an unspecified value.
template <class F>
KILN_INLINE F power_of_two(UInt<F> k) {
  return bit_cast<F>((k + Info<F>::bias) << Info<F>::mantissa_bits);
}

/// C[0] + C[1] x + C[2] x^2 + ..., by Horner's rule.
template <const auto& C, size_t I = 0, class F>
KILN_INLINE F polynomial(F x) {
  constexpr auto c = C[I];
  if constexpr (I + 1 == std::size(C))
    return F(c);
  else
    return fma(polynomial<C, I + 1>(x), x, F(c));
}

}  // namespace kiln::math
