// The math against MPFR, Philox against its published vectors, and every instruction set against
// the scalar functions. MATH_EXHAUSTIVE=1 tries every f32 input of the unary functions.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iostream>

#include "ir/core/math/bitcode.h"
#include "ir/core/philox.h"
#include "ir/core/scalar_ops.h"
#include "tests/math_kernels.h"
#include "tests/math_reference.h"

namespace kiln::test {
namespace {

using UnaryReal = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

int sigmoid_real(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_neg(r, x, mode);
  mpfr_exp(r, r, mode);
  mpfr_add_ui(r, r, 1, mode);
  return mpfr_ui_div(r, 1, r, mode);
}
int rsqrt_real(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) {
  // mpfr_rec_sqrt takes -0 to +inf; IEEE's 1 / sqrt(-0) is -inf.
  if (mpfr_zero_p(x)) return mpfr_ui_div(r, 1, x, mode);
  return mpfr_rec_sqrt(r, x, mode);
}

struct Function {
  const char* name;
  UnaryReal real;
  double (*f64_libm)(double);
  float (*f32)(float);
  double (*f64)(double);
  UnaryKernel KernelTable::* kernel;
};

double sigmoid_libm(double x) {
  const double z = std::exp(-std::fabs(x));
  return x < 0 ? z / (1 + z) : 1 / (1 + z);
}
double rsqrt_libm(double x) { return 1 / std::sqrt(x); }

const Function functions[] = {
    {"exp", mpfr_exp, std::exp, scalar::exp<float>, scalar::exp<double>, &KernelTable::exp},
    {"log", mpfr_log, std::log, scalar::log<float>, scalar::log<double>, &KernelTable::log},
    {"tanh", mpfr_tanh, std::tanh, scalar::tanh<float>, scalar::tanh<double>, &KernelTable::tanh},
    {"sigmoid", sigmoid_real, sigmoid_libm, scalar::sigmoid<float>, scalar::sigmoid<double>,
     &KernelTable::sigmoid},
    {"erf", mpfr_erf, std::erf, scalar::erf<float>, scalar::erf<double>, &KernelTable::erf},
    {"rsqrt", rsqrt_real, rsqrt_libm, scalar::rsqrt<float>, scalar::rsqrt<double>,
     &KernelTable::rsqrt},
};

/// The largest error of calls, and where it was.
template <class T>
struct Worst {
  double ulp = 0;
  T x = 0, y = 0;
  void add(double error, T at, T and_at = 0) {
    if (error > ulp) ulp = error, x = at, y = and_at;
  }
  void report(const std::string& name) const {
    std::cout << name << ": at most " << ulp << " ulp, at " << std::hexfloat << x << " " << y
              << std::defaultfloat << "\n";
    EXPECT_LE(ulp, 2.0) << name << " at " << x << ", " << y;
  }
};

template <class T>
constexpr const char* dtype_name = sizeof(T) == 4 ? "_f32" : "_f64";

template <class T>
class Accuracy : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Accuracy, Floats);

TYPED_TEST(Accuracy, UnaryFunctions) {
  using T = TypeParam;
  const std::vector<T> inputs = math_inputs<T>(4000);
  Real x, want;
  for (const Function& f : functions) {
    Worst<T> worst;
    for (T v : inputs) {
      T got;
      if constexpr (sizeof(T) == 4)
        got = f.f32(v);
      else
        got = f.f64(v);
      mpfr_set_d(x.get(), v, MPFR_RNDN);
      f.real(want.get(), x.get(), MPFR_RNDN);
      worst.add(ulp_error(got, want), v);
    }
    worst.report(f.name + std::string(dtype_name<T>));
  }
}

/// Pairs for pow: all pairs of special values, and random ones whose result is finite and not 1.
template <class T>
std::vector<std::pair<T, T>> pow_inputs(int random) {
  using L = std::numeric_limits<T>;
  std::vector<T> special;
  for (T v : {T(0),
              T(0.5),
              T(1),
              T(1.5),
              T(2),
              T(3),
              T(4),
              T(1e10),
              T(1e30),
              L::infinity(),
              L::quiet_NaN(),
              L::min(),
              L::denorm_min(),
              L::max(),
              T(2147483647.0),
              T(1e15 + 1),
              std::nextafter(T(1), T(0)),
              std::nextafter(T(1), T(2)),
              std::ldexp(T(1), L::digits),
              std::ldexp(T(1), L::digits) - 1,
              std::ldexp(T(1), L::digits) + 2,
              std::ldexp(T(1), L::digits - 1) - T(0.5),
              T(1) / 3})
    for (T sign : {T(1), T(-1)}) special.push_back(sign * v);
  std::vector<std::pair<T, T>> v;
  for (T a : special)
    for (T b : special) v.emplace_back(a, b);
  std::mt19937_64 gen(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  const double range = L::max_exponent + L::digits + 1;
  for (int i = 0; i < random; ++i) {
    // A base near 1 or anywhere, and the exponent that gives a chosen log2 of the result.
    const double spread = std::ldexp(1.0, -static_cast<int>(gen() % (L::digits - 2)));
    const double log2_x = i % 2 ? unit(gen) * spread : unit(gen) * (L::max_exponent - 1);
    const T x = static_cast<T>(std::exp2(log2_x));
    const double target = i % 3 ? unit(gen) * range : unit(gen) * 2;
    v.emplace_back(x, static_cast<T>(target / std::log2(static_cast<double>(x))));
    v.emplace_back(-x, std::round(static_cast<T>(unit(gen) * 40)));
    const uint64_t a = gen(), b = gen();
    std::pair<T, T> any;
    std::memcpy(&any.first, &a, sizeof(T));
    std::memcpy(&any.second, &b, sizeof(T));
    v.push_back(any);
  }
  while (v.size() % 16) v.emplace_back(T(2), T(3));
  return v;
}

TYPED_TEST(Accuracy, Pow) {
  using T = TypeParam;
  Real x, y, want;
  Worst<T> worst;
  for (auto [a, b] : pow_inputs<T>(40000)) {
    mpfr_set_d(x.get(), a, MPFR_RNDN);
    mpfr_set_d(y.get(), b, MPFR_RNDN);
    mpfr_pow(want.get(), x.get(), y.get(), MPFR_RNDN);
    // Beyond MPFR's own range only the direction counts, which ulp_error sees.
    worst.add(ulp_error(scalar::pow(a, b), want), a, b);
  }
  worst.report("pow" + std::string(dtype_name<T>));
}

/// The words of the block of one element.
PhiloxBlock<uint64_t> block_at(int64_t seed, int64_t stream, int64_t position) {
  return philox_at<uint64_t>(static_cast<uint64_t>(seed), static_cast<uint64_t>(stream),
                             static_cast<uint64_t>(position));
}

TYPED_TEST(Accuracy, Normal) {
  using T = TypeParam;
  Real u, v, r;
  Worst<T> worst;
  double sum = 0, squares = 0;
  constexpr int n = 200000;
  for (int64_t i = 0; i < n; ++i) {
    const auto block = block_at(42, -3, i * 977);
    const auto& w = block.word;
    if constexpr (sizeof(T) == 4) {
      mpfr_set_d(u.get(), (static_cast<float>(w[0] >> 1) + 1.0f) * 0x1p-31f, MPFR_RNDN);
      mpfr_set_d(v.get(), static_cast<double>(w[1] >> 8) * 0x1p-24, MPFR_RNDN);
    } else {
      const auto bits53 = [](uint64_t lo, uint64_t hi) { return (hi << 32 | lo) >> 11; };
      mpfr_set_d(u.get(), static_cast<double>(bits53(w[0], w[1]) + 1) * 0x1p-53, MPFR_RNDN);
      mpfr_set_d(v.get(), static_cast<double>(bits53(w[2], w[3])) * 0x1p-53, MPFR_RNDN);
    }
    mpfr_const_pi(r.get(), MPFR_RNDN);
    mpfr_mul(v.get(), v.get(), r.get(), MPFR_RNDN);
    mpfr_mul_ui(v.get(), v.get(), 2, MPFR_RNDN);
    mpfr_cos(v.get(), v.get(), MPFR_RNDN);
    mpfr_log(u.get(), u.get(), MPFR_RNDN);
    mpfr_mul_si(u.get(), u.get(), -2, MPFR_RNDN);
    mpfr_abs(u.get(), u.get(), MPFR_RNDN);
    mpfr_sqrt(u.get(), u.get(), MPFR_RNDN);
    mpfr_mul(r.get(), u.get(), v.get(), MPFR_RNDN);
    const T got = scalar::randn<T>(42, -3, i * 977);
    worst.add(ulp_error(got, r), static_cast<T>(i));
    sum += got;
    squares += static_cast<double>(got) * got;
  }
  worst.report("randn" + std::string(dtype_name<T>));
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2.0 / n));
}

TYPED_TEST(Accuracy, Uniform) {
  using T = TypeParam;
  double sum = 0;
  constexpr int n = 100000;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t position = i << 30;
    const auto block = block_at(-1, int64_t{1} << 40, position);
    const auto& w = block.word;
    const double want = sizeof(T) == 4 ? static_cast<double>(w[0] >> 8) / (1 << 24)
                                       : static_cast<double>((w[1] << 32 | w[0]) >> 11) * 0x1p-53;
    const T got = scalar::rand<T>(-1, int64_t{1} << 40, position);
    ASSERT_EQ(static_cast<double>(got), want);
    ASSERT_TRUE(got >= 0 && got < 1);
    sum += got;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
}

TEST(Philox, PublishedVectors) {
  // kat_vectors of Random123: philox4x32 with 10 rounds.
  struct Row {
    uint64_t counter[4];
    uint32_t key[2];
    uint64_t word[4];
  };
  constexpr uint64_t f = 0xffffffff;
  const Row rows[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{f, f, f, f}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Row& row : rows) {
    PhiloxBlock<uint64_t> counter;
    std::copy_n(row.counter, 4, counter.word);
    const auto block = philox(counter, row.key[0], row.key[1]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(block.word[i], row.word[i]);
  }
}

TEST(Philox, CounterIsPositionThenStream) {
  const auto block = block_at(0x299f31d0a4093822, 0x0370734413198a2e,
                              std::bit_cast<int64_t>(uint64_t{0x85a308d3243f6a88}));
  EXPECT_EQ(block.word[0], 0xd16cfe09u);
  EXPECT_EQ(block.word[3], 0x24126ea1u);
}

TEST(Bitcode, IsEmbedded) {
  ASSERT_GT(kiln_math_bitcode_size, 1000u);
  EXPECT_EQ(kiln_math_bitcode[0], 'B');
  EXPECT_EQ(kiln_math_bitcode[1], 'C');
}

TEST(Exhaustive, EveryF32) {
  if (!std::getenv("MATH_EXHAUSTIVE")) GTEST_SKIP() << "set MATH_EXHAUSTIVE=1";
  // The f64 functions of libm are right to 2^-28 ulp of f32.
  for (const Function& f : functions) {
    const UnaryKernel kernel = widest_math_kernels().f32x16.*f.kernel;
    Worst<float> worst;
    for (uint64_t first = 0; first < uint64_t{1} << 32; first += 16) {
      alignas(64) float in[16], out[16];
      for (uint32_t i = 0; i < 16; ++i) in[i] = std::bit_cast<float>(uint32_t(first) + i);
      kernel(out, in);
      for (int i = 0; i < 16; ++i) {
        const double want = f.f64_libm(in[i]), got = out[i];
        if (same_bits(want, got)) continue;
        double error = std::numeric_limits<double>::infinity();
        if (std::signbit(want) == std::signbit(got) && !std::isnan(want) && !std::isnan(got)) {
          const double a = std::min(std::fabs(want), 0x1p128);
          const int exponent = std::clamp(a == 0 ? -126 : std::ilogb(a), -126, 127);
          error = std::ldexp(std::fabs(std::min(std::fabs(got), 0x1p128) - a), 23 - exponent);
        }
        worst.add(error, in[i]);
      }
    }
    worst.report(f.name + std::string("_f32, every input"));
  }
}

}  // namespace
}  // namespace kiln::test
