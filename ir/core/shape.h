// Shapes, strides and the rules that relate them. Pure functions; errors are left to the callers,
// who know the op's name and the user's line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/core/export.h"
#include "ir/core/small_vector.h"

namespace kiln {

/// Extents, axes, strides (in elements) and similar short lists of integers.
using Dims = SmallVector<int64_t, 6>;
/// Extent per axis; rank 0 is a scalar.
using Shape = Dims;

/// Number of elements; saturates at INT64_MAX instead of overflowing.
KILN_API int64_t numel(const Shape& shape);

/// Row-major strides in elements, by the plain rule stride[i] = stride[i+1] * shape[i+1].
Dims contiguous_strides(const Shape& shape);

/// Whether `strides` visits the elements of `shape` in row-major order without gaps (axes of
/// extent 1 do not matter; an empty tensor is contiguous).
bool is_contiguous(const Shape& shape, const Dims& strides);

/// NumPy broadcasting of two shapes, or nothing if they do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// `axis` counted from the end if negative; nothing if out of range. A scalar has no axes.
std::optional<int64_t> normalize_axis(int64_t axis, size_t rank);

/// One part of a reshape: input axes [in_begin, in_end) hold the same elements as output axes
/// [out_begin, out_end). Axes of extent 1 may form groups with an empty other side.
struct ReshapeGroup {
  int in_begin, in_end, out_begin, out_end;
};
/// Splits a reshape into the finest groups of axes with equal products. Requires equal, non-zero
/// element counts.
SmallVector<ReshapeGroup, 6> reshape_groups(const Shape& in, const Shape& out);

/// "[2, 3]".
KILN_API std::string to_string(const Shape& shape);

}  // namespace kiln
