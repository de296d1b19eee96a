// Matrix product as an external kernel (class C: the same bits for any thread count and any
// strides, on one machine).
#pragma once

#include "ir/core/dtype.h"
#include "ir/core/shape.h"

namespace kiln::runtime {

/// A matrix or a batch of matrices: the last two axes are rows and columns. Strides in elements.
struct MatView {
  void* data;
  DType dtype;
  Dims shape;
  Dims strides;
};

/// out[..., m, n] = a[..., m, k] x b[..., k, n], for f32, f64, i32, i64 (integers wrap). All three
/// have the same dtype, rank >= 2 and batch extents (broadcast axes have stride 0 in a and b).
/// `out` overlaps neither input, nor itself. k = 0 gives zeros.
void matmul(const MatView& out, const MatView& a, const MatView& b);

}  // namespace kiln::runtime
