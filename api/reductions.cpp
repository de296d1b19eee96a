// Reductions that are one row of ir/ops.def each, and the axes of all.
#include <algorithm>

#include "api/internal.h"

namespace kiln {

using ir::Op;

namespace detail {

int64_t check_axis(std::string_view op, int64_t axis, size_t rank, const SourceLocation& at) {
  const std::optional<int64_t> positive = normalize_axis(axis, rank);
  if (!positive)
    fail(op, "axis " + std::to_string(axis) + " of a tensor with " + std::to_string(rank) + " axes",
         at);
  return *positive;
}

Dims check_axes(std::string_view op, const Axes& axes, size_t rank, const SourceLocation& at) {
  Dims sorted;
  if (axes.all())
    for (size_t i = 0; i < rank; ++i) sorted.push_back(static_cast<int64_t>(i));
  for (int64_t axis : axes.list()) sorted.push_back(check_axis(op, axis, rank, at));
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail(op, "repeated axis in " + to_string(axes.list()), at);
  return sorted;
}

int64_t count_over(const Shape& shape, const Dims& axes) {
  int64_t n = 1;
  for (int64_t axis : axes) n *= shape[static_cast<size_t>(axis)];
  return n;
}

}  // namespace detail

namespace {

Shape kept_shape(Shape shape, const Dims& axes) {
  for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = 1;
  return shape;
}

Tensor reduce(Op op, const Tensor& a, const Axes& axes, bool keepdim, const SourceLocation& at) {
  const detail::Read read(a, ir::name(op), at);
  const Shape& shape = read.node()->shape;
  const Dims over = detail::check_axes(ir::name(op), axes, shape.size(), at);
  tracer::NodeRef result = tracer::reduce(op, read.node(), over, at);
  if (keepdim) result = tracer::reshape(result.get(), kept_shape(shape, over), at);
  return detail::tensor_of(std::move(result));
}

Tensor reduce_index(Op op, const Tensor& a, std::optional<int64_t> axis, bool keepdim,
                    const SourceLocation& at) {
  return reduce(op, a, axis ? Axes(*axis) : Axes(), keepdim, at);
}

}  // namespace

#define KILN_REDUCTION(name, Enum)                                                  \
  Tensor name(const Tensor& a, const Axes& axes, bool keepdim, SourceLocation at) { \
    return reduce(Op::Enum, a, axes, keepdim, at);                                  \
  }                                                                                 \
  Tensor Tensor::name(const Axes& axes, bool keepdim, SourceLocation at) const {    \
    return reduce(Op::Enum, *this, axes, keepdim, at);                              \
  }
KILN_REDUCTION(sum, Sum)
KILN_REDUCTION(prod, Prod)
KILN_REDUCTION(amax, Amax)
KILN_REDUCTION(amin, Amin)
#undef KILN_REDUCTION

#define KILN_INDEX_REDUCTION(name, Enum)                                                       \
  Tensor name(const Tensor& a, std::optional<int64_t> axis, bool keepdim, SourceLocation at) { \
    return reduce_index(Op::Enum, a, axis, keepdim, at);                                       \
  }                                                                                            \
  Tensor Tensor::name(std::optional<int64_t> axis, bool keepdim, SourceLocation at) const {    \
    return reduce_index(Op::Enum, *this, axis, keepdim, at);                                   \
  }
KILN_INDEX_REDUCTION(argmax, Argmax)
KILN_INDEX_REDUCTION(argmin, Argmin)
#undef KILN_INDEX_REDUCTION

}  // namespace kiln
