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

template <Integer T>
T pow(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(math::pow_int(static_cast<U>(a), static_cast<U>(b)));
}

template <Float T>
T sqrt(T a) {
  return math::sqrt(a);
}
template <Float T>
T rsqrt(T a) {
  return math::rsqrt(a);
}
#define KILN_UNARY(name, Op) \
  template <Float T>         \
  T name(T a) {              \
    return math::name(a);    \
  }
#define KILN_BINARY(name, Op) \
  template <Float T>          \
  T name(T a, T b) {          \
    return math::name(a, b);  \
  }
KILN_MATH_UNARY(KILN_UNARY)
KILN_MATH_BINARY(KILN_BINARY)
#undef KILN_UNARY
#undef KILN_BINARY

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

#define KILN_UNARY(name, Op, T) template T name<T>(T);
#define KILN_BINARY(name, Op, T) template T name<T>(T, T);
#define KILN_ANY(T)         \
  KILN_BINARY(minimum, , T) \
  KILN_BINARY(maximum, , T)
#define KILN_NUMBER(T)   \
  KILN_ANY(T)            \
  KILN_UNARY(floor, , T) \
  KILN_UNARY(round, , T)
#define KILN_INTEGER(T) \
  KILN_NUMBER(T)        \
  KILN_BINARY(pow, , T)
#define KILN_FLOAT(T)                            \
  KILN_NUMBER(T)                                 \
  KILN_UNARY(sqrt, , T)                          \
  KILN_UNARY(rsqrt, , T)                         \
  KILN_MATH_UNARY(KILN_UNARY, T)                 \
  KILN_MATH_BINARY(KILN_BINARY, T)               \
  template T rand<T>(int64_t, int64_t, int64_t); \
  template T randn<T>(int64_t, int64_t, int64_t);

KILN_ANY(bool)
KILN_INTEGER(int32_t)
KILN_INTEGER(int64_t)
KILN_FLOAT(float)
KILN_FLOAT(double)

}  // namespace kiln::scalar
