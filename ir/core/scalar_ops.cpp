#include "ir/core/scalar_ops.h"

#include "ir/core/math/pow.h"
#include "ir/core/math/random.h"

namespace kiln::scalar {

template <class T>
T minimum(T a, T b) {
  if constexpr (Float<T>)
    return math::minimum(a, b);
  else
    return b < a ? b : a;
}

template <class T>
T maximum(T a, T b) {
  if constexpr (Float<T>)
    return math::maximum(a, b);
  else
    return a < b ? b : a;
}

template <Number T>
T pow(T a, T b) {
  if constexpr (Float<T>) {
    return math::pow(a, b);
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(math::pow_int(static_cast<U>(a), static_cast<U>(b)));
  }
}

template <Float T>
T sqrt(T a) {
  return math::sqrt(a);
}
template <Float T>
T rsqrt(T a) {
  return math::rsqrt(a);
}
template <Float T>
T exp(T a) {
  return math::exp(a);
}
template <Float T>
T log(T a) {
  return math::log(a);
}
template <Float T>
T tanh(T a) {
  return math::tanh(a);
}
template <Float T>
T sigmoid(T a) {
  return math::sigmoid(a);
}
template <Float T>
T erf(T a) {
  return math::erf(a);
}

template <Number T>
T floor(T a) {
  if constexpr (Float<T>)
    return math::floor(a);
  else
    return a;
}
template <Number T>
T round(T a) {
  if constexpr (Float<T>)
    return math::round_even(a);
  else
    return a;
}

template <Float T>
T rand(int64_t seed, int64_t stream, int64_t position) {
  return math::rand<T>(static_cast<uint64_t>(seed), static_cast<uint64_t>(stream),
                       static_cast<uint64_t>(position));
}
template <Float T>
T randn(int64_t seed, int64_t stream, int64_t position) {
  return math::randn<T>(static_cast<uint64_t>(seed), static_cast<uint64_t>(stream),
                        static_cast<uint64_t>(position));
}

#define KILN_ANY(T)            \
  template T minimum<T>(T, T); \
  template T maximum<T>(T, T);
#define KILN_NUMBER(T)     \
  KILN_ANY(T)              \
  template T pow<T>(T, T); \
  template T floor<T>(T);  \
  template T round<T>(T);
#define KILN_FLOAT(T)                            \
  KILN_NUMBER(T)                                 \
  template T sqrt<T>(T);                         \
  template T rsqrt<T>(T);                        \
  template T exp<T>(T);                          \
  template T log<T>(T);                          \
  template T tanh<T>(T);                         \
  template T sigmoid<T>(T);                      \
  template T erf<T>(T);                          \
  template T rand<T>(int64_t, int64_t, int64_t); \
  template T randn<T>(int64_t, int64_t, int64_t);

KILN_ANY(bool)
KILN_NUMBER(int32_t)
KILN_NUMBER(int64_t)
KILN_FLOAT(float)
KILN_FLOAT(double)

}  // namespace kiln::scalar
