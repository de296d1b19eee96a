// x[{...}], slice and select.
#include "api/internal.h"

namespace kiln {

using detail::Access;
using detail::fail;
using tracer::TensorImpl;

namespace {

/// A slice as first position, step and count over an axis of n elements, as NumPy clamps it.
struct Range {
  int64_t start, step, count;
};

Range resolve(const Slice& s, int64_t n, const SourceLocation& at) {
  if (s.step == 0) fail("slice", "the step is zero", at);
  const bool forward = s.step > 0;
  const int64_t lowest = forward ? 0 : -1, highest = forward ? n : n - 1;
  const auto clamp_to_axis = [&](int64_t position) {
    if (position < 0) position = position < -n ? -1 : position + n;
    return std::max(lowest, std::min(position, highest));
  };
  const int64_t start = s.start ? clamp_to_axis(*s.start) : (forward ? lowest : highest);
  const int64_t stop = s.stop ? clamp_to_axis(*s.stop) : (forward ? highest : lowest);
  const int64_t span = forward ? stop - start : start - stop;
  if (span <= 0) return {0, 1, 0};
  if (span == 1) return {start, 1, 1};
  if (s.step == INT64_MIN) return {start, 1, 1};
  const int64_t stride = forward ? s.step : -s.step;
  const int64_t count = (span - 1) / stride + 1;
  // The step of a single element does not matter: one form for all.
  return {start, count == 1 ? 1 : s.step, count};
}

int64_t check_position(int64_t position, int64_t axis, const Shape& shape,
                       const SourceLocation& at) {
  const int64_t n = shape[static_cast<size_t>(axis)];
  if (position < -n || position >= n)
    fail("index",
         "position " + std::to_string(position) + " is outside axis " + std::to_string(axis) +
             " of shape " + to_string(shape),
         at);
  return position < 0 ? position + n : position;
}

/// A slice of every axis and the axes that leave or join afterwards.
struct Selection {
  Shape sliced, shape;
  Dims steps, starts;
  bool whole = true;  // the slice takes everything in order

  void add(const Range& r, int64_t extent) {
    whole &= r.start == 0 && r.step == 1 && r.count == extent;
    sliced.push_back(r.count);
    steps.push_back(r.step);
    starts.push_back(r.start);
  }
};

Tensor select_from(const Tensor& t, TensorImpl& impl, const Selection& s) {
  Tensor part = s.whole ? t : Access::wrap(tracer::slice_view(impl, s.sliced, s.steps, s.starts));
  if (s.shape == s.sliced) return part;
  TensorImpl& sliced = Access::impl(part, "index", SourceLocation());
  TensorImpl* view = tracer::reshape_view(sliced, s.shape);
  check_internal(view != nullptr, "an axis of extent 1 can always come or go");
  return Access::wrap(view);
}

Tensor index(const Tensor& t, std::span<const Index> indices, const SourceLocation& at) {
  TensorImpl& impl = Access::impl(t, "index", at);
  const Shape& shape = impl.shape();
  size_t used = 0, ellipses = 0;
  for (const Index& i : indices) {
    used += i.kind() == Index::Kind::Position || i.kind() == Index::Kind::Range;
    ellipses += i.kind() == Index::Kind::Ellipsis;
  }
  if (used > shape.size())
    fail("index", std::to_string(used) + " indices for shape " + to_string(shape), at);
  if (ellipses > 1) fail("index", "more than one Ellipsis", at);

  Selection s;
  size_t axis = 0;
  const auto take_whole = [&](size_t count) {
    for (; count > 0; --count, ++axis) {
      s.add({0, 1, shape[axis]}, shape[axis]);
      s.shape.push_back(shape[axis]);
    }
  };
  for (const Index& i : indices) {
    switch (i.kind()) {
      case Index::Kind::NewAxis: s.shape.push_back(1); break;
      case Index::Kind::Ellipsis: take_whole(shape.size() - used); break;
      case Index::Kind::Position:
        s.add({check_position(i.position(), static_cast<int64_t>(axis), shape, i.at()), 1, 1},
              shape[axis]);
        ++axis;
        break;
      case Index::Kind::Range: {
        const Range r = resolve(i.slice(), shape[axis], i.at());
        s.add(r, shape[axis]);
        s.shape.push_back(r.count);
        ++axis;
        break;
      }
    }
  }
  take_whole(shape.size() - axis);
  return select_from(t, impl, s);
}

}  // namespace

Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  return index(*this, {indices.begin(), indices.size()},
               indices.size() ? indices.begin()->at() : SourceLocation());
}

Tensor Tensor::operator[](const Index& i) const { return index(*this, {&i, 1}, i.at()); }

Tensor Tensor::slice(int64_t axis, std::optional<int64_t> start, std::optional<int64_t> stop,
                     int64_t step, SourceLocation at) const {
  const Shape& shape = Access::impl(*this, "slice", at).shape();
  axis = detail::check_axis("slice", axis, shape.size(), at);
  Selection s;
  for (size_t i = 0; i < shape.size(); ++i)
    s.add(static_cast<int64_t>(i) == axis ? resolve(Slice(start, stop, step), shape[i], at)
                                          : Range{0, 1, shape[i]},
          shape[i]);
  s.shape = s.sliced;
  return select_from(*this, Access::impl(*this, "slice", at), s);
}

Tensor Tensor::select(int64_t axis, int64_t position, SourceLocation at) const {
  const Shape& shape = Access::impl(*this, "select", at).shape();
  axis = detail::check_axis("select", axis, shape.size(), at);
  const int64_t from = check_position(position, axis, shape, at);
  Selection s;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool selected = static_cast<int64_t>(i) == axis;
    s.add(selected ? Range{from, 1, 1} : Range{0, 1, shape[i]}, shape[i]);
    if (!selected) s.shape.push_back(shape[i]);
  }
  return select_from(*this, Access::impl(*this, "select", at), s);
}

}  // namespace kiln
