// Views: other shapes and orders of the same storage.
#include <algorithm>

#include "api/internal.h"

namespace kiln {

using detail::Access;
using detail::check_axis;
using detail::fail;
using tracer::TensorImpl;

namespace {

/// The shape with -1 replaced by what fits; Error if nothing does.
Shape full_shape(const Shape& from, Shape to, const SourceLocation& at) {
  const Shape asked = to;
  const auto refuse = [&](const char* why) {
    fail("reshape", to_string(from) + " to " + to_string(asked) + ": " + why, at);
  };
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& d : to) {
    if (d == -1) {
      if (open) refuse("more than one extent is -1");
      open = &d;
    } else if (d < 0) {
      refuse("negative extent");
    } else if (__builtin_mul_overflow(known, d, &known)) {
      refuse("too many elements");
    }
  }
  const int64_t n = numel(from);
  if (open) {
    if (known == 0 || n % known != 0) refuse("the number of elements differs");
    *open = n / known;
  } else if (known != n) {
    refuse("the number of elements differs");
  }
  return to;
}

Tensor permuted(TensorImpl& impl, const Dims& axes) {
  return Access::wrap(tracer::permute_view(impl, axes));
}

/// A reshape that is always a view: extents of 1 come or go.
Tensor reshaped(TensorImpl& impl, const Shape& shape) {
  TensorImpl* view = tracer::reshape_view(impl, shape);
  check_internal(view != nullptr, "an axis of extent 1 can always come or go");
  return Access::wrap(view);
}

}  // namespace

Tensor Tensor::reshape(const Shape& shape, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "reshape", at);
  const Shape to = full_shape(impl.shape(), shape, at);
  if (to == impl.shape()) return *this;
  if (TensorImpl* view = tracer::reshape_view(impl, to)) return Access::wrap(view);
  const detail::Read a(*this, "reshape", at);
  return detail::tensor_of(tracer::reshape(a.node(), to, at));
}

Tensor Tensor::flatten(SourceLocation at) const { return reshape({-1}, at); }

Tensor Tensor::permute(const Dims& axes, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "permute", at);
  const size_t rank = impl.shape().size();
  if (axes.size() != rank)
    fail("permute", "axes " + to_string(axes) + " for shape " + to_string(impl.shape()), at);
  Dims order;
  for (int64_t axis : axes) order.push_back(check_axis("permute", axis, rank, at));
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail("permute", "repeated axis in " + to_string(axes), at);
  return permuted(impl, order);
}

Tensor Tensor::transpose(int64_t a, int64_t b, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "transpose", at);
  const size_t rank = impl.shape().size();
  Dims order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[static_cast<size_t>(check_axis("transpose", a, rank, at))],
            order[static_cast<size_t>(check_axis("transpose", b, rank, at))]);
  return permuted(impl, order);
}

Tensor Tensor::t(SourceLocation at) const {
  const size_t rank = Access::impl(*this, "t", at).shape().size();
  if (rank > 2) fail("t", "takes at most two axes, not shape " + to_string(shape()), at);
  return rank < 2 ? *this : transpose(0, 1, at);
}

Tensor Tensor::squeeze(std::optional<int64_t> axis, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "squeeze", at);
  Shape shape = impl.shape();
  if (axis) {
    const auto i = static_cast<size_t>(check_axis("squeeze", *axis, shape.size(), at));
    if (shape[i] != 1) return *this;
    shape.erase(i);
  } else {
    shape.clear();
    for (int64_t d : impl.shape())
      if (d != 1) shape.push_back(d);
  }
  return reshaped(impl, shape);
}

Tensor Tensor::unsqueeze(int64_t axis, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "unsqueeze", at);
  Shape shape = impl.shape();
  shape.insert(static_cast<size_t>(check_axis("unsqueeze", axis, shape.size() + 1, at)), 1);
  return reshaped(impl, shape);
}

Tensor Tensor::expand(const Shape& shape, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "expand", at);
  const Shape& from = impl.shape();
  Shape to = shape;
  bool fits = to.size() >= from.size();
  const size_t added = fits ? to.size() - from.size() : 0;
  for (size_t i = 0; fits && i < to.size(); ++i) {
    if (i >= added && to[i] == -1) to[i] = from[i - added];
    fits = to[i] >= 0 && (i < added || from[i - added] == to[i] || from[i - added] == 1);
  }
  if (!fits) fail("expand", to_string(from) + " to " + to_string(shape), at);
  tracer::check_shape("expand", to, at);
  if (to == from) return *this;
  return Access::wrap(tracer::expand_view(impl, to));
}

Tensor Tensor::flip(const Axes& axes, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "flip", at);
  const Shape& shape = impl.shape();
  Dims steps(shape.size(), 1), starts(shape.size(), 0);
  for (int64_t axis : detail::check_axes("flip", axes, shape.size(), at)) {
    const auto i = static_cast<size_t>(axis);
    if (shape[i] < 2) continue;
    steps[i] = -1;
    starts[i] = shape[i] - 1;
  }
  return Access::wrap(tracer::slice_view(impl, shape, steps, starts));
}

std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t axis, SourceLocation at) const {
  TensorImpl& impl = Access::impl(*this, "chunk", at);
  axis = check_axis("chunk", axis, impl.shape().size(), at);
  if (chunks < 1) fail("chunk", "needs at least one chunk, not " + std::to_string(chunks), at);
  const int64_t n = impl.shape()[static_cast<size_t>(axis)];
  const int64_t width = std::max<int64_t>(1, n / chunks + (n % chunks != 0));
  std::vector<Tensor> parts;
  for (int64_t begin = 0; begin < n || parts.empty(); begin += width)
    parts.push_back(slice(axis, begin, std::min(n, begin + width), 1, at));
  return parts;
}

// ---- Free functions ----------------------------------------------------------------------------

Tensor reshape(const Tensor& a, const Shape& shape, SourceLocation at) {
  return a.reshape(shape, at);
}
Tensor permute(const Tensor& a, const Dims& axes, SourceLocation at) { return a.permute(axes, at); }
Tensor transpose(const Tensor& a, int64_t axis0, int64_t axis1, SourceLocation at) {
  return a.transpose(axis0, axis1, at);
}
Tensor squeeze(const Tensor& a, std::optional<int64_t> axis, SourceLocation at) {
  return a.squeeze(axis, at);
}
Tensor unsqueeze(const Tensor& a, int64_t axis, SourceLocation at) { return a.unsqueeze(axis, at); }
Tensor flip(const Tensor& a, const Axes& axes, SourceLocation at) { return a.flip(axes, at); }
std::vector<Tensor> chunk(const Tensor& a, int64_t chunks, int64_t axis, SourceLocation at) {
  return a.chunk(chunks, axis, at);
}

}  // namespace kiln
