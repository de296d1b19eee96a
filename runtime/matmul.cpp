#include "runtime/matmul.h"

#include <algorithm>
#include <cstring>

#include "ir/core/error.h"
#include "ir/core/settings.h"
#include "runtime/buffer.h"
#include "runtime/float_mode.h"
#include "runtime/matmul_kernel.h"
#include "runtime/scratch.h"
#include "runtime/task_pool.h"

namespace kiln::runtime {
namespace {

/// The kernels of the widest instruction set that the host has and the setting allows.
const MatmulKernels& kernels() {
#if defined(__x86_64__)
  const CpuLevel level = settings().cpu;
  const bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (level <= CpuLevel::Avx512 && fma && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    return avx512::matmul_kernels;
  if (level <= CpuLevel::Avx2 && fma) return avx2::matmul_kernels;
#endif
  return baseline::matmul_kernels;
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How the result is cut into tiles: a function of the extents alone, so that the bits do not
/// depend on the number of threads.
struct Tiling {
  int64_t rows, cols;  // of a tile

  static Tiling of(int64_t m, int64_t n, int64_t k) {
    constexpr int64_t enough_work = int64_t{1} << 22;  // multiplications; about 50 us
    constexpr int64_t max_tiles = 64;
    constexpr int64_t least_extent = 128;
    Tiling t{m, n};
    for (int64_t tiles = 1; tiles < max_tiles; tiles *= 2) {
      int64_t& larger = t.rows > t.cols ? t.rows : t.cols;
      if (larger < 2 * least_extent || t.rows * t.cols * k <= enough_work) break;
      larger = ceil_div(larger, 2);
    }
    // Whole register tiles of the microkernels.
    t.rows = t.rows == m ? m : ceil_div(t.rows, 8) * 8;
    t.cols = t.cols == n ? n : ceil_div(t.cols, 48) * 48;
    return t;
  }
};

/// The offset in bytes of batch number `index` of the view.
int64_t batch_offset(const MatView& v, int64_t index) {
  int64_t offset = 0;
  for (size_t axis = v.shape.size() - 2; axis-- > 0;) {
    offset += index % v.shape[axis] * v.strides[axis];
    index /= v.shape[axis];
  }
  return offset * static_cast<int64_t>(size_of(v.dtype));
}

int64_t batch_count(const MatView& v) {
  int64_t n = 1;
  for (size_t axis = 0; axis + 2 < v.shape.size(); ++axis) n *= v.shape[axis];
  return n;
}

int64_t rows_of(const MatView& v) { return v.shape[v.shape.size() - 2]; }
int64_t cols_of(const MatView& v) { return v.shape[v.shape.size() - 1]; }
int64_t& row_stride(MatView& v) { return v.strides[v.strides.size() - 2]; }
int64_t& col_stride(MatView& v) { return v.strides[v.strides.size() - 1]; }

template <class T>
void copy_elements(const MatView& to, const MatView& from) {
  MatView d = to, s = from;
  const int64_t rows = rows_of(d), cols = cols_of(d);
  const int64_t dr = row_stride(d), dc = col_stride(d), sr = row_stride(s), sc = col_stride(s);
  parallel_for(
      batch_count(d) * rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(cols, 1)),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          auto* dst =
              reinterpret_cast<T*>(static_cast<std::byte*>(d.data) + batch_offset(d, i / rows)) +
              i % rows * dr;
          const auto* src = reinterpret_cast<const T*>(static_cast<const std::byte*>(s.data) +
                                                       batch_offset(s, i / rows)) +
                            i % rows * sr;
          for (int64_t j = 0; j < cols; ++j) dst[j * dc] = src[j * sc];
        }
      });
}

/// Copies between views of equal shapes.
void copy_view(const MatView& to, const MatView& from) {
  if (size_of(to.dtype) == 4)
    copy_elements<uint32_t>(to, from);
  else
    copy_elements<uint64_t>(to, from);
}

/// A row-major view of fresh memory for `v`; batch axes of stride 0 stay so if `keep_broadcast`.
BufferRef packed_like(const MatView& v, bool keep_broadcast, MatView& packed) {
  packed = v;
  int64_t size = 1;
  for (size_t axis = v.shape.size(); axis-- > 0;) {
    const bool broadcast = keep_broadcast && axis + 2 < v.shape.size() && v.strides[axis] == 0;
    packed.strides[axis] = broadcast ? 0 : size;
    if (!broadcast) size *= v.shape[axis];
  }
  BufferRef buffer = allocate(size * static_cast<int64_t>(size_of(v.dtype)));
  packed.data = buffer->data();
  return buffer;
}

/// Makes one of the matrix strides 1: axes of one element do not matter, else by a copy.
BufferRef make_unit_stride(MatView& v) {
  if (cols_of(v) == 1) col_stride(v) = 1;
  if (col_stride(v) == 1) return {};
  if (rows_of(v) == 1) row_stride(v) = 1;
  if (row_stride(v) == 1) return {};
  MatView packed;
  BufferRef buffer = packed_like(v, true, packed);
  // Each distinct matrix once: a broadcast batch axis is copied as one element.
  MatView to = packed, from = v;
  for (size_t axis = 0; axis + 2 < v.shape.size(); ++axis)
    if (packed.strides[axis] == 0) to.shape[axis] = from.shape[axis] = 1;
  copy_view(to, from);
  v = packed;
  return buffer;
}

const std::byte* at(const MatView& v, int64_t batch) {
  return static_cast<const std::byte*>(v.data) + batch_offset(v, batch);
}

void run_gemm(MatView out, MatView a, MatView b) {
  const int64_t m = rows_of(out), n = cols_of(out), k = cols_of(a);
  const auto size = static_cast<int64_t>(size_of(out.dtype));
  const Tiling tile = Tiling::of(m, n, k);
  const int64_t across = ceil_div(n, tile.cols), down = ceil_div(m, tile.rows);
  const MatmulKernels& all = kernels();
  const auto gemm = out.dtype == DType::F32   ? all.gemm_f32
                    : out.dtype == DType::F64 ? all.gemm_f64
                    : out.dtype == DType::I32 ? all.gemm_i32
                                              : all.gemm_i64;
  const int64_t work = std::max<int64_t>(1, tile.rows * tile.cols * std::max<int64_t>(k, 1));
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 18) / work);
  parallel_for(batch_count(out) * down * across, grain, [&](int64_t begin, int64_t end) {
    DefaultFloatMode mode;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t batch = task / (down * across);
      const int64_t i = task / across % down * tile.rows, j = task % across * tile.cols;
      const GemmTile t = {std::min(tile.rows, m - i),
                          std::min(tile.cols, n - j),
                          k,
                          at(a, batch) + i * row_stride(a) * size,
                          row_stride(a),
                          col_stride(a),
                          at(b, batch) + j * col_stride(b) * size,
                          row_stride(b),
                          col_stride(b),
                          const_cast<std::byte*>(at(out, batch)) + (i * row_stride(out) + j) * size,
                          row_stride(out)};
      gemm(t, thread_scratch);
    }
  });
}

/// out[rows] = matrix[rows, k] x vector[k]; the vector is contiguous.
void run_gemv(const MatView& out, int64_t y_stride, MatView matrix, const MatView& vector) {
  const int64_t rows = rows_of(matrix), k = cols_of(matrix);
  const auto size = static_cast<int64_t>(size_of(out.dtype));
  const auto gemv = out.dtype == DType::F32 ? kernels().gemv_f32 : kernels().gemv_f64;
  const int64_t panel = std::max<int64_t>(256, (int64_t{1} << 16) / std::max<int64_t>(k, 1));
  const int64_t panels = ceil_div(rows, panel);
  const int64_t work = std::max<int64_t>(1, std::min(panel, rows) * std::max<int64_t>(k, 1));
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / work);
  parallel_for(batch_count(out) * panels, grain, [&](int64_t begin, int64_t end) {
    DefaultFloatMode mode;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t batch = task / panels, first = task % panels * panel;
      const GemvRows v = {std::min(panel, rows - first),
                          k,
                          at(matrix, batch) + first * row_stride(matrix) * size,
                          row_stride(matrix),
                          col_stride(matrix),
                          at(vector, batch),
                          const_cast<std::byte*>(at(out, batch)) + first * y_stride * size,
                          y_stride};
      gemv(v, thread_scratch);
    }
  });
}

/// The view with its two matrix axes swapped.
MatView transposed(MatView v) {
  const size_t r = v.shape.size() - 2;
  std::swap(v.shape[r], v.shape[r + 1]);
  std::swap(v.strides[r], v.strides[r + 1]);
  return v;
}

void check_views(const MatView& out, const MatView& a, const MatView& b) {
  const size_t rank = out.shape.size();
  bool ok = rank >= 2 && a.shape.size() == rank && b.shape.size() == rank && out.dtype == a.dtype &&
            out.dtype == b.dtype;
  for (size_t axis = 0; ok && axis + 2 < rank; ++axis)
    ok = a.shape[axis] == out.shape[axis] && b.shape[axis] == out.shape[axis];
  ok = ok && rows_of(a) == rows_of(out) && cols_of(b) == cols_of(out) && cols_of(a) == rows_of(b);
  check_internal(ok, "matmul: ranks, dtypes or shapes do not fit");
  check_internal(out.dtype == DType::F32 || out.dtype == DType::F64 || out.dtype == DType::I32 ||
                     out.dtype == DType::I64,
                 "matmul: dtype without a kernel");
}

}  // namespace

void matmul(const MatView& out, const MatView& a, const MatView& b) {
  check_views(out, a, b);
  if (numel(out.shape) == 0) return;
  MatView left = a, right = b, result = out;
  const bool floating = is_float(out.dtype);
  const BufferRef left_copy = floating ? make_unit_stride(left) : BufferRef();
  const BufferRef right_copy = floating ? make_unit_stride(right) : BufferRef();
  if (floating && (cols_of(out) == 1 || rows_of(out) == 1)) {
    // As matrix times column; a row result is the transposed problem.
    const bool column = cols_of(out) == 1;
    MatView matrix = column ? left : transposed(right);
    MatView vector = column ? transposed(right) : left;  // [1, k]
    BufferRef vector_copy;
    if (cols_of(vector) > 1 && col_stride(vector) != 1) {
      MatView packed;
      vector_copy = packed_like(vector, false, packed);
      copy_view(packed, vector);
      vector = packed;
    }
    run_gemv(out, column ? row_stride(result) : col_stride(result), matrix, vector);
    return;
  }
  if (cols_of(result) == 1) col_stride(result) = 1;
  if (col_stride(result) == 1) {
    run_gemm(result, left, right);
    return;
  }
  const BufferRef result_copy = packed_like(out, false, result);
  run_gemm(result, left, right);
  copy_view(out, result);
}

}  // namespace kiln::runtime
