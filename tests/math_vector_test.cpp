// The vector functions of the bitcode, on every instruction set that this CPU has, against the
// scalar functions: the same bits in every lane.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ir/core/scalar_ops.h"
#include "tests/math_kernels.h"
#include "tests/math_reference.h"

namespace kiln::test {
namespace {

template <class T>
struct Op1 {
  const char* name;
  T (*scalar)(T);
  UnaryKernel KernelTable::* kernel;
};
template <class T>
struct Op2 {
  const char* name;
  T (*scalar)(T, T);
  BinaryKernel KernelTable::* kernel;
};

template <class T>
const Op1<T> unary_ops[] = {
#define X(op) {#op, scalar::op<T>, &KernelTable::op},
    KILN_TEST_UNARY(X)
#undef X
};
template <class T>
const Op2<T> binary_ops[] = {
#define X(op) {#op, scalar::op<T>, &KernelTable::op},
    KILN_TEST_BINARY(X)
#undef X
};

template <class T>
const KernelTable& table(const IsaKernels& isa, int lanes) {
  if constexpr (sizeof(T) == 4)
    return lanes == 16 ? isa.f32x16 : isa.f32x1;
  else
    return lanes == 16 ? isa.f64x16 : isa.f64x1;
}

/// 16 lanes at the alignment that the kernels expect.
template <class T>
struct alignas(16 * sizeof(T)) Lanes {
  T lane[16];
};

/// Fails at the first lane that differs.
template <class T, class Call>
void expect_lanes(const std::string& what, const Lanes<T>& got, Call scalar) {
  for (int i = 0; i < 16; ++i)
    if (const T want = scalar(i); !same_bits(got.lane[i], want))
      FAIL() << what << ", lane " << i << ": " << got.lane[i] << " instead of " << want;
}

/// Calls run(isa, lanes) for each supported instruction set, with 16 lanes and 1.
template <class Run>
void for_each_kernel(Run run) {
  for (const IsaKernels& isa : math_kernels())
    for (int lanes : {16, 1})
      if (isa.supported) {
        SCOPED_TRACE(std::string(isa.name) + " x" + std::to_string(lanes));
        run(isa, lanes);
        if (testing::Test::HasFatalFailure()) return;
      }
}

template <class T>
class Vectors : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Vectors, Floats);

TYPED_TEST(Vectors, UnaryEqualScalar) {
  using T = TypeParam;
  const std::vector<T> inputs = math_inputs<T>(3000);
  for_each_kernel([&](const IsaKernels& isa, int lanes) {
    for (const Op1<T>& op : unary_ops<T>)
      for (size_t at = 0; at < inputs.size(); at += 16) {
        Lanes<T> in, out;
        std::copy_n(&inputs[at], 16, in.lane);
        for (int i = 0; i < 16; i += lanes)
          (table<T>(isa, lanes).*op.kernel)(out.lane + i, in.lane + i);
        expect_lanes(op.name, out, [&](int i) { return op.scalar(in.lane[i]); });
        if (testing::Test::HasFatalFailure()) return;
      }
  });
}

TYPED_TEST(Vectors, BinaryEqualScalar) {
  using T = TypeParam;
  std::vector<T> a = math_inputs<T>(3000), b = a;
  std::shuffle(b.begin(), b.end(), std::mt19937_64(11));
  // Special values against each other, and moderate exponents for pow.
  const T special[] = {T(0),
                       -T(0),
                       T(1),
                       T(-1),
                       T(-3),
                       T(0.5),
                       std::numeric_limits<T>::infinity(),
                       -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN()};
  for (T x : special)
    for (T y : special) a.push_back(x), b.push_back(y);
  std::mt19937_64 gen(12);
  for (int i = 0; i < 5000; ++i) {
    a.push_back(static_cast<T>(std::exp(std::uniform_real_distribution<double>(-9, 9)(gen))));
    b.push_back(static_cast<T>(std::uniform_real_distribution<double>(-90, 90)(gen)));
  }
  while (a.size() % 16) a.push_back(T(2)), b.push_back(T(3));
  for_each_kernel([&](const IsaKernels& isa, int lanes) {
    for (const Op2<T>& op : binary_ops<T>)
      for (size_t at = 0; at < a.size(); at += 16) {
        Lanes<T> x, y, out;
        std::copy_n(&a[at], 16, x.lane);
        std::copy_n(&b[at], 16, y.lane);
        for (int i = 0; i < 16; i += lanes)
          (table<T>(isa, lanes).*op.kernel)(out.lane + i, x.lane + i, y.lane + i);
        expect_lanes(op.name, out, [&](int i) { return op.scalar(x.lane[i], y.lane[i]); });
        if (testing::Test::HasFatalFailure()) return;
      }
  });
}

TYPED_TEST(Vectors, RandomEqualScalar) {
  using T = TypeParam;
  const int64_t seed = -81985529216486896, stream = 5;
  for_each_kernel([&](const IsaKernels& isa, int lanes) {
    const KernelTable& kernels = table<T>(isa, lanes);
    std::mt19937_64 gen(3);
    for (int block = 0; block < 500; ++block) {
      Lanes<int64_t> at;
      for (int64_t& p : at.lane) p = static_cast<int64_t>(block % 2 ? gen() : gen() >> 40);
      Lanes<T> uniform, normal;
      for (int i = 0; i < 16; i += lanes) {
        kernels.rand(uniform.lane + i, &seed, &stream, at.lane + i);
        kernels.randn(normal.lane + i, &seed, &stream, at.lane + i);
      }
      expect_lanes("rand", uniform,
                   [&](int i) { return scalar::rand<T>(seed, stream, at.lane[i]); });
      expect_lanes("randn", normal,
                   [&](int i) { return scalar::randn<T>(seed, stream, at.lane[i]); });
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

template <class T>
void check_integer_pow(BinaryKernel IsaKernels::* kernel) {
  std::mt19937_64 gen(5);
  for (const IsaKernels& isa : math_kernels()) {
    if (!isa.supported) continue;
    for (int block = 0; block < 1000; ++block) {
      Lanes<T> a, b, out;
      for (T& v : a.lane) v = static_cast<T>(block % 2 ? gen() : gen() % 9 - 4);
      for (T& v : b.lane) v = static_cast<T>(block % 3 ? gen() % 40 - 4 : gen());
      (isa.*kernel)(out.lane, a.lane, b.lane);
      for (int i = 0; i < 16; ++i) ASSERT_EQ(out.lane[i], scalar::pow(a.lane[i], b.lane[i]));
    }
  }
}
TEST(Vectors, IntegerPowEqualScalar) {
  check_integer_pow<int32_t>(&IsaKernels::pow_i32x16);
  check_integer_pow<int64_t>(&IsaKernels::pow_i64x16);
}

}  // namespace
}  // namespace kiln::test
