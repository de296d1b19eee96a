// The semantics that docs/numerics.md promises, element by element, and the dispatch over the op
// table.

#include "ir/core/scalar_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ir/core/error.h"
#include "ir/eval.h"

namespace kiln {
namespace {

using ir::Op;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t i32_min = std::numeric_limits<int32_t>::min();
constexpr int32_t i32_max = std::numeric_limits<int32_t>::max();
constexpr int64_t i64_min = std::numeric_limits<int64_t>::min();
constexpr int64_t i64_max = std::numeric_limits<int64_t>::max();

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<int32_t, int64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, Wrap) {
  using T = TypeParam;
  const T lo = std::numeric_limits<T>::min(), hi = std::numeric_limits<T>::max();
  EXPECT_EQ(scalar::add<T>(hi, 1), lo);
  EXPECT_EQ(scalar::sub<T>(lo, 1), hi);
  EXPECT_EQ(scalar::mul<T>(hi, hi), 1);
  EXPECT_EQ(scalar::mul<T>(lo, -1), lo);
  EXPECT_EQ(scalar::neg<T>(lo), lo);
  EXPECT_EQ(scalar::abs<T>(lo), lo);
  EXPECT_EQ(scalar::abs<T>(-7), 7);
}

TYPED_TEST(Integers, Pow) {
  using T = TypeParam;
  const T lo = std::numeric_limits<T>::min();
  for (T base = -12; base <= 12; ++base) {
    T want = 1;
    for (T e = 0; e < 100; ++e) {
      EXPECT_EQ(scalar::pow<T>(base, e), want) << base << "^" << e;
      want = scalar::mul<T>(want, base);
    }
  }
  EXPECT_EQ(scalar::pow<T>(0, 0), 1);
  EXPECT_EQ(scalar::pow<T>(1, -5), 1);
  EXPECT_EQ(scalar::pow<T>(-1, -5), -1);
  EXPECT_EQ(scalar::pow<T>(-1, -4), 1);
  EXPECT_EQ(scalar::pow<T>(-1, lo), 1);
  EXPECT_EQ(scalar::pow<T>(2, -1), 0);
  EXPECT_EQ(scalar::pow<T>(0, -1), 0);
  EXPECT_EQ(scalar::pow<T>(lo, -3), 0);
}

template <class T>
class Floats : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes);

TYPED_TEST(Floats, ExtremesPropagateNanAndOrderZeros) {
  using T = TypeParam;
  EXPECT_TRUE(std::isnan(scalar::minimum<T>(nan, 1)));
  EXPECT_TRUE(std::isnan(scalar::minimum<T>(1, nan)));
  EXPECT_TRUE(std::isnan(scalar::maximum<T>(nan, inf)));
  EXPECT_TRUE(std::isnan(scalar::maximum<T>(-inf, nan)));
  for (T a : {T(0), -T(0)})
    for (T b : {T(0), -T(0)}) {
      EXPECT_EQ(std::signbit(scalar::minimum(a, b)), std::signbit(a) || std::signbit(b));
      EXPECT_EQ(std::signbit(scalar::maximum(a, b)), std::signbit(a) && std::signbit(b));
    }
  EXPECT_EQ(scalar::minimum<T>(-2, 3), -2);
  EXPECT_EQ(scalar::maximum<T>(-2, 3), 3);
  EXPECT_EQ(scalar::maximum<T>(-inf, -1), -1);
}

TYPED_TEST(Floats, RoundingMatchesTheDefaultMode) {
  using T = TypeParam;
  const T big = std::ldexp(T(1), std::numeric_limits<T>::digits - 1);
  for (T x : {T(0), T(0.2), T(0.5), T(0.7), T(1), T(1.5), T(2.5), T(1e7), big / 2 - T(0.5), big - 1,
              big - T(0.5), big, big + 1, std::numeric_limits<T>::max(), T(inf),
              std::numeric_limits<T>::denorm_min(), std::nextafter(T(0.5), T(0))})
    for (T v : {x, -x}) {
      EXPECT_EQ(Bits::of(scalar::floor(v)), Bits::of(std::floor(v))) << v;
      EXPECT_EQ(Bits::of(scalar::round(v)), Bits::of(std::nearbyint(v))) << v;
    }
  EXPECT_TRUE(std::isnan(scalar::floor<T>(nan)));
  EXPECT_TRUE(std::isnan(scalar::round<T>(nan)));
}

TYPED_TEST(Floats, AbsAndNegChangeTheSignOnly) {
  using T = TypeParam;
  EXPECT_FALSE(std::signbit(scalar::abs(-T(0))));
  EXPECT_TRUE(std::signbit(scalar::neg(T(0))));
  EXPECT_EQ(scalar::abs<T>(-inf), inf);
}

TYPED_TEST(Floats, ToIntegerTruncatesAndSaturates) {
  using T = TypeParam;
  EXPECT_EQ((scalar::cast<int32_t, T>(2.9)), 2);
  EXPECT_EQ((scalar::cast<int32_t, T>(-2.9)), -2);
  EXPECT_EQ((scalar::cast<int32_t, T>(nan)), 0);
  EXPECT_EQ((scalar::cast<int32_t, T>(inf)), i32_max);
  EXPECT_EQ((scalar::cast<int32_t, T>(-inf)), i32_min);
  EXPECT_EQ((scalar::cast<int32_t, T>(2147483648.0)), i32_max);
  EXPECT_EQ((scalar::cast<int32_t, T>(-2147483648.0)), i32_min);
  EXPECT_EQ((scalar::cast<int64_t, T>(9223372036854775808.0)), i64_max);
  EXPECT_EQ((scalar::cast<int64_t, T>(-9223372036854775808.0)), i64_min);
  EXPECT_EQ((scalar::cast<int64_t, T>(-1e30)), i64_min);
  EXPECT_EQ((scalar::cast<int64_t, T>(nan)), 0);
  EXPECT_EQ((scalar::cast<int64_t, T>(4503599627370496.0)), 4503599627370496);
  EXPECT_TRUE((scalar::cast<bool, T>(nan)));
  EXPECT_FALSE((scalar::cast<bool, T>(-0.0)));
  EXPECT_EQ((scalar::cast<T, bool>(true)), 1);
}

TEST(Casts, BoundsInsideF64) {
  EXPECT_EQ((scalar::cast<int32_t, double>(2147483647.9)), i32_max);
  EXPECT_EQ((scalar::cast<int32_t, double>(2147483646.9)), 2147483646);
  EXPECT_EQ((scalar::cast<int32_t, double>(-2147483647.9)), -2147483647);
  EXPECT_EQ((scalar::cast<int32_t, double>(-2147483648.9)), i32_min);
}

TEST(Casts, IntegersWrapAndRound) {
  EXPECT_EQ((scalar::cast<int32_t, int64_t>((int64_t{1} << 32) + 5)), 5);
  EXPECT_EQ((scalar::cast<int32_t, int64_t>(int64_t{1} << 31)), i32_min);
  EXPECT_EQ((scalar::cast<float, int32_t>(16777217)), 16777216.0f);
  EXPECT_EQ((scalar::cast<float, int64_t>(i64_max)), 0x1p63f);
  EXPECT_EQ((scalar::cast<float, double>(1e300)), inf);
  EXPECT_EQ((scalar::cast<float, double>(1e-45)), 1e-45f);
}

TEST(Arg, FirstNanElseFirstExtreme) {
  const std::vector<float> cases[] = {
      {1, 5, 5, 2}, {1, nan, 7, nan}, {-0.0f, 0.0f, -0.0f}, {-inf, -inf}, {nan}, {3, -2, -2, 8}};
  const int64_t max_at[] = {1, 1, 0, 0, 0, 3}, min_at[] = {0, 1, 0, 0, 0, 1};
  for (size_t c = 0; c < std::size(cases); ++c)
    for (bool reversed : {false, true}) {
      const auto fold = [&](Op op) {
        const int64_t n = static_cast<int64_t>(cases[c].size());
        const auto at = [&](int64_t i) {
          const int64_t j = reversed ? n - 1 - i : i;
          return ir::ArgPair{Bits::of(cases[c][static_cast<size_t>(j)]), j};
        };
        ir::ArgPair best = at(0);
        for (int64_t i = 1; i < n; ++i) best = ir::arg_combine(op, DType::F32)(best, at(i));
        return best.index;
      };
      EXPECT_EQ(fold(Op::Argmax), max_at[c]) << c;
      EXPECT_EQ(fold(Op::Argmin), min_at[c]) << c;
    }
}

TEST(Eval, BoolAlgebra) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      const Bits in[] = {Bits::of(a), Bits::of(b)};
      const auto eval = [&](Op op) {
        return ir::eval_op(op, DType::Bool, in, DType::Bool, DType::Bool).as<bool>();
      };
      EXPECT_EQ(eval(Op::Add), a || b);
      EXPECT_EQ(eval(Op::Mul), a && b);
      EXPECT_EQ(eval(Op::Minimum), a && b);
      EXPECT_EQ(eval(Op::Maximum), a || b);
      EXPECT_EQ(eval(Op::Lt), !a && b);
      EXPECT_EQ(eval(Op::Ge), a || !b);
      EXPECT_EQ(eval(Op::LogicalNot), !a);
    }
}

/// Every row of the table has a function for exactly the dtypes that it accepts.
TEST(Eval, CoversTheTable) {
  for (int i = 0; i < ir::num_ops; ++i) {
    const Op op = static_cast<Op>(i);
    if (!ir::is_elementwise(op) || op == Op::Cast) continue;
    for (DType t : {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64}) {
      if (!ir::accepts(op, t)) {
        EXPECT_THROW(ir::eval_fn(op, t, t, t), InternalError) << ir::name(op) << " " << name(t);
        continue;
      }
      const DType compute = ir::compute_dtype(op, t);
      EXPECT_NE(ir::eval_fn(op, compute, ir::result_dtype(op, t), t), nullptr) << ir::name(op);
    }
  }
}

TEST(Eval, BlocksInPlaceAndByElement) {
  std::vector<Bits> a, b, want;
  for (int i = 0; i < 100; ++i) {
    a.push_back(Bits::of(static_cast<float>(i) - 50));
    b.push_back(Bits::of(static_cast<float>(i) * 0.5f));
    const Bits in[] = {a.back(), b.back()};
    want.push_back(ir::eval_op(Op::Sub, DType::F32, in, DType::F32, DType::F32));
    EXPECT_EQ(want.back(), Bits::of(static_cast<float>(i) * 0.5f - 50));
  }
  const Bits* in[] = {a.data(), b.data()};
  ir::eval_fn(Op::Sub, DType::F32, DType::F32, DType::F32)(a.data(), in, 100);
  EXPECT_EQ(a, want);
}

TEST(Eval, WhereCastRandom) {
  const Bits where[] = {Bits::of(false), Bits::of(1.5), Bits::of(-2.5)};
  EXPECT_EQ(ir::eval_op(Op::Where, DType::F64, where, DType::F64, DType::F64), Bits::of(-2.5));
  const Bits x[] = {Bits::of(-3.75f)};
  EXPECT_EQ(ir::eval_op(Op::Cast, DType::F32, x, DType::I64, DType::F32), Bits::of(int64_t{-3}));
  EXPECT_EQ(ir::eval_op(Op::Cast, DType::F32, x, DType::Bool, DType::F32), Bits::of(true));
  const Bits at[] = {Bits::of(int64_t{1}), Bits::of(int64_t{2}), Bits::of(int64_t{3})};
  EXPECT_EQ(ir::eval_op(Op::Rand, DType::I64, at, DType::F32, DType::I64),
            Bits::of(scalar::rand<float>(1, 2, 3)));
  EXPECT_EQ(ir::eval_op(Op::Randn, DType::I64, at, DType::F64, DType::I64),
            Bits::of(scalar::randn<double>(1, 2, 3)));
}

TEST(Eval, Reductions) {
  EXPECT_EQ(ir::reduce_identity(Op::Sum, DType::F32), Bits::of(0.0f));
  EXPECT_EQ(ir::reduce_identity(Op::Prod, DType::I64), Bits::of(int64_t{1}));
  EXPECT_THROW(ir::reduce_identity(Op::Amax, DType::F32), InternalError);
  EXPECT_EQ(ir::reduce_combine(Op::Sum, DType::I64)(Bits::of(i64_max), Bits::of(int64_t{1})),
            Bits::of(i64_min));
  EXPECT_EQ(ir::reduce_combine(Op::Amax, DType::F32)(Bits::of(-0.0f), Bits::of(0.0f)),
            Bits::of(0.0f));
  EXPECT_TRUE(std::isnan(
      ir::reduce_combine(Op::Amin, DType::F32)(Bits::of(1.0f), Bits::of(nan)).as<float>()));
}

}  // namespace
}  // namespace kiln
