// The oracle itself against values worked out by hand, op by op. Reductions:
// oracle_reduce_test.cpp.
#include <gtest/gtest.h>

#include <limits>

#include "tests/oracle_helpers.h"

namespace kiln::ir {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t i32_min = std::numeric_limits<int32_t>::min();
constexpr int64_t i64_min = std::numeric_limits<int64_t>::min();
using Bools = std::vector<uint8_t>;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

TEST(OracleElementwise, Arithmetic) {
  const Floats a = {1, -2.5f, inf, 0.1f}, b = {3, 0.5f, -inf, 0.2f};
  expect_same(binary<float>("add", a, b), {4, -2, nan, 0.1f + 0.2f});
  expect_same(binary<float>("sub", a, b), {-2, -3, inf, 0.1f - 0.2f});
  expect_same(binary<float>("mul", a, b), {3, -1.25f, -inf, 0.1f * 0.2f});
  expect_same(binary<float>("div", a, b), {1.0f / 3, -5, nan, 0.1f / 0.2f});
  expect_same(binary<float>("div", Floats{1, -1, 0}, Floats{0, 0, 0}), {inf, -inf, nan});
  expect_same(unary<float>("neg", Floats{1, -0.0f, inf}), {-1, 0.0f, -inf});
  expect_same(unary<float>("abs", Floats{-1, -0.0f, -inf}), {1, 0.0f, inf});
}

TEST(OracleElementwise, IntegersWrap) {
  const Ints a = {i32_min, 2147483647, 65536}, b = {-1, 1, 65536};
  expect_same(binary<int32_t>("add", a, b), {2147483647, i32_min, 131072});
  expect_same(binary<int32_t>("sub", a, b), {i32_min + 1, 2147483646, 0});
  expect_same(binary<int32_t>("mul", a, b), {i32_min, 2147483647, 0});
  expect_same(unary<int32_t>("neg", a), {i32_min, -2147483647, -65536});
  expect_same(unary<int32_t>("abs", a), {i32_min, 2147483647, 65536});
  expect_same(binary<int64_t>("add", Longs{i64_min}, Longs{-1}), {-(i64_min + 1)});
  expect_same(binary<int64_t>("mul", Longs{int64_t{1} << 40}, Longs{int64_t{1} << 40}), {0});
}

TEST(OracleElementwise, BoolArithmetic) {
  const Bools a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  expect_same(binary<bool>("add", a, b), {0, 1, 1, 1});
  expect_same(binary<bool>("mul", a, b), {0, 0, 0, 1});
  expect_same(binary<bool>("minimum", a, b), {0, 0, 0, 1});
  expect_same(binary<bool>("maximum", a, b), {0, 1, 1, 1});
}

TEST(OracleElementwise, ExtremesPropagateNanAndOrderZeros) {
  const Floats a = {nan, 1, 0.0f, -0.0f, -1}, b = {1, nan, -0.0f, 0.0f, 2};
  expect_same(binary<float>("minimum", a, b), {nan, nan, -0.0f, -0.0f, -1});
  expect_same(binary<float>("maximum", a, b), {nan, nan, 0.0f, 0.0f, 2});
  expect_same(binary<int32_t>("minimum", Ints{3, -3}, Ints{-4, 4}), {-4, -3});
  expect_same(binary<int32_t>("maximum", Ints{3, -3}, Ints{-4, 4}), {3, 4});
}

TEST(OracleElementwise, Powers) {
  expect_same(binary<float>("pow", Floats{2, -2, 9, 0, -8}, Floats{10, 3, 0.5f, 0, 0.5f}),
              {1024, -8, 3, 1, nan});
  // A negative exponent truncates the true value; 0 to a negative power is 0.
  expect_same(binary<int32_t>("pow", Ints{2, -1, 1, 3, 0, 2, 3}, Ints{10, -3, -5, -1, -1, 32, 21}),
              {1024, -1, 1, 0, 0, 0, int32_t(10460353203 & 0xffffffff)});
}

TEST(OracleElementwise, RoundingAndRoots) {
  const Floats a = {2.5f, 3.5f, -2.5f, -0.5f, 0.49999997f, inf};
  expect_same(unary<float>("round", a), {2, 4, -2, -0.0f, 0, inf});
  expect_same(unary<float>("floor", a), {2, 3, -3, -1, 0, inf});
  expect_same(unary<int32_t>("round", Ints{-7}), {-7});
  expect_same(unary<int32_t>("floor", Ints{-7}), {-7});
  expect_same(unary<float>("sqrt", Floats{9, 2, -0.0f, -1}), {3, 1.41421354f, -0.0f, nan});
  expect_same(unary<float>("rsqrt", Floats{4, 0, inf}), {0.5f, inf, 0});
}

TEST(OracleElementwise, Transcendentals) {
  // Values that every faithful implementation gives; accuracy is the business of the math tests.
  expect_same(unary<float>("exp", Floats{0, -inf, inf, 1000, nan}), {1, 0, inf, inf, nan});
  expect_same(unary<float>("log", Floats{1, 0, inf, -1}), {0, -inf, inf, nan});
  expect_same(unary<float>("tanh", Floats{0, inf, -inf, 40}), {0, 1, -1, 1});
  expect_same(unary<float>("sigmoid", Floats{0, inf, -inf}), {0.5f, 1, 0});
  expect_same(unary<float>("erf", Floats{0, inf, -inf}), {0, 1, -1});
  expect_same(unary<double>("exp", std::vector<double>{0}), {1});
  EXPECT_NEAR(unary<double>("exp", std::vector<double>{1})[0], 2.718281828459045, 1e-15);
  EXPECT_NEAR(unary<double>("log", std::vector<double>{10})[0], 2.302585092994046, 1e-15);
  EXPECT_NEAR(unary<double>("tanh", std::vector<double>{0.5})[0], 0.46211715726000976, 2e-16);
  EXPECT_NEAR(unary<double>("erf", std::vector<double>{0.5})[0], 0.5204998778130465, 2e-16);
  EXPECT_NEAR(unary<double>("sigmoid", std::vector<double>{1})[0], 0.7310585786300049, 2e-16);
}

TEST(OracleElementwise, Comparisons) {
  const Floats a = {1, 2, 3, nan, 0.0f}, b = {2, 2, 2, nan, -0.0f};
  expect_same(binary<float, bool>("eq", a, b), {0, 1, 0, 0, 1});
  expect_same(binary<float, bool>("ne", a, b), {1, 0, 1, 1, 0});
  expect_same(binary<float, bool>("lt", a, b), {1, 0, 0, 0, 0});
  expect_same(binary<float, bool>("le", a, b), {1, 1, 0, 0, 1});
  expect_same(binary<float, bool>("gt", a, b), {0, 0, 1, 0, 0});
  expect_same(binary<float, bool>("ge", a, b), {0, 1, 1, 0, 1});
  expect_same(binary<int64_t, bool>("lt", Longs{i64_min}, Longs{1}), {1});
}

TEST(OracleElementwise, Logic) {
  const Floats a = {0, -0.0f, 2, nan}, b = {1, 0, 1, 0};
  expect_same(binary<float, bool>("logical_and", a, b), {0, 0, 1, 0});
  expect_same(binary<float, bool>("logical_or", a, b), {1, 0, 1, 1});
  expect_same(unary<float, bool>("logical_not", a), {1, 1, 0, 0});
}

TEST(OracleElementwise, Where) {
  const auto r =
      interpret_one<float>(R"(graph params 0 {
    %0 = input bool [3]
    %1 = input f32 [3]
    %2 = input f32 [1]
    %3 = where f32 [3] (%0, %1, %2)
    inputs %0, %1, %2
    outputs %3
  })",
                           {bytes(Bools{1, 0, 1}), bytes(Floats{1, 2, nan}), bytes(Floats{9})});
  expect_same(r, {1, 9, nan});
}

TEST(OracleElementwise, Casts) {
  expect_same(cast<float, int32_t>({2.9f, -2.9f, 3e9f, -3e9f, nan, inf}),
              {2, -2, 2147483647, i32_min, 0, 2147483647});
  expect_same(cast<float, int64_t>({9.3e18f, -inf}),
              {std::numeric_limits<int64_t>::max(), i64_min});
  expect_same(cast<int64_t, int32_t>({(int64_t{1} << 32) + 5, -1}), {5, -1});
  expect_same(cast<float, bool>({0, -0.0f, 0.5f, nan}), {0, 0, 1, 1});
  expect_same(cast<int32_t, bool>({0, -7}), {0, 1});
  expect_same(cast<bool, float>(Bools{0, 1}), {0, 1});
  expect_same(cast<int64_t, float>({16777217, -1}), {16777216, -1});
  expect_same(cast<double, float>({1.0 + 0x1p-24, 1e300}), {1, inf});
}

TEST(OracleElementwise, Broadcasts) {
  const auto r = interpret_one<int32_t>(R"(graph params 1 {
    %0 = input i32 [2, 1, 3]
    %1 = input i32 [2, 1]
    %2 = mul i32 [2, 2, 3] (%0, %1)
    %3 = param i32 [] @0
    %4 = add i32 [2, 2, 3] (%2, %3)
    inputs %0, %1
    outputs %4
  })",
                                        {bytes(Ints{1, 2, 3, 4, 5, 6}), bytes(Ints{1, 10})}, {100});
  expect_same(r, {101, 102, 103, 110, 120, 130, 104, 105, 106, 140, 150, 160});
}

TEST(OracleLeaves, ParametersAreBitsOfTheirDtype) {
  const char* text = R"(graph params 2 {
    %0 = param f32 [] @1
    %1 = const f32 [] 0.25
    %2 = add f32 [] (%0, %1)
    outputs %2
  })";
  expect_same(interpret_one<float>(text, {}, {0, std::bit_cast<uint32_t>(1.5f)}), {1.75f});
}

TEST(OracleViews, ReshapePermuteExpand) {
  const auto x = bytes(Ints{0, 1, 2, 3, 4, 5});
  expect_same(interpret_one<int32_t>(R"(graph params 0 {
    %0 = input i32 [2, 3]
    %1 = permute i32 [3, 2] (%0) order [1, 0]
    %2 = reshape i32 [2, 3] (%1)
    inputs %0
    outputs %2
  })",
                                     {x}),
              {0, 3, 1, 4, 2, 5});
  expect_same(interpret_one<int32_t>(R"(graph params 0 {
    %0 = input i32 [3, 1, 2]
    %1 = permute i32 [1, 2, 3] (%0) order [1, 2, 0]
    inputs %0
    outputs %1
  })",
                                     {x}),
              {0, 2, 4, 1, 3, 5});
  expect_same(interpret_one<int32_t>(R"(graph params 0 {
    %0 = input i32 [3, 1]
    %1 = expand i32 [2, 3, 2] (%0)
    inputs %0
    outputs %1
  })",
                                     {bytes(Ints{7, 8, 9})}),
              {7, 7, 8, 8, 9, 9, 7, 7, 8, 8, 9, 9});
}

TEST(OracleViews, SlicesTakeStepsAndStarts) {
  const char* text = R"(graph params 2 {
    %0 = input i32 [3, 4]
    %1 = slice i32 [2, 2] (%0) steps [-1, 3] @0, @1
    inputs %0
    outputs %1
  })";
  const auto x = bytes(Ints{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  expect_same(interpret_one<int32_t>(text, {x}, {2, 0}), {20, 23, 10, 13});
  expect_same(interpret_one<int32_t>(text, {x}, {1, 0}), {10, 13, 0, 3});
  EXPECT_THROW(interpret_one<int32_t>(text, {x}, {0, 0}), InternalError);
  EXPECT_THROW(interpret_one<int32_t>(text, {x}, {2, 1}), InternalError);
}

TEST(OracleUpdate, SliceScatterReplacesThePart) {
  const char* text = R"(graph params 1 {
    %0 = input i32 [5]
    %1 = input i32 [2]
    %2 = slice_scatter i32 [5] (%0, %1) steps [-2] @0
    inputs %0, %1
    outputs %2, %0
  })";
  const auto whole = bytes(Ints{0, 1, 2, 3, 4}), part = bytes(Ints{70, 80});
  const auto r = interpret_all(text, {whole, part}, {3});
  expect_same(values<int32_t>(r[0]), {0, 80, 2, 70, 4});
  expect_same(values<int32_t>(r[1]), {0, 1, 2, 3, 4});
}

TEST(OracleConcat, JoinsAlongAnAxis) {
  const char* text = R"(graph params 0 {
    %0 = input i32 [2, 1]
    %1 = input i32 [2, 2]
    %2 = input i32 [2, 0]
    %3 = cat i32 [2, 3] (%0, %2, %1) axis [1]
    inputs %0, %1, %2
    outputs %3
  })";
  expect_same(interpret_one<int32_t>(text, {bytes(Ints{1, 2}), bytes(Ints{3, 4, 5, 6}), {}}),
              {1, 3, 4, 2, 5, 6});
}

TEST(OracleCreation, FullAndArange) {
  const char* full = R"(graph params 0 {
    %0 = const bool [] true
    %1 = full bool [3] (%0)
    outputs %1
  })";
  expect_same(interpret_one<bool>(full), {1, 1, 1});
  const char* floats = R"(graph params 0 {
    %0 = const f32 [] 0.1
    %1 = const f32 [] 0.3
    %2 = arange f32 [4] (%0, %1)
    outputs %2
  })";
  Floats expected;
  for (int i = 0; i < 4; ++i)
    expected.push_back(static_cast<float>(double(0.1f) + i * double(0.3f)));
  expect_same(interpret_one<float>(floats), expected);
  const char* wrapping = R"(graph params 0 {
    %0 = const i32 [] 2147483647
    %1 = const i32 [] 2
    %2 = arange i32 [3] (%0, %1)
    outputs %2
  })";
  expect_same(interpret_one<int32_t>(wrapping), {2147483647, i32_min + 1, i32_min + 3});
}

TEST(OracleRandom, IsAFunctionOfSeedStreamAndPosition) {
  const char* text = R"(graph params 2 {
    %0 = param i64 [] @0
    %1 = param i64 [] @1
    %2 = rand f32 [3, 4] (%0, %1)
    %3 = rand f32 [12] (%0, %1)
    %4 = randn f64 [1000] (%0, %1)
    outputs %2, %3, %4
  })";
  const auto a = interpret_all(text, {}, {1, 2}), b = interpret_all(text, {}, {1, 3});
  EXPECT_EQ(a[0], a[1]);
  EXPECT_EQ(a, interpret_all(text, {}, {1, 2}));
  EXPECT_NE(a[0], b[0]);
  for (float v : values<float>(a[0])) EXPECT_TRUE(v >= 0 && v < 1) << v;
  double sum = 0, squares = 0;
  for (double v : values<double>(a[2])) {
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 1000, 0, 0.15);
  EXPECT_NEAR(squares / 1000, 1, 0.2);
}

TEST(OracleMatmul, BatchesAndIntegers) {
  const char* text = R"(graph params 0 {
    %0 = input i32 [2, 1, 2]
    %1 = input i32 [2, 2, 2]
    %2 = matmul i32 [2, 1, 2] (%0, %1)
    inputs %0, %1
    outputs %2
  })";
  expect_same(interpret_one<int32_t>(
                  text, {bytes(Ints{1, 2, i32_min, 3}), bytes(Ints{1, 2, 3, 4, 2, 1, 5, 6})}),
              {7, 10, 15, i32_min + 18});
}

TEST(OracleMatmul, FloatsRoundOnce) {
  const char* text = R"(graph params 0 {
    %0 = input f32 [1, 3]
    %1 = input f32 [3, 1]
    %2 = matmul f32 [1, 1] (%0, %1)
    %3 = input f32 [2, 0]
    %4 = input f32 [0, 2]
    %5 = matmul f32 [2, 2] (%3, %4)
    inputs %0, %1, %3, %4
    outputs %2, %5
  })";
  const auto r =
      interpret_all(text, {bytes(Floats{1e8f, 1, -1e8f}), bytes(Floats{1, 1, 1}), {}, {}});
  expect_same(values<float>(r[0]), {1});
  expect_same(values<float>(r[1]), {0, 0, 0, 0});
}

}  // namespace
}  // namespace kiln::ir
