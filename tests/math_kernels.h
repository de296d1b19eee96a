// The embedded math bitcode, compiled for three instruction sets: the vector functions that
// generated code inlines, callable from the tests.
#pragma once

#include <cstdint>
#include <vector>

#define KILN_TEST_ISAS(X) X(baseline) X(avx2) X(avx512)
#define KILN_TEST_UNARY(X) X(exp) X(log) X(tanh) X(sigmoid) X(erf) X(rsqrt) X(floor) X(round)
#define KILN_TEST_BINARY(X) X(pow) X(minimum) X(maximum)

namespace kiln::test {

using UnaryKernel = void (*)(void* out, const void* a);
using BinaryKernel = void (*)(void* out, const void* a, const void* b);
using RandomKernel = void (*)(void* out, const int64_t* seed, const int64_t* stream,
                              const int64_t* position);

/// Functions of one shape: of 16 lanes or 1.
struct KernelTable {
#define X(op) UnaryKernel op;
  KILN_TEST_UNARY(X)
#undef X
#define X(op) BinaryKernel op;
  KILN_TEST_BINARY(X)
#undef X
  RandomKernel rand, randn;
};
struct IsaKernels {
  const char* name;
  bool supported;  // by this CPU
  KernelTable f32x16, f64x16, f32x1, f64x1;
  BinaryKernel pow_i32x16, pow_i64x16;
};
const std::vector<IsaKernels>& math_kernels();

/// The widest of them that this CPU supports.
inline const IsaKernels& widest_math_kernels() {
  const IsaKernels* best = nullptr;
  for (const IsaKernels& isa : math_kernels())
    if (isa.supported) best = &isa;
  return *best;
}

}  // namespace kiln::test
