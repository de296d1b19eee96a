// The kernel interpreter against the tree of class R and plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "ir/core/reduce_tree.h"
#include "ir/kernel.h"

namespace kiln::ir {
namespace {

std::vector<float> random_values(size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = normal(random);
  return v;
}

/// Parses, verifies and runs all iterations in two parts; sets the scratch offsets.
void run(const char* text, std::vector<int64_t> nums, std::vector<void*> ptrs) {
  const Kernel k = parse_kernel(text);
  verify(k);
  std::vector<std::byte> scratch(static_cast<size_t>(layout_scratch(k, nums)));
  const int64_t n = iterations(k, nums);
  EXPECT_EQ(interpret(k, ptrs.data(), nums.data(), scratch.data(), n / 2, n), 0);
  EXPECT_EQ(interpret(k, ptrs.data(), nums.data(), scratch.data(), 0, n / 2), 0);
}

float add(float a, float b) { return a + b; }

TEST(InterpretKernel, Pointwise) {
  const int64_t rows = 3, columns = 1500, limit = 1200;
  const auto x = random_values(rows * columns);
  std::vector<float> y(x.size());
  run(R"(kernel pointwise {
    num n0 extent
    num n1 extent
    num n2 tile
    num n3 stride
    num n4 bound
    num n5 scalar f32
    num n6 offset
    ptr p0 f32 in
    ptr p1 f32 out
    outer i0 < n0
    outer i1 < n1
    tile n2
    index a2 = (n3*i0 + i1) / n4
    index a3 = (n3*i0 + i1) % n4
    %0 = index i64 i1
    %1 = scalar i64 n4
    %2 = lt bool %0, %1
    %3 = load f32 p0[n3*i0 - i1 + n6] if %2
    %4 = scalar f32 n5
    %5 = mul f32 %3, %4
    %6 = index i64 a2 + a3
    %7 = cast f32 %6
    %8 = add f32 %5, %7
    stage loop { store p1[n3*i0 + i1] = %8 }
  })",
      {rows, columns, 700, columns, limit, std::bit_cast<int32_t>(2.5f), columns - 1},
      {const_cast<float*>(x.data()), y.data()});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t flat = i * columns + j;
      const float loaded = j < limit ? x[static_cast<size_t>(i * columns + columns - 1 - j)] : 0;
      const float expected = loaded * 2.5f + static_cast<float>(flat / limit + flat % limit);
      ASSERT_EQ(y[static_cast<size_t>(flat)], expected) << i << ", " << j;
    }
}

const char* const rows_text = R"(kernel rows {
  num n0 extent
  num n1 extent
  num n2 extent
  num n3 stride
  num n4 stride
  num n5 scratch_offset
  ptr p0 f32 in
  ptr p1 f32 out
  ptr p2 f32 out
  ptr p3 i64 out
  outer i0 < n0
  inner i1 < n1
  inner i2 < n2
  %0 = load f32 p0[n3*i0 + n4*i1 + i2]
  %1 = mul f32 %0, %0
  %2 = acc f32 r0
  %3 = scratch f32 s0
  %4 = sub f32 %3, %2
  %5 = acc i64 r1
  reduce r0 = sum f32 %1
  reduce r1 = argmin f32 %0
  scratch s0 f32 at n5
  stage loop { reduce r0 reduce r1 fill s0 = %1 }
  stage loop { store p1[n3*i0 + n4*i1 + i2] = %4 }
  stage once { store p2[i0] = %2 store p3[i0] = %5 }
})";

TEST(InterpretKernel, RowsReduceInTheTree) {
  for (const auto& [rows, n] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {1, 31}, {1, 33}, {1, 4096}, {1, 4097}, {3, 1}, {130, 7}, {5, 13000}}) {
    const int64_t outer = 2, size = rows * n;
    const auto x = random_values(static_cast<size_t>(outer * size));
    std::vector<float> y(x.size()), sum(outer);
    std::vector<int64_t> at(outer);
    run(rows_text, {outer, rows, n, size, n, 0},
        {const_cast<float*>(x.data()), y.data(), sum.data(), at.data()});
    for (int64_t o = 0; o < outer; ++o) {
      const float* row = x.data() + o * size;
      const float expected = tree_reduce<float>(
          rows, n, [&](int64_t r, int64_t j) { return row[r * n + j] * row[r * n + j]; }, add);
      ASSERT_EQ(sum[static_cast<size_t>(o)], expected) << rows << " rows of " << n;
      ASSERT_EQ(at[static_cast<size_t>(o)], std::min_element(row, row + size) - row);
      for (int64_t i = 0; i < size; ++i)
        ASSERT_EQ(y[static_cast<size_t>(o * size + i)], row[i] * row[i] - expected);
    }
  }
}

TEST(InterpretKernel, ColumnsReduceRowsOfOneElement) {
  const int64_t n = 700, columns = 1100;
  const auto x = random_values(static_cast<size_t>(n * columns));
  std::vector<float> y(x.size()), sum(columns);
  std::vector<int64_t> at(columns);
  run(R"(kernel columns {
    num n0 extent
    num n1 extent
    num n2 tile
    num n3 stride
    num n4 scratch_offset
    num n5 scratch_offset
    num n6 scratch_offset
    ptr p0 f32 in
    ptr p1 f32 out
    ptr p2 f32 out
    ptr p3 i64 out
    outer i0 < n0
    inner i1 < n1
    tile n2
    %0 = load f32 p0[n3*i1 + i0]
    %1 = neg f32 %0
    %2 = acc f32 r0
    %3 = scratch f32 s0
    %4 = div f32 %3, %2
    %5 = acc i64 r1
    reduce r0 = sum f32 %1 at n5
    reduce r1 = argmax f32 %0 at n6
    scratch s0 f32 at n4
    stage loop { reduce r0 reduce r1 fill s0 = %1 }
    stage loop { store p1[n3*i1 + i0] = %4 }
    stage once { store p2[i0] = %2 store p3[i0] = %5 }
  })",
      {columns, n, 600, columns, 0, 0, 0},
      {const_cast<float*>(x.data()), y.data(), sum.data(), at.data()});
  for (int64_t c = 0; c < columns; ++c) {
    const auto element = [&](int64_t r, int64_t) {
      return -x[static_cast<size_t>(r * columns + c)];
    };
    const float expected = tree_reduce<float>(n, 1, element, add);
    ASSERT_EQ(sum[static_cast<size_t>(c)], expected) << c;
    int64_t best = 0;
    for (int64_t r = 1; r < n; ++r)
      if (element(r, 0) < element(best, 0)) best = r;
    ASSERT_EQ(at[static_cast<size_t>(c)], best);
    for (int64_t r = 0; r < n; ++r)
      ASSERT_EQ(y[static_cast<size_t>(r * columns + c)], element(r, 0) / expected);
  }
}

/// A split reduction and the pairwise combination of its groups give the bits of one reduction.
TEST(InterpretKernel, SplitIsTheSameTree) {
  for (int64_t n : {int64_t{1}, split_group() - 1, split_group(), split_group() + 1,
                    3 * split_group(), 5 * split_group() + 12345}) {
    const int64_t groups = (n + split_group() - 1) / split_group();
    const auto x = random_values(static_cast<size_t>(n));
    std::vector<float> parts(static_cast<size_t>(groups));
    float sum = 0;
    run(R"(kernel split {
      num n0 extent
      num n1 extent
      ptr p0 f32 in
      ptr p1 f32 out
      outer i0 < n0
      inner i1 < n1
      %0 = load f32 p0[i1]
      %1 = acc f32 r0
      reduce r0 = sum f32 %0
      stage loop { reduce r0 }
      stage once { store p1[i0] = %1 }
    })",
        {groups, n}, {const_cast<float*>(x.data()), parts.data()});
    run(R"(kernel rows {
      num n0 extent
      ptr p0 f32 in
      ptr p1 f32 out
      inner i0 < n0
      %0 = load f32 p0[i0]
      %1 = acc f32 r0
      reduce r0 = sum f32 %0 pairwise
      stage loop { reduce r0 }
      stage once { store p1[0] = %1 }
    })",
        {groups}, {parts.data(), &sum});
    const auto element = [&](int64_t, int64_t j) { return x[static_cast<size_t>(j)]; };
    EXPECT_EQ(sum, tree_reduce<float>(1, n, element, add)) << n;
  }
}

}  // namespace
}  // namespace kiln::ir
