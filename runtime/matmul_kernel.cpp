// Compiled once per instruction set, with KILN_MATMUL_ISA naming the namespace and Eigen renamed.
// The order in which each element of the result is summed depends on (m, n, k) alone, never on
// strides.
#define EIGEN_NO_DEBUG
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY
#include "runtime/matmul_kernel.h"

#include <Eigen/Core>

namespace kiln::runtime::KILN_MATMUL_ISA {
namespace {

namespace ei = Eigen::internal;

/// Eigen's block sizes over scratch memory of ours: its own would be malloc'd at each call.
template <class T>
struct Blocking : ei::level3_blocking<T, T> {
  Blocking(int64_t rows, int64_t cols, int64_t depth, ScratchFn scratch) {
    this->m_mc = rows;
    this->m_nc = cols;
    this->m_kc = depth;
    ei::computeProductBlockingSizes<T, T>(this->m_kc, this->m_mc, this->m_nc, Eigen::Index{1});
    const int64_t a = round_up(this->m_mc * this->m_kc);
    const int64_t b = round_up(this->m_nc * this->m_kc);
    std::byte* p = scratch((a + b) * static_cast<int64_t>(sizeof(T)));
    this->m_blockA = reinterpret_cast<T*>(p);
    this->m_blockB = this->m_blockA + a;
  }
  static int64_t round_up(int64_t n) { return (n + 127) / 64 * 64; }
};

/// c^T = b^T x a^T in Eigen's column-major terms, so that c is row-major.
template <class T, int BOrder, int AOrder>
void eigen_gemm(const GemmTile& t, ScratchFn scratch) {
  Blocking<T> blocking(t.n, t.m, t.k, scratch);
  using Product = ei::general_matrix_matrix_product<Eigen::Index, T, BOrder, false, T, AOrder,
                                                    false, Eigen::ColMajor, 1>;
  Product::run(t.n, t.m, t.k, static_cast<const T*>(t.b),
               BOrder == Eigen::ColMajor ? t.b_row : t.b_col, static_cast<const T*>(t.a),
               AOrder == Eigen::ColMajor ? t.a_row : t.a_col, static_cast<T*>(t.c), 1, t.c_row,
               T(1), blocking, nullptr);
}

template <class T>
void clear(const GemmTile& t) {
  auto* c = static_cast<T*>(t.c);
  for (int64_t i = 0; i < t.m; ++i)
    for (int64_t j = 0; j < t.n; ++j) c[i * t.c_row + j] = T(0);
}

template <class T>
void float_gemm(const GemmTile& t, ScratchFn scratch) {
  clear<T>(t);
  if (t.k == 0) return;
  constexpr int row_major = Eigen::RowMajor, col_major = Eigen::ColMajor;
  const bool a_rows = t.a_col == 1, b_rows = t.b_col == 1;
  if (a_rows && b_rows) {
    eigen_gemm<T, col_major, col_major>(t, scratch);
  } else if (a_rows) {
    eigen_gemm<T, row_major, col_major>(t, scratch);
  } else if (b_rows) {
    eigen_gemm<T, col_major, row_major>(t, scratch);
  } else {
    eigen_gemm<T, row_major, row_major>(t, scratch);
  }
}

/// T is unsigned: the product wraps. Exact, so the order does not matter.
template <class T>
void integer_gemm(const GemmTile& t, ScratchFn scratch) {
  constexpr int64_t block = 256;
  clear<T>(t);
  const auto* a = static_cast<const T*>(t.a);
  const auto* b = static_cast<const T*>(t.b);
  auto* c = static_cast<T*>(t.c);
  T* packed = t.b_col == 1 ? nullptr : reinterpret_cast<T*>(scratch(block * block * sizeof(T)));
  for (int64_t k0 = 0; k0 < t.k; k0 += block)
    for (int64_t j0 = 0; j0 < t.n; j0 += block) {
      const int64_t depth = t.k - k0 < block ? t.k - k0 : block;
      const int64_t width = t.n - j0 < block ? t.n - j0 : block;
      const T* panel = b + k0 * t.b_row + j0 * t.b_col;
      int64_t panel_row = t.b_row;
      if (packed) {
        for (int64_t k = 0; k < depth; ++k)
          for (int64_t j = 0; j < width; ++j)
            packed[k * block + j] = panel[k * t.b_row + j * t.b_col];
        panel = packed;
        panel_row = block;
      }
      for (int64_t i = 0; i < t.m; ++i) {
        T* __restrict row = c + i * t.c_row + j0;
        for (int64_t k = 0; k < depth; ++k) {
          const T f = a[i * t.a_row + (k0 + k) * t.a_col];
          const T* __restrict source = panel + k * panel_row;
          for (int64_t j = 0; j < width; ++j) row[j] += f * source[j];
        }
      }
    }
}

// Matrix times vector: term j of a row goes to lane j % lanes, in order; the lanes are summed in
// halves. Row-major and column-major matrices give the same bits.
constexpr int64_t lanes = 16;
constexpr int64_t row_block = 256;

template <class T>
void gemv_row_major(const GemvRows& v) {
  typedef T Lanes __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
  const auto* x = static_cast<const T*>(v.x);
  auto* y = static_cast<T*>(v.y);
  const int64_t whole = v.k / lanes * lanes;
  for (int64_t i = 0; i < v.rows; ++i) {
    const T* a = static_cast<const T*>(v.a) + i * v.a_row;
    Lanes acc = {};
    for (int64_t k = 0; k < whole; k += lanes)
      acc += *reinterpret_cast<const Lanes*>(a + k) * *reinterpret_cast<const Lanes*>(x + k);
    for (int64_t k = whole; k < v.k; ++k) acc[k - whole] += a[k] * x[k];
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l) acc[l] += acc[l + half];
    y[i * v.y_stride] = acc[0];
  }
}

template <class T>
void gemv_col_major(const GemvRows& v, ScratchFn scratch) {
  const auto* x = static_cast<const T*>(v.x);
  auto* y = static_cast<T*>(v.y);
  auto* acc = reinterpret_cast<T*>(scratch(lanes * row_block * sizeof(T)));
  for (int64_t i0 = 0; i0 < v.rows; i0 += row_block) {
    const int64_t rows = v.rows - i0 < row_block ? v.rows - i0 : row_block;
    for (int64_t l = 0; l < lanes * row_block; ++l) acc[l] = T(0);
    for (int64_t k = 0; k < v.k; ++k) {
      const T* __restrict a = static_cast<const T*>(v.a) + i0 + k * v.a_col;
      T* __restrict sum = acc + k % lanes * row_block;
      for (int64_t i = 0; i < rows; ++i) sum[i] += a[i] * x[k];
    }
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l)
        for (int64_t i = 0; i < rows; ++i)
          acc[l * row_block + i] += acc[(l + half) * row_block + i];
    for (int64_t i = 0; i < rows; ++i) y[(i0 + i) * v.y_stride] = acc[i];
  }
}

template <class T>
void gemv(const GemvRows& v, ScratchFn scratch) {
  if (v.a_col == 1)
    gemv_row_major<T>(v);
  else
    gemv_col_major<T>(v, scratch);
}

}  // namespace

const MatmulKernels matmul_kernels = {
    float_gemm<float>,      float_gemm<double>, integer_gemm<uint32_t>,
    integer_gemm<uint64_t>, gemv<float>,        gemv<double>};

}  // namespace kiln::runtime::KILN_MATMUL_ISA
