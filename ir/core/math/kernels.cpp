// The math as functions to inline into kernels. Compiled by clang to bitcode that names no target,
// embedded in the library (bitcode.h says how to call it).

#include "ir/core/math/functions.h"
#include "ir/core/math/pow.h"
#include "ir/core/math/random.h"

namespace {

using namespace kiln::math;
template <class T>
using Scalar = T;
/// The name that ops.def has.
template <class F>
KILN_INLINE F round(F x) {
  return round_even(x);
}

}  // namespace

#define KILN_KERNEL extern "C" __attribute__((always_inline, nothrow)) void

#define KILN_UNARY(op, Op, V, L, suffix) \
  KILN_KERNEL kiln_##op##_##suffix(V<L>* out, const V<L>* a) { *out = op(*a); }
#define KILN_BINARY(op, Op, V, L, suffix) \
  KILN_KERNEL kiln_##op##_##suffix(V<L>* out, const V<L>* a, const V<L>* b) { *out = op(*a, *b); }
#define KILN_RANDOM(op, V, L, suffix)                                                       \
  KILN_KERNEL kiln_##op##_##suffix(V<L>* out, const uint64_t* seed, const uint64_t* stream, \
                                   const V<uint64_t>* position) {                           \
    *out = op<L>(*seed, *stream, *position);                                                \
  }
#define KILN_POW_INT(V, U, suffix) \
  KILN_KERNEL kiln_pow_##suffix(V<U>* out, const V<U>* a, const V<U>* b) { *out = pow_int(*a, *b); }

#define KILN_FLOATS(V, L, suffix)             \
  KILN_MATH_UNARY(KILN_UNARY, V, L, suffix)   \
  KILN_MATH_BINARY(KILN_BINARY, V, L, suffix) \
  KILN_UNARY(rsqrt, , V, L, suffix)           \
  KILN_UNARY(floor, , V, L, suffix)           \
  KILN_UNARY(round, , V, L, suffix)           \
  KILN_BINARY(minimum, , V, L, suffix)        \
  KILN_BINARY(maximum, , V, L, suffix)        \
  KILN_RANDOM(rand, V, L, suffix)             \
  KILN_RANDOM(randn, V, L, suffix)

KILN_FLOATS(Vec16, float, f32x16)
KILN_FLOATS(Vec16, double, f64x16)
KILN_FLOATS(Scalar, float, f32x1)
KILN_FLOATS(Scalar, double, f64x1)
KILN_POW_INT(Vec16, uint32_t, i32x16)
KILN_POW_INT(Vec16, uint64_t, i64x16)
KILN_POW_INT(Scalar, uint32_t, i32x1)
KILN_POW_INT(Scalar, uint64_t, i64x1)
