#include "tests/math_kernels.h"

#include <cmath>
#include <string_view>

// The objects' symbols carry the name of their instruction set as prefix.
extern "C" {
// Without fma instructions the compiler calls these; the prefix reached them too.
float baseline_fmaf(float a, float b, float c) { return std::fma(a, b, c); }
double baseline_fma(double a, double b, double c) { return std::fma(a, b, c); }

#define KILN_U(symbol) void symbol(void*, const void*);
#define KILN_B(symbol) void symbol(void*, const void*, const void*);
#define KILN_R(symbol) void symbol(void*, const int64_t*, const int64_t*, const int64_t*);
#define KILN_SHAPE(isa, s)       \
  KILN_U(isa##_kiln_exp_##s)     \
  KILN_U(isa##_kiln_log_##s)     \
  KILN_U(isa##_kiln_tanh_##s)    \
  KILN_U(isa##_kiln_sigmoid_##s) \
  KILN_U(isa##_kiln_erf_##s)     \
  KILN_U(isa##_kiln_rsqrt_##s)   \
  KILN_U(isa##_kiln_floor_##s)   \
  KILN_U(isa##_kiln_round_##s)   \
  KILN_B(isa##_kiln_pow_##s)     \
  KILN_B(isa##_kiln_minimum_##s) \
  KILN_B(isa##_kiln_maximum_##s) \
  KILN_R(isa##_kiln_rand_##s)    \
  KILN_R(isa##_kiln_randn_##s)
#define X(isa)                  \
  KILN_SHAPE(isa, f32x16)       \
  KILN_SHAPE(isa, f64x16)       \
  KILN_SHAPE(isa, f32x1)        \
  KILN_SHAPE(isa, f64x1)        \
  KILN_B(isa##_kiln_pow_i32x16) \
  KILN_B(isa##_kiln_pow_i64x16)
KILN_TEST_ISAS(X)
#undef X
}

namespace kiln::test {
namespace {

bool supported(std::string_view isa) {
  if (isa == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (isa == "avx2")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
  return true;
}

}  // namespace

#define KILN_TABLE(isa, s)                                                                      \
  {isa##_kiln_exp_##s,  isa##_kiln_log_##s,     isa##_kiln_tanh_##s,    isa##_kiln_sigmoid_##s, \
   isa##_kiln_erf_##s,  isa##_kiln_rsqrt_##s,   isa##_kiln_floor_##s,   isa##_kiln_round_##s,   \
   isa##_kiln_pow_##s,  isa##_kiln_minimum_##s, isa##_kiln_maximum_##s, isa##_kiln_rand_##s,    \
   isa##_kiln_randn_##s}

const std::vector<IsaKernels>& math_kernels() {
  static const std::vector<IsaKernels> all = {
#define X(isa)              \
  {#isa,                    \
   supported(#isa),         \
   KILN_TABLE(isa, f32x16), \
   KILN_TABLE(isa, f64x16), \
   KILN_TABLE(isa, f32x1),  \
   KILN_TABLE(isa, f64x1),  \
   isa##_kiln_pow_i32x16,   \
   isa##_kiln_pow_i64x16},
      KILN_TEST_ISAS(X)
#undef X
  };
  return all;
}

}  // namespace kiln::test
