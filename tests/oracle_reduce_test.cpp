// Reductions of the oracle: results by hand, and the order of class R where the bits show it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "tests/oracle_helpers.h"

namespace kiln::ir {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

/// One reduction of `x` of shape `shape` over `axes`, both as text.
template <class T, class R>
Values<R> reduce(const std::string& op, const std::string& shape, const std::string& axes,
                 const std::string& result_shape, const Values<T>& x) {
  const std::string t(name(dtype_of<T>)), r(name(dtype_of<R>));
  return interpret_one<R>("graph params 0 { %0 = input " + t + " " + shape + " %1 = " + op + " " +
                              r + " " + result_shape + " (%0) axes " + axes +
                              " inputs %0 outputs %1 }",
                          {bytes(x)});
}

TEST(OracleReduce, SumsAndProducts) {
  const Floats x = {1, 2, 3, 4, 5, 6};
  expect_same(reduce<float, float>("sum", "[2, 3]", "[1]", "[2]", x), {6, 15});
  expect_same(reduce<float, float>("sum", "[2, 3]", "[0]", "[3]", x), {5, 7, 9});
  expect_same(reduce<float, float>("sum", "[2, 3]", "[0, 1]", "[]", x), {21});
  expect_same(reduce<float, float>("prod", "[3, 1, 2]", "[0]", "[1, 2]", x), {15, 48});
  expect_same(reduce<float, float>("sum", "[6]", "[]", "[6]", x), x);
}

TEST(OracleReduce, IntegersAndBoolsAccumulateInI64) {
  expect_same(reduce<int32_t, int64_t>("sum", "[2]", "[0]", "[]", {2147483647, 2147483647}),
              {int64_t{4294967294}});
  expect_same(reduce<int32_t, int64_t>("prod", "[2]", "[0]", "[]", {65536, -65536}),
              {-(int64_t{1} << 32)});
  expect_same(reduce<bool, int64_t>("sum", "[4]", "[0]", "[]", {1, 0, 1, 1}), {3});
  expect_same(
      reduce<int64_t, int64_t>("sum", "[2]", "[0]", "[]", {std::numeric_limits<int64_t>::max(), 1}),
      {std::numeric_limits<int64_t>::min()});
}

TEST(OracleReduce, NoElements) {
  expect_same(reduce<float, float>("sum", "[2, 0]", "[1]", "[2]", {}), {0, 0});
  expect_same(reduce<float, float>("prod", "[2, 0]", "[1]", "[2]", {}), {1, 1});
  expect_same(reduce<bool, int64_t>("prod", "[0]", "[0]", "[]", {}), {1});
  expect_same(reduce<float, float>("amax", "[0, 3]", "[1]", "[0]", {}), {});
}

TEST(OracleReduce, Extremes) {
  const Floats x = {3, -1, 3, nan, 0.0f, -0.0f};
  expect_same(reduce<float, float>("amax", "[3, 2]", "[1]", "[3]", x), {3, nan, 0.0f});
  expect_same(reduce<float, float>("amin", "[3, 2]", "[1]", "[3]", x), {-1, nan, -0.0f});
  expect_same(reduce<bool, bool>("amax", "[2, 2]", "[1]", "[2]", {0, 0, 0, 1}), {0, 1});
  expect_same(reduce<int32_t, int32_t>("amin", "[3]", "[0]", "[]", {5, -7, 6}), {-7});
}

TEST(OracleReduce, IndicesOfExtremes) {
  // The first NaN, else the first extreme; zeros are equal.
  expect_same(reduce<float, int64_t>("argmax", "[4, 3]", "[1]", "[4]",
                                     {1, 3, 3, 1, nan, nan, -0.0f, 0.0f, -1, 2, 1, 2}),
              {1, 1, 0, 0});
  expect_same(reduce<float, int64_t>("argmin", "[2, 3]", "[1]", "[2]", {1, 0, 0, 9, 5, nan}),
              {1, 2});
  // Row-major over the reduced axes, a kept one between them.
  std::vector<int32_t> x(2 * 3 * 4, 0);
  x[(1 * 3 + 2) * 4 + 3] = 7;  // [1, 2, 3]
  x[(0 * 3 + 1) * 4 + 2] = 5;  // [0, 1, 2]
  expect_same(reduce<int32_t, int64_t>("argmax", "[2, 3, 4]", "[0, 2]", "[3]", x),
              {0, 2, 1 * 4 + 3});
  expect_same(reduce<int32_t, int64_t>("argmax", "[2, 3, 4]", "[0, 1, 2]", "[]", x), {23});
}

TEST(OracleReduce, LongRowsFindExtremesInEveryLaneAndBlock) {
  Floats x(10000, 0.0f);
  for (size_t at :
       {size_t{9999}, size_t{5000}, size_t{4096}, size_t{4095}, size_t{33}, size_t{1}}) {
    x[at] = 1;  // each earlier than those before
    expect_same(reduce<float, int64_t>("argmax", "[10000]", "[0]", "[]", x),
                {static_cast<int64_t>(at)});
  }
}

// 2^24 + 1 is not a float: adding 1 to big changes nothing, adding 2 does. So the order shows.
constexpr float big = 16777216;

TEST(OracleTree, LanesAreInterleaved) {
  // Elements 0 and 32 share a lane: 1 + 1 = 2 first, then big. Elements 0 and 1 do not.
  Floats x(64, 0.0f);
  x[0] = x[32] = 1;
  x[16] = big;
  expect_same(reduce<float, float>("sum", "[64]", "[0]", "[]", x), {big + 2});
  // Lane 16 joins lane 0 first and loses the 1, then lane 8 brings another and loses it too.
  Floats y(64, 0.0f);
  y[0] = y[8] = 1;
  y[16] = big;
  expect_same(reduce<float, float>("sum", "[64]", "[0]", "[]", y), {big});
  // Halves: lanes 1 and 17 join before lane 1 meets lane 0.
  Floats z(64, 0.0f);
  z[1] = z[17] = 1;
  z[0] = big;
  expect_same(reduce<float, float>("sum", "[64]", "[0]", "[]", z), {big + 2});
}

TEST(OracleTree, BlocksAreSeparate) {
  // Two ones of one lane in the second block add up before they meet big of the first.
  Floats x(8192, 0.0f);
  x[0] = big;
  x[4096] = x[4096 + 32] = 1;
  expect_same(reduce<float, float>("sum", "[8192]", "[0]", "[]", x), {big + 2});
  // In the first block they meet big in their lane one by one.
  Floats y(8192, 0.0f);
  y[0] = big;
  y[32] = y[64] = 1;
  expect_same(reduce<float, float>("sum", "[8192]", "[0]", "[]", y), {big});
}

TEST(OracleTree, BlocksCombinePairwise) {
  // Blocks a b c d: (a + b) + (c + d), not ((a + b) + c) + d.
  Floats x(4 * 4096, 0.0f);
  x[0] = big;
  x[2 * 4096] = x[3 * 4096] = 1;
  expect_same(reduce<float, float>("sum", "[16384]", "[0]", "[]", x), {big + 2});
  // Five blocks with 1s in c and e: (a + b) + (c + d) loses c's 1, then e's.
  Floats y(5 * 4096, 0.0f);
  y[0] = big;
  y[2 * 4096] = y[4 * 4096] = 1;
  expect_same(reduce<float, float>("sum", "[20480]", "[0]", "[]", y), {big});
}

TEST(OracleTree, KeptLastAxisGoesRowByRowInChunks) {
  // Rows 0..63 in order: big first swallows two ones. Rows 64 and 65 are another chunk.
  Floats x(128 * 2, 0.0f);
  x[0] = big;
  x[2 * 1] = x[2 * 2] = 1;
  x[2 * 1 + 1] = 0;
  x[1] = big;
  x[2 * 64 + 1] = x[2 * 65 + 1] = 1;
  expect_same(reduce<float, float>("sum", "[128, 2]", "[0]", "[2]", x), {big, big + 2});
}

TEST(OracleTree, RowsOfSeveralAxesAreOneRun) {
  // [2, 32] reduced wholly is one run of 64: elements 0 and 32 share a lane.
  Floats x(64, 0.0f);
  x[0] = x[32] = 1;
  x[16] = big;
  expect_same(reduce<float, float>("sum", "[2, 32]", "[0, 1]", "[]", x), {big + 2});
  expect_same(reduce<float, float>("sum", "[2, 1, 32, 1]", "[0, 2]", "[1, 1]", x), {big + 2});
  // With a kept axis between, [2, 1, 32] drops it and [2, 2, 32] does not: there, rows of 32.
  Floats y(128, 0.0f);
  y[0] = y[64] = 1;
  y[16] = big;
  const auto r = reduce<float, float>("sum", "[2, 2, 32]", "[0, 2]", "[2]", y);
  expect_same(r, {big, 0});
}

TEST(OracleTree, KeptAxisOfExtentOneDoesNotCount) {
  // The last axis is kept but has one element: the axis before it is the trailing one.
  Floats x(64, 0.0f);
  x[0] = x[32] = 1;
  x[16] = big;
  expect_same(reduce<float, float>("sum", "[64, 1]", "[0]", "[1]", x), {big + 2});
  // Row by row it would be 1 + big = big, + 1 = big.
}

/// The tree written anew, as a recursion over the definition in words, against the oracle.
float reference_pairwise(std::vector<float> v) {
  // Complete subtrees of the largest power of two, older first.
  std::function<float(size_t, size_t)> fold = [&](size_t begin, size_t end) {
    if (end - begin == 1) return v[begin];
    size_t half = 1;
    while (half * 2 < end - begin) half *= 2;
    return fold(begin, begin + half) + fold(begin + half, end);
  };
  return fold(0, v.size());
}

float reference_row(const float* x, size_t n) {
  std::vector<float> blocks;
  for (size_t begin = 0; begin < n; begin += 4096) {
    const size_t len = std::min<size_t>(4096, n - begin), lanes = std::min<size_t>(32, len);
    std::vector<float> lane(x + begin, x + begin + lanes);
    for (size_t j = lanes; j < len; ++j) lane[j % 32] += x[begin + j];
    for (size_t half = 16; half > 0; half /= 2)
      for (size_t l = 0; l < half && l + half < lane.size(); ++l) lane[l] += lane[l + half];
    blocks.push_back(lane[0]);
  }
  return reference_pairwise(blocks);
}

TEST(OracleTree, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (size_t n : {1, 2, 17, 31, 32, 33, 100, 4095, 4096, 4097, 12289, 40000}) {
    Floats x(n);
    for (float& v : x) v = normal(random);
    const std::string text = "[" + std::to_string(n) + "]";
    expect_same(reduce<float, float>("sum", text, "[0]", "[]", x), {reference_row(x.data(), n)});
  }
  for (size_t rows : {1, 2, 63, 64, 65, 130, 449}) {
    const size_t kept = 3, n = 50;
    Floats x(rows * kept * n);
    for (float& v : x) v = normal(random);
    Floats expected;
    for (size_t k = 0; k < kept; ++k) {
      std::vector<float> chunks;
      for (size_t r = 0; r < rows; ++r) {
        const float row = reference_row(&x[(r * kept + k) * n], n);
        r % 64 == 0 ? chunks.push_back(row) : void(chunks.back() += row);
      }
      expected.push_back(reference_pairwise(chunks));
    }
    const std::string text = "[" + std::to_string(rows) + ", 3, 50]";
    const std::string axes = rows == 1 ? "[2]" : "[0, 2]";
    const std::string result = rows == 1 ? "[1, 3]" : "[3]";
    expect_same(reduce<float, float>("sum", text, axes, result, x), expected);
  }
}

}  // namespace
}  // namespace kiln::ir
