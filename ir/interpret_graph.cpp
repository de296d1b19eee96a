// The oracle: one op at a time over contiguous buffers, nothing fused, nothing clever.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"
#include "ir/core/scalar_ops.h"
#include "ir/eval.h"
#include "ir/graph.h"

namespace kiln::ir {
namespace {

using Buffer = std::vector<Bits>;

template <class Int>
size_t at(Int i) {
  return static_cast<size_t>(i);
}

/// Walks an index space in row-major order and says where each element lies in a buffer.
class Cursor {
 public:
  Cursor(const Shape& shape, const Dims& strides, int64_t offset = 0)
      : shape_(shape), strides_(strides), index_(shape.size(), 0), offset_(offset) {}
  int64_t offset() const { return offset_; }
  void next() {
    for (size_t i = shape_.size(); i-- > 0;) {
      offset_ += strides_[i];
      if (++index_[i] < shape_[i]) return;
      offset_ -= strides_[i] * shape_[i];
      index_[i] = 0;
    }
  }

 private:
  Shape shape_;
  Dims strides_, index_;
  int64_t offset_;
};

/// Strides that read a contiguous buffer of shape `from` as if broadcast to `to`.
Dims broadcast_strides(const Shape& from, const Shape& to) {
  const Dims own = contiguous_strides(from);
  Dims strides(to.size(), 0);
  const size_t skip = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) strides[skip + i] = from[i] == 1 ? 0 : own[i];
  return strides;
}

Buffer gather(const Buffer& from, const Shape& shape, const Dims& strides, int64_t offset = 0) {
  Buffer out(at(numel(shape)));
  Cursor cursor(shape, strides, offset);
  for (Bits& element : out) {
    element = from[at(cursor.offset())];
    cursor.next();
  }
  return out;
}

class Oracle {
 public:
  Oracle(const Graph& graph, std::span<const std::byte* const> inputs,
         std::span<const uint64_t> params)
      : g_(graph), params_(params), buffers_(graph.nodes.size()), last_use_(graph.nodes.size()) {
    check_internal(inputs.size() == graph.inputs.size(), "interpret: one buffer per input");
    check_internal(params.size() >= at(graph.num_params), "interpret: one value per parameter");
    for (size_t i = 0; i < inputs.size(); ++i) read_input(graph.inputs[i], inputs[i]);
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (NodeId in : graph.nodes[i].inputs) last_use_[at(in)] = i;
    for (NodeId out : graph.outputs) last_use_[at(out)] = graph.nodes.size();
  }

  std::vector<std::vector<std::byte>> run() {
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      const Node& n = g_.nodes[i];
      if (n.op != Op::Input) buffers_[i] = compute(n);
      for (NodeId in : n.inputs)
        if (last_use_[at(in)] == i) buffers_[at(in)] = {};
    }
    std::vector<std::vector<std::byte>> results;
    for (NodeId out : g_.outputs) results.push_back(write_output(out));
    return results;
  }

 private:
  const Node& input(const Node& n, size_t i) const { return g_.nodes[at(n.inputs[i])]; }
  const Buffer& buffer(const Node& n, size_t i) const { return buffers_[at(n.inputs[i])]; }

  void read_input(NodeId id, const std::byte* from) {
    const Node& n = g_.nodes[at(id)];
    const size_t size = size_of(n.dtype);
    Buffer& b = buffers_[at(id)];
    b.resize(at(numel(n.shape)));
    for (size_t i = 0; i < b.size(); ++i) std::memcpy(&b[i].raw, from + i * size, size);
  }

  std::vector<std::byte> write_output(NodeId id) const {
    const Buffer& b = buffers_[at(id)];
    const size_t size = size_of(g_.nodes[at(id)].dtype);
    std::vector<std::byte> out(b.size() * size);
    for (size_t i = 0; i < b.size(); ++i) std::memcpy(out.data() + i * size, &b[i].raw, size);
    return out;
  }

  Buffer compute(const Node& n) const {
    switch (category(n.op)) {
      case Category::Leaf: return leaf(n);
      case Category::Elementwise: return elementwise(n);
      case Category::Reduction: return reduction(n);
      case Category::View: return view(n);
      case Category::Update: return update(n);
      case Category::Concat: return concat(n);
      case Category::Creation: return creation(n);
      case Category::Random: return random(n);
      case Category::External: return matmul(n);
    }
    internal_error("interpret: no such category");
  }

  Buffer leaf(const Node& n) const {
    Bits bits;
    if (n.op == Op::Const) {
      bits.raw = static_cast<uint64_t>(n.attrs[0]);
    } else {
      std::memcpy(&bits.raw, &params_[at(n.params[0])], size_of(n.dtype));
    }
    return Buffer(1, bits);
  }

  Buffer elementwise(const Node& n) const {
    const DType compute = input(n, n.op == Op::Where ? 1 : 0).dtype;
    const EvalFn fn = eval_fn(n.op, compute, n.dtype, input(n, 0).dtype);
    Buffer expanded[3];
    const Bits* in[3] = {};
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Shape& shape = input(n, i).shape;
      if (shape != n.shape)
        expanded[i] = gather(buffer(n, i), n.shape, broadcast_strides(shape, n.shape));
      in[i] = shape == n.shape ? buffer(n, i).data() : expanded[i].data();
    }
    Buffer out(at(numel(n.shape)));
    fn(out.data(), in, static_cast<int64_t>(out.size()));
    return out;
  }

  /// The axes of a reduction's operand, split as ir/core/reduce_tree.h says.
  struct Axes {
    Shape kept, rows;
    Dims kept_strides, row_strides;
    int64_t n = 1;  // elements of a row, contiguous
  };
  static Axes split_axes(const Node& n, const Shape& shape) {
    const Dims strides = contiguous_strides(shape);
    Axes axes;
    bool trailing = true;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 1) continue;
      const bool reduced =
          std::find(n.attrs.begin(), n.attrs.end(), static_cast<int64_t>(i)) != n.attrs.end();
      trailing = trailing && reduced;
      if (trailing) {
        axes.n *= shape[i];
        continue;
      }
      (reduced ? axes.rows : axes.kept).insert(0, shape[i]);
      (reduced ? axes.row_strides : axes.kept_strides).insert(0, strides[i]);
    }
    return axes;
  }

  Buffer reduction(const Node& n) const {
    const Node& operand = input(n, 0);
    const bool indexed = n.op == Op::Argmax || n.op == Op::Argmin;
    const DType t = indexed ? operand.dtype : n.dtype;
    Buffer out(at(numel(n.shape)));
    const Axes axes = split_axes(n, operand.shape);
    const int64_t rows = numel(axes.rows);
    if (out.empty()) return out;
    if (rows * axes.n == 0) {
      std::fill(out.begin(), out.end(), reduce_identity(n.op, t));
      return out;
    }
    std::vector<int64_t> row(at(rows));
    Cursor row_cursor(axes.rows, axes.row_strides);
    for (int64_t& offset : row) {
      offset = row_cursor.offset();
      row_cursor.next();
    }
    const Buffer elements = converted(buffer(n, 0), operand.dtype, t);
    Cursor cursor(axes.kept, axes.kept_strides);
    for (Bits& result : out) {
      const Bits* base = elements.data() + cursor.offset();
      const auto element = [&](int64_t r, int64_t j) { return base[row[at(r)] + j]; };
      result = indexed ? reduce_indexed(n.op, t, rows, axes.n, element)
                       : tree_reduce<Bits>(rows, axes.n, element, reduce_combine(n.op, t));
      cursor.next();
    }
    return out;
  }

  template <class Element>
  static Bits reduce_indexed(Op op, DType t, int64_t rows, int64_t n, Element element) {
    const auto pair = [&](int64_t r, int64_t j) { return ArgPair{element(r, j), r * n + j}; };
    return Bits::of(tree_reduce<ArgPair>(rows, n, pair, arg_combine(op, t)).index);
  }

  static Buffer converted(const Buffer& from, DType source, DType to) {
    if (source == to) return from;
    Buffer out(from.size());
    const Bits* in[] = {from.data()};
    eval_fn(Op::Cast, source, to, source)(out.data(), in, static_cast<int64_t>(out.size()));
    return out;
  }

  /// Strides and offset of the part that slice(params, attrs) selects.
  struct Part {
    Dims strides;
    int64_t offset = 0;
  };
  Part part_of(const Node& n, const Shape& whole, const Shape& part) const {
    const Dims own = contiguous_strides(whole);
    Part p;
    for (size_t i = 0; i < whole.size(); ++i) {
      const auto start = static_cast<int64_t>(params_[at(n.params[i])]);
      const int64_t last = start + (part[i] - 1) * n.attrs[i];
      check_internal(
          part[i] == 0 || (std::min(start, last) >= 0 && std::max(start, last) < whole[i]),
          "interpret: a slice lies in its operand");
      p.strides.push_back(own[i] * n.attrs[i]);
      p.offset += own[i] * start;
    }
    return p;
  }

  Buffer view(const Node& n) const {
    const Node& in = input(n, 0);
    if (n.op == Op::Reshape) return buffer(n, 0);
    if (n.op == Op::Expand)
      return gather(buffer(n, 0), n.shape, broadcast_strides(in.shape, n.shape));
    if (n.op == Op::Slice) {
      const Part p = part_of(n, in.shape, n.shape);
      return gather(buffer(n, 0), n.shape, p.strides, p.offset);
    }
    const Dims own = contiguous_strides(in.shape);
    Dims strides;
    for (int64_t axis : n.attrs) strides.push_back(own[at(axis)]);
    return gather(buffer(n, 0), n.shape, strides);
  }

  Buffer update(const Node& n) const {
    Buffer out = buffer(n, 0);
    const Shape& part = input(n, 1).shape;
    const Part p = part_of(n, n.shape, part);
    Cursor cursor(part, p.strides, p.offset);
    for (Bits element : buffer(n, 1)) {
      out[at(cursor.offset())] = element;
      cursor.next();
    }
    return out;
  }

  Buffer concat(const Node& n) const {
    Buffer out(at(numel(n.shape)));
    const size_t axis = at(n.attrs[0]);
    const Dims strides = contiguous_strides(n.shape);
    int64_t begin = 0;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Shape& shape = input(n, i).shape;
      Cursor cursor(shape, strides, begin * strides[axis]);
      for (Bits element : buffer(n, i)) {
        out[at(cursor.offset())] = element;
        cursor.next();
      }
      begin += shape[axis];
    }
    return out;
  }

  Buffer creation(const Node& n) const {
    Buffer out(at(numel(n.shape)), buffer(n, 0)[0]);
    if (n.op == Op::Full) return out;
    dispatch(n.dtype, [&]<class T>(T) {
      const T start = buffer(n, 0)[0].as<T>(), step = buffer(n, 1)[0].as<T>();
      for (size_t i = 0; i < out.size(); ++i) {
        if constexpr (std::is_floating_point_v<T>) {
          out[i] = Bits::of(static_cast<T>(static_cast<double>(start) +
                                           static_cast<double>(i) * static_cast<double>(step)));
        } else {
          out[i] = Bits::of(scalar::add(start, scalar::mul(static_cast<T>(i), step)));
        }
      }
    });
    return out;
  }

  Buffer random(const Node& n) const {
    const size_t count = at(numel(n.shape));
    const Buffer seed(count, buffer(n, 0)[0]), stream(count, buffer(n, 1)[0]);
    Buffer position(count), out(count);
    for (size_t i = 0; i < count; ++i) position[i] = Bits::of(static_cast<int64_t>(i));
    const Bits* in[] = {seed.data(), stream.data(), position.data()};
    eval_fn(n.op, n.dtype, n.dtype, DType::I64)(out.data(), in, static_cast<int64_t>(count));
    return out;
  }

  Buffer matmul(const Node& n) const {
    const size_t r = n.shape.size();
    const int64_t rows = n.shape[r - 2], columns = n.shape[r - 1];
    const int64_t inner = input(n, 0).shape[r - 1];
    Buffer out(at(numel(n.shape)));
    const int64_t batches = out.empty() ? 0 : static_cast<int64_t>(out.size()) / (rows * columns);
    dispatch(n.dtype, [&]<class T>(T) {
      for (int64_t b = 0; b < batches; ++b)
        product<T>(buffer(n, 0).data() + b * rows * inner,
                   buffer(n, 1).data() + b * inner * columns, out.data() + b * rows * columns, rows,
                   inner, columns);
    });
    return out;
  }

  /// Floats accumulate in the next wider type and round once; integers wrap.
  template <class T>
  static void product(const Bits* a, const Bits* b, Bits* out, int64_t rows, int64_t inner,
                      int64_t columns) {
    using Wide = std::conditional_t<std::is_same_v<T, float>, double,
                                    std::conditional_t<std::is_same_v<T, double>, long double, T>>;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        Wide sum = 0;
        for (int64_t k = 0; k < inner; ++k)
          sum = scalar::add<Wide>(
              sum, scalar::mul<Wide>(a[i * inner + k].as<T>(), b[k * columns + j].as<T>()));
        out[i * columns + j] = Bits::of(static_cast<T>(sum));
      }
  }

  const Graph& g_;
  std::span<const uint64_t> params_;
  std::vector<Buffer> buffers_;
  std::vector<size_t> last_use_;
};

}  // namespace

std::vector<std::vector<std::byte>> interpret(const Graph& graph,
                                              std::span<const std::byte* const> inputs,
                                              std::span<const uint64_t> params) {
  return Oracle(graph, inputs, params).run();
}

}  // namespace kiln::ir
