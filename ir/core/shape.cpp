#include "ir/core/shape.h"

namespace kiln {

int64_t numel(const Shape& shape) {
  int64_t n = 1;
  bool overflow = false;
  for (int64_t d : shape) {
    if (d == 0) return 0;
    overflow |= __builtin_mul_overflow(n, d, &n);
  }
  return overflow ? INT64_MAX : n;
}

Dims contiguous_strides(const Shape& shape) {
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool is_contiguous(const Shape& shape, const Dims& strides) {
  if (numel(shape) == 0) return true;
  int64_t expect = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expect) return false;
    expect *= shape[i];
  }
  return true;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& d = out[skip + i];
    if (d == shorter[i] || shorter[i] == 1) continue;
    if (d != 1) return std::nullopt;
    d = shorter[i];
  }
  return out;
}

std::optional<int64_t> normalize_axis(int64_t axis, size_t rank) {
  const int64_t r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return axis < 0 ? axis + r : axis;
}

SmallVector<ReshapeGroup, 6> reshape_groups(const Shape& in, const Shape& out) {
  SmallVector<ReshapeGroup, 6> groups;
  const int ni = static_cast<int>(in.size()), no = static_cast<int>(out.size());
  int i = 0, o = 0;
  while (i < ni || o < no) {
    ReshapeGroup g{i, i, o, o};
    int64_t pi = 1, po = 1;
    // Grow the smaller side until the products agree; each side takes at least one axis if it can.
    do {
      if (o == no || (i < ni && pi <= po)) {
        pi *= in[i++];
      } else {
        po *= out[o++];
      }
    } while (pi != po && (i < ni || o < no));
    g.in_end = i;
    g.out_end = o;
    groups.push_back(g);
  }
  return groups;
}

std::string to_string(const Shape& shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}

}  // namespace kiln
