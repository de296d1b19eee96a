// Index algebra: every simplification against brute force.
#include <gtest/gtest.h>

#include <random>

#include "ir/expr.h"

namespace kiln::ir {
namespace {

/// Checks that `e` equals `reference(vars)` for all values of two variables.
template <class F>
void expect_equal(const ExprPool& pool, const Expr& e, int64_t n0, int64_t n1,
                  std::span<const int64_t> symbols, F reference) {
  for (int64_t i = 0; i < n0; ++i)
    for (int64_t j = 0; j < n1; ++j) {
      const int64_t vars[] = {i, j};
      ASSERT_EQ(pool.evaluate(e, symbols, {}, vars), reference(i, j))
          << pool.print(e) << " at " << i << ", " << j;
    }
}

TEST(Expr, PolynomialsAreCanonical) {
  ExprPool pool;
  const Expr a = pool.symbol(0), b = pool.symbol(1);
  EXPECT_TRUE((a + b) * (a - b) == a * a - b * b);
  EXPECT_TRUE((a - a).is_zero());
  EXPECT_EQ(pool.print(Expr(2) * a * b - 1), "-1 + 2*s0*s1");
}

TEST(Expr, ReshapeOfContiguousIsAffine) {
  ExprPool pool;
  const Expr rows = pool.symbol(0), cols = pool.symbol(1);
  const Expr f = pool.var(0, rows * cols);
  const Expr joined = pool.simplify(pool.floordiv(f, cols) * cols + pool.mod(f, cols));
  EXPECT_TRUE(joined == f) << pool.print(joined);
  const Expr i = pool.var(1, rows), j = pool.var(2, cols);
  EXPECT_TRUE(pool.floordiv(i * cols + j, cols) == i);
  EXPECT_TRUE(pool.mod(i * cols + j, cols) == j);
}

TEST(Expr, ReversedIndexStaysInRange) {
  ExprPool pool;
  const Expr n = pool.symbol(0);
  const Expr i = pool.var(0, n);
  EXPECT_TRUE(pool.in_range(n - 1 - i, n));
  EXPECT_FALSE(pool.in_range(n - i, n));
}

// Case B13: the simplifier must not swap a division and a multiplication.
TEST(Expr, B13_DivisionThenMultiplication) {
  ExprPool pool;
  const Expr i = pool.var(0, 20);
  const Expr half = pool.floordiv(pool.mod(i, 20), 2);
  const Expr e = pool.mod(half * 2, 4);
  expect_equal(pool, e, 20, 1, {}, [](int64_t x, int64_t) { return x % 20 / 2 * 2 % 4; });
}

// Case B14: a remainder keeps the scale of its parts.
TEST(Expr, B14_RemainderOfScaledSum) {
  ExprPool pool;
  const Expr a = pool.var(0, 6), b = pool.var(1, 8);
  const Expr e = pool.mod(Expr(8) * a + b, 12);
  expect_equal(pool, e, 6, 8, {}, [](int64_t x, int64_t y) { return (8 * x + y) % 12; });
}

TEST(Expr, RandomExpressionsMatchBruteForce) {
  std::mt19937 rng(7);
  for (int round = 0; round < 3000; ++round) {
    ExprPool pool;
    const int64_t symbols[] = {2 + static_cast<int64_t>(rng() % 5),
                               2 + static_cast<int64_t>(rng() % 5)};
    const Expr s0 = pool.symbol(0), s1 = pool.symbol(1);
    struct Both {
      Expr e;
      std::function<int64_t(int64_t, int64_t)> f;
    };
    std::vector<Both> pool_of = {
        {pool.var(0, s0), [](int64_t i, int64_t) { return i; }},
        {pool.var(1, s1), [](int64_t, int64_t j) { return j; }},
        {s0, [&](int64_t, int64_t) { return symbols[0]; }},
        {s1, [&](int64_t, int64_t) { return symbols[1]; }},
    };
    for (int step = 0; step < 6; ++step) {
      const Both a = pool_of[rng() % pool_of.size()], b = pool_of[rng() % pool_of.size()];
      const int64_t c = 1 + static_cast<int64_t>(rng() % 6);
      switch (rng() % 5) {
        case 0:
          pool_of.push_back({a.e + b.e, [=](auto i, auto j) { return a.f(i, j) + b.f(i, j); }});
          break;
        case 1:
          pool_of.push_back({a.e * Expr(c), [=](auto i, auto j) { return a.f(i, j) * c; }});
          break;
        case 2:
          pool_of.push_back(
              {pool.floordiv(a.e, s1), [=](auto i, auto j) { return a.f(i, j) / symbols[1]; }});
          break;
        case 3:
          pool_of.push_back({pool.mod(a.e, s0 * c),
                             [=](auto i, auto j) { return a.f(i, j) % (symbols[0] * c); }});
          break;
        default:
          pool_of.push_back({pool.mod(a.e, c), [=](auto i, auto j) { return a.f(i, j) % c; }});
          break;
      }
    }
    for (const Both& b : pool_of) {
      expect_equal(pool, pool.simplify(b.e), symbols[0], symbols[1], symbols, b.f);
      EXPECT_TRUE(pool.parse(pool.print(b.e)) == b.e) << pool.print(b.e);
    }
  }
}

}  // namespace
}  // namespace kiln::ir
