// The matrix product against a naive one in higher precision, over layouts and thread counts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/settings.h"
#include "runtime/buffer.h"
#include "runtime/matmul.h"
#include "runtime/task_pool.h"

namespace kiln::runtime {
namespace {

/// A tensor in guarded memory whose last axes lie in any order, with `step` elements between
/// neighbours.
template <class T>
struct Matrix {
  BufferRef buffer;
  MatView view;

  Matrix(Shape shape, bool transposed = false, int64_t step = 1) {
    const size_t rank = shape.size();
    Shape memory = shape;
    if (transposed) std::swap(memory[rank - 1], memory[rank - 2]);
    Dims strides = contiguous_strides(memory);
    for (int64_t& s : strides) s *= step;
    if (transposed) std::swap(strides[rank - 1], strides[rank - 2]);
    const int64_t elements = std::max<int64_t>(1, numel(shape)) * step;
    buffer = allocate(elements * static_cast<int64_t>(sizeof(T)));
    std::memset(buffer->data(), 0xFB, static_cast<size_t>(buffer->size()));
    view = {buffer->data(), dtype_of<T>, shape, strides};
  }
  /// Element by row-major position in the logical shape.
  T& at(int64_t i) const {
    int64_t offset = 0;
    for (size_t axis = view.shape.size(); axis-- > 0;) {
      offset += i % view.shape[axis] * view.strides[axis];
      i /= view.shape[axis];
    }
    return static_cast<T*>(view.data)[offset];
  }
  void fill(unsigned seed) {
    std::mt19937_64 random(seed);
    for (int64_t i = 0; i < numel(view.shape); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        at(i) = static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random));
      else
        at(i) = static_cast<T>(random());
    }
  }
};

/// Compares with the naive product. Floating: |error| <= k * u / (1 - k * u) * (|a| x |b|), the
/// bound of any order of summation (Higham, Accuracy and Stability, 3.5), with u the unit roundoff.
template <class T>
void expect_product(const Matrix<T>& out, const Matrix<T>& a, const Matrix<T>& b) {
  const size_t rank = out.view.shape.size();
  const int64_t m = out.view.shape[rank - 2], n = out.view.shape[rank - 1];
  const int64_t k = a.view.shape[rank - 1];
  for (int64_t i = 0; i < numel(out.view.shape); ++i) {
    const int64_t batch = i / (m * n), row = i / n % m, col = i % n;
    if constexpr (std::is_floating_point_v<T>) {
      long double sum = 0, magnitude = 0;
      for (int64_t t = 0; t < k; ++t) {
        const long double term = static_cast<long double>(a.at((batch * m + row) * k + t)) *
                                 static_cast<long double>(b.at((batch * k + t) * n + col));
        sum += term;
        magnitude += std::fabs(term);
      }
      const long double ku = static_cast<long double>(k) * std::numeric_limits<T>::epsilon() / 2;
      ASSERT_LE(std::fabs(static_cast<long double>(out.at(i)) - sum), ku / (1 - ku) * magnitude)
          << to_string(out.view.shape) << " k " << k << " element " << i;
    } else {
      using U = std::make_unsigned_t<T>;
      U sum = 0;
      for (int64_t t = 0; t < k; ++t)
        sum += static_cast<U>(a.at((batch * m + row) * k + t)) *
               static_cast<U>(b.at((batch * k + t) * n + col));
      ASSERT_EQ(static_cast<U>(out.at(i)), sum) << to_string(out.view.shape) << " element " << i;
    }
  }
}

struct Case {
  Shape batch;
  int64_t m, n, k;
};

Shape shape_of(Shape batch, int64_t rows, int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}

template <class T>
class MatmulTest : public testing::Test {
 protected:
  MatmulTest() { set_guard_pages(true); }
  ~MatmulTest() override {
    set_guard_pages(false);
    set_num_threads(0);
    settings().cpu = CpuLevel::Native;
  }
};
using Types = testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(MatmulTest, Types);

TYPED_TEST(MatmulTest, ShapesAgainstNaive) {
  const int64_t violations = guard_violations();
  for (const Case& c : std::vector<Case>{{{}, 1, 1, 1},
                                         {{}, 3, 5, 7},
                                         {{}, 1, 33, 50},
                                         {{}, 33, 1, 50},
                                         {{}, 300, 1, 17},
                                         {{}, 1, 300, 17},
                                         {{}, 17, 16, 15},
                                         {{}, 64, 48, 100},
                                         {{}, 129, 131, 65},
                                         {{}, 8, 1, 1},
                                         {{}, 300, 270, 40},
                                         {{}, 5, 4, 2000},
                                         {{4}, 3, 2, 5},
                                         {{2, 3}, 17, 9, 33},
                                         {{2, 1, 3}, 1, 5, 4}}) {
    Matrix<TypeParam> a(shape_of(c.batch, c.m, c.k)), b(shape_of(c.batch, c.k, c.n));
    Matrix<TypeParam> out(shape_of(c.batch, c.m, c.n));
    a.fill(1);
    b.fill(2);
    for (const CpuLevel cpu : {CpuLevel::Native, CpuLevel::Avx2, CpuLevel::Baseline}) {
      settings().cpu = cpu;
      matmul(out.view, a.view, b.view);
      expect_product(out, a, b);
    }
  }
  EXPECT_EQ(guard_violations(), violations);
}

TYPED_TEST(MatmulTest, LayoutsGiveTheSameBits) {
  for (const Case& c : std::vector<Case>{{{}, 45, 67, 130},
                                         {{}, 40, 1, 130},
                                         {{}, 1, 300, 37},
                                         {{}, 40, 30, 1},
                                         {{3}, 20, 50, 30},
                                         {{}, 260, 300, 300}}) {
    Matrix<TypeParam> a(shape_of(c.batch, c.m, c.k)), b(shape_of(c.batch, c.k, c.n));
    Matrix<TypeParam> expected(shape_of(c.batch, c.m, c.n));
    a.fill(3);
    b.fill(4);
    matmul(expected.view, a.view, b.view);
    for (int layout = 1; layout < 64; ++layout) {
      Matrix<TypeParam> a2(a.view.shape, layout & 1, layout & 8 ? 3 : 1);
      Matrix<TypeParam> b2(b.view.shape, layout & 2, layout & 16 ? 2 : 1);
      Matrix<TypeParam> out(expected.view.shape, layout & 4, layout & 32 ? 2 : 1);
      a2.fill(3);
      b2.fill(4);
      matmul(out.view, a2.view, b2.view);
      for (int64_t i = 0; i < numel(out.view.shape); ++i)
        ASSERT_EQ(out.at(i), expected.at(i)) << "layout " << layout << " element " << i;
    }
  }
}

TYPED_TEST(MatmulTest, BroadcastBatchesAndReversedAxes) {
  Matrix<TypeParam> a({3, 10, 20}), b({1, 20, 30}), out({3, 10, 30});
  a.fill(5);
  b.fill(6);
  b.view.shape[0] = 3;
  b.view.strides[0] = 0;
  matmul(out.view, a.view, b.view);
  expect_product(out, a, b);
  // Reversed rows of a and columns of b.
  auto reverse = [](MatView& v, size_t axis) {
    v.data = static_cast<TypeParam*>(v.data) + (v.shape[axis] - 1) * v.strides[axis];
    v.strides[axis] = -v.strides[axis];
  };
  reverse(a.view, 1);
  reverse(b.view, 2);
  matmul(out.view, a.view, b.view);
  expect_product(out, a, b);
  // A row of a for all rows.
  a.view.strides[1] = 0;
  matmul(out.view, a.view, b.view);
  expect_product(out, a, b);
}

TYPED_TEST(MatmulTest, EmptyExtents) {
  Matrix<TypeParam> a({4, 0}), b({0, 5}), zeros({4, 5});
  matmul(zeros.view, a.view, b.view);
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(zeros.at(i), TypeParam(0));
  Matrix<TypeParam> column({0, 1}), zero_column({4, 1});
  matmul(zero_column.view, a.view, column.view);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(zero_column.at(i), TypeParam(0));
  Matrix<TypeParam> none({0, 3}), c({3, 5}), empty({0, 5});
  EXPECT_NO_THROW(matmul(empty.view, none.view, c.view));
  EXPECT_THROW(matmul(zeros.view, a.view, c.view), InternalError);
}

TYPED_TEST(MatmulTest, ThreadCountsGiveTheSameBits) {
  for (const Case& c :
       std::vector<Case>{{{}, 600, 500, 300}, {{}, 5000, 1, 300}, {{9}, 64, 64, 64}}) {
    Matrix<TypeParam> a(shape_of(c.batch, c.m, c.k)), b(shape_of(c.batch, c.k, c.n));
    Matrix<TypeParam> one(shape_of(c.batch, c.m, c.n)), many(shape_of(c.batch, c.m, c.n));
    a.fill(7);
    b.fill(8);
    set_num_threads(1);
    matmul(one.view, a.view, b.view);
    set_num_threads(0);
    matmul(many.view, a.view, b.view);
    EXPECT_EQ(std::memcmp(one.buffer->data(), many.buffer->data(),
                          static_cast<size_t>(one.buffer->size())),
              0);
  }
}

}  // namespace
}  // namespace kiln::runtime
