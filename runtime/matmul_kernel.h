// The part of the matrix product that is compiled once per instruction set. Plain declarations
// only: nothing here may be emitted into the objects built for newer machines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::runtime {

/// One tile: c[m, n] = a[m, k] x b[k, n]. Strides in elements. One stride of a and of b is 1 where
/// the dtype is floating, and c_col is 1.
struct GemmTile {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_col;
  const void* b;
  int64_t b_row, b_col;
  void* c;
  int64_t c_row;
};

/// Some rows of a matrix times a vector: y[rows] = a[rows, k] x x[k]. One stride of a is 1, x is
/// contiguous.
struct GemvRows {
  int64_t rows, k;
  const void* a;
  int64_t a_row, a_col;
  const void* x;
  void* y;
  int64_t y_stride;
};

/// Gives the calling thread scratch memory, 64-byte aligned, valid until the next call.
using ScratchFn = std::byte* (*)(int64_t bytes);

struct MatmulKernels {
  void (*gemm_f32)(const GemmTile&, ScratchFn);
  void (*gemm_f64)(const GemmTile&, ScratchFn);
  void (*gemm_i32)(const GemmTile&, ScratchFn);
  void (*gemm_i64)(const GemmTile&, ScratchFn);
  void (*gemv_f32)(const GemvRows&, ScratchFn);
  void (*gemv_f64)(const GemvRows&, ScratchFn);
};

namespace baseline {
extern const MatmulKernels matmul_kernels;
}
namespace avx2 {
extern const MatmulKernels matmul_kernels;
}
namespace avx512 {
extern const MatmulKernels matmul_kernels;
}

}  // namespace kiln::runtime
