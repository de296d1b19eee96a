#include "tests/random_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln::testing {

using ir::Node;
using ir::NodeId;
using ir::Op;

namespace {

class Generator {
 public:
  Generator(uint64_t seed, int size) : rng_(seed), size_(size) {}

  RandomProgram run() {
    const int inputs = 1 + pick(3);
    base_shape_ = random_shape();
    for (int i = 0; i < inputs; ++i) add_input(pick(3) ? relative_shape() : base_shape_);
    for (int i = 0; i < size_; ++i) step();
    const int outputs = 1 + pick(3);
    for (int i = 0; i < outputs; ++i) p_.graph.outputs.push_back(recent());
    if (pick(2)) p_.graph.wanted.push_back(recent());
    p_.graph.num_params = static_cast<int32_t>(p_.params.size());
    return std::move(p_);
  }

 private:
  int pick(int n) { return static_cast<int>(rng_() % static_cast<uint64_t>(n)); }
  const Node& node(NodeId id) const { return p_.graph.nodes[static_cast<size_t>(id)]; }
  NodeId add(Op op, DType t, Shape shape, SmallVector<NodeId, 3> in, Dims attrs = {}) {
    return ir::add(p_.graph, {op, t, std::move(shape), std::move(in), std::move(attrs), {}, {}});
  }

  Shape random_shape() {
    static constexpr int64_t extents[] = {1, 2, 3, 5, 7, 15, 16, 17, 33, 40};
    Shape shape;
    const int rank = pick(10) == 0 ? 0 : 1 + pick(3);
    for (int i = 0; i < rank; ++i) shape.push_back(extents[pick(std::size(extents))]);
    if (pick(40) == 0 && rank) shape[0] = 0;
    if (pick(60) == 0) shape = {4000 + pick(5000)};
    return shape;
  }
  /// A shape that broadcasts against the base shape.
  Shape relative_shape() {
    Shape shape = base_shape_;
    for (int64_t& d : shape)
      if (pick(3) == 0) d = 1;
    while (!shape.empty() && shape[0] == 1 && pick(2)) shape.erase(0);
    return shape;
  }

  DType random_dtype() {
    static constexpr DType types[] = {DType::F32, DType::F32, DType::F32, DType::F64,
                                      DType::I32, DType::I64, DType::Bool};
    return types[pick(std::size(types))];
  }

  void add_input(const Shape& shape) {
    const DType t = random_dtype();
    add(Op::Input, t, shape, {});
    std::vector<std::byte> data(static_cast<size_t>(numel(shape)) * size_of(t));
    for (int64_t i = 0; i < numel(shape); ++i) {
      const Bits b = random_bits(t);
      std::memcpy(data.data() + static_cast<size_t>(i) * size_of(t), &b.raw, size_of(t));
    }
    p_.inputs.push_back(std::move(data));
  }

  Bits random_bits(DType t) {
    if (is_bool(t)) return Bits::of(pick(2) == 1);
    if (t == DType::I32) return Bits::of(pick(20) ? pick(21) - 10 : static_cast<int32_t>(rng_()));
    if (t == DType::I64)
      return Bits::of(pick(20) ? int64_t{pick(21)} - 10 : static_cast<int64_t>(rng_()));
    double v = std::normal_distribution<double>()(rng_) * 2;
    if (pick(30) == 0) {
      const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e30, 1e-40, 0.5, 2.5, -1.5};
      v = special[pick(std::size(special))];
    }
    return t == DType::F32 ? Bits::of(static_cast<float>(v)) : Bits::of(v);
  }

  NodeId param(DType t, Bits value) {
    Node n{Op::Param, t, {}, {}, {}, {static_cast<int32_t>(p_.params.size())}, {}};
    p_.params.push_back(value.raw);
    return ir::add(p_.graph, std::move(n));
  }
  int32_t start_param(int64_t value) {
    p_.params.push_back(static_cast<uint64_t>(value));
    return static_cast<int32_t>(p_.params.size() - 1);
  }

  /// A node with a shape, mostly a late one.
  NodeId recent() {
    const int n = static_cast<int>(p_.graph.nodes.size());
    for (int tries = 0; tries < 50; ++tries) {
      const NodeId id = pick(2) ? n - 1 - pick(std::min(n, 6)) : pick(n);
      if (node(id).op != Op::Param && node(id).op != Op::Const) return id;
    }
    return p_.graph.inputs[0];
  }
  NodeId cast(NodeId id, DType t) {
    return node(id).dtype == t ? id : add(Op::Cast, t, node(id).shape, {id});
  }
  /// A tensor or scalar of dtype t that broadcasts with `other`; the result shape goes to *shape.
  NodeId partner(NodeId other, DType t, Shape* shape) {
    for (int tries = 0; tries < 8; ++tries) {
      const NodeId id = recent();
      if (auto s = broadcast(node(id).shape, *shape); s && numel(*s) <= 20000) {
        *shape = *s;
        return cast(id, t);
      }
    }
    if (pick(4) == 0) {
      const Bits b = random_bits(t);
      return add(Op::Const, t, {}, {}, {static_cast<int64_t>(b.raw)});
    }
    (void)other;
    return param(t, random_bits(t));
  }

  void step() {
    switch (pick(12)) {
      case 0: return reduce();
      case 1: return reshape();
      case 2: return permute();
      case 3: return slice();
      case 4: return pick(2) ? expand() : cat();
      case 5: return pick(2) ? update() : normalise();
      case 6: return pick(3) ? elementwise() : create();
      case 7: return pick(4) ? elementwise() : matmul();
      default: return elementwise();
    }
  }

  void elementwise() {
    Op op;
    do op = static_cast<Op>(pick(ir::num_ops));
    while (!ir::is_elementwise(op));
    const NodeId a = recent();
    Shape shape = node(a).shape;
    DType t = node(a).dtype;
    if (op == Op::Cast) {
      add(Op::Cast, random_dtype(), shape, {a});
      return;
    }
    if (!ir::accepts(op, t)) t = DType::F32;
    t = ir::compute_dtype(op, t);
    const int arity = ir::info(op).arity;
    SmallVector<NodeId, 3> in;
    if (op == Op::Where) {
      const NodeId c = cast(a, DType::Bool);
      in = {c, partner(c, t, &shape)};
      in.push_back(partner(in[1], t, &shape));
    } else {
      in = {cast(a, t)};
      if (arity == 2) in.push_back(partner(in[0], t, &shape));
      if (arity == 2 && pick(2)) std::swap(in[0], in[1]);
    }
    add(op, ir::result_dtype(op, t), shape, in);
  }

  void reduce() {
    static constexpr Op ops[] = {Op::Sum, Op::Prod, Op::Amax, Op::Amin, Op::Argmax, Op::Argmin};
    NodeId a = recent();
    const Op op = ops[pick(std::size(ops))];
    const Shape& in = node(a).shape;
    Dims axes;
    for (size_t i = 0; i < in.size(); ++i)
      if (pick(2)) axes.push_back(static_cast<int64_t>(i));
    int64_t count = 1;
    for (int64_t axis : axes) count *= in[static_cast<size_t>(axis)];
    if (axes.empty() || (count == 0 && op != Op::Sum && op != Op::Prod)) return;
    last_reduced_ = a;
    last_axes_ = axes;
    add(op, ir::result_dtype(op, node(a).dtype), ir::reduced_shape(in, axes), {a}, axes);
    last_reduction_ = static_cast<NodeId>(p_.graph.nodes.size()) - 1;
  }

  /// Uses a reduction's result against its operand, as softmax and layer norm do.
  void normalise() {
    if (last_reduction_ < 0) return reduce();
    const DType t = DType::F32;
    Shape kept = node(last_reduced_).shape;
    for (int64_t axis : last_axes_) kept[static_cast<size_t>(axis)] = 1;
    NodeId r = add(Op::Reshape, node(last_reduction_).dtype, kept, {last_reduction_});
    r = cast(r, t);
    const NodeId x = cast(last_reduced_, t);
    NodeId y = add(pick(2) ? Op::Sub : Op::Mul, t, node(x).shape, {x, r});
    if (pick(2)) y = add(Op::Exp, t, node(y).shape, {y});
    last_reduced_ = y;
    last_reduction_ =
        add(Op::Sum, t, ir::reduced_shape(node(y).shape, last_axes_), {y}, last_axes_);
  }

  void reshape() {
    const NodeId a = recent();
    const int64_t n = numel(node(a).shape);
    if (n == 0) return;
    Shape shape;
    int64_t rest = n;
    while (rest > 1 && shape.size() < 3) {
      int64_t d = 1 + pick(static_cast<int>(std::min<int64_t>(rest, 40)));
      while (rest % d) --d;
      shape.push_back(d);
      rest /= d;
    }
    shape.push_back(rest);
    add(Op::Reshape, node(a).dtype, shape, {a});
  }

  void permute() {
    const NodeId a = recent();
    Dims order;
    for (size_t i = 0; i < node(a).shape.size(); ++i) order.push_back(static_cast<int64_t>(i));
    std::shuffle(order.begin(), order.end(), rng_);
    Shape shape;
    for (int64_t axis : order) shape.push_back(node(a).shape[static_cast<size_t>(axis)]);
    add(Op::Permute, node(a).dtype, shape, {a}, order);
  }

  /// A random slice of `in`: shape, steps and starts.
  void random_slice(const Shape& in, Shape* shape, Dims* steps, Dims* starts) {
    static constexpr int64_t choices[] = {1, 1, 1, 2, 3, -1, -2};
    for (int64_t d : in) {
      const int64_t step = choices[pick(std::size(choices))];
      if (d == 0 || pick(3) == 0) {
        steps->push_back(1);
        starts->push_back(0);
        shape->push_back(d);
        continue;
      }
      const int64_t start = pick(3) ? (step > 0 ? 0 : d - 1) : pick(static_cast<int>(d));
      const int64_t most = step > 0 ? (d - start + step - 1) / step : start / -step + 1;
      const int64_t n = pick(3) ? most : 1 + pick(static_cast<int>(most));
      steps->push_back(step);
      starts->push_back(start);
      shape->push_back(n);
    }
  }

  void slice() {
    const NodeId a = recent();
    Shape shape;
    Dims steps, starts;
    random_slice(node(a).shape, &shape, &steps, &starts);
    const NodeId id = add(Op::Slice, node(a).dtype, shape, {a}, steps);
    for (int64_t s : starts)
      p_.graph.nodes[static_cast<size_t>(id)].params.push_back(start_param(s));
  }

  void update() {
    const NodeId a = recent();
    Shape shape;
    Dims steps, starts;
    random_slice(node(a).shape, &shape, &steps, &starts);
    NodeId value = recent();
    if (auto s = broadcast(node(value).shape, shape); s && *s == shape) {
      value = cast(value, node(a).dtype);
      if (!(node(value).shape == shape)) value = add(Op::Expand, node(a).dtype, shape, {value});
    } else {
      value =
          add(Op::Full, node(a).dtype, shape, {param(node(a).dtype, random_bits(node(a).dtype))});
    }
    const NodeId id = add(Op::SliceScatter, node(a).dtype, node(a).shape, {a, value}, steps);
    for (int64_t s : starts)
      p_.graph.nodes[static_cast<size_t>(id)].params.push_back(start_param(s));
  }

  void expand() {
    const NodeId a = recent();
    Shape shape = node(a).shape;
    for (int64_t& d : shape)
      if (d == 1 && pick(2)) d = 1 + pick(9);
    if (pick(2)) shape.insert(0, 1 + pick(4));
    if (numel(shape) <= 20000) add(Op::Expand, node(a).dtype, shape, {a});
  }

  void cat() {
    const NodeId a = recent();
    if (node(a).shape.empty()) return;
    const size_t axis = static_cast<size_t>(pick(static_cast<int>(node(a).shape.size())));
    SmallVector<NodeId, 3> parts = {a};
    Shape shape = node(a).shape;
    for (int tries = 0; tries < 10 && parts.size() < 3; ++tries) {
      const NodeId b = recent();
      Shape other = node(b).shape;
      if (other.size() != shape.size()) continue;
      const int64_t n = other[axis];
      other[axis] = shape[axis];
      if (!(other == shape)) continue;
      parts.push_back(cast(b, node(a).dtype));
      shape[axis] += n;
    }
    add(Op::Cat, node(a).dtype, shape, parts, {static_cast<int64_t>(axis)});
  }

  void create() {
    const DType t = pick(2) ? DType::F32 : DType::F64;
    const Shape shape = relative_shape();
    switch (pick(4)) {
      case 0: add(Op::Full, t, shape, {param(t, random_bits(t))}); break;
      case 1: {
        const NodeId start = param(t, random_bits(t)), by = param(t, random_bits(t));
        add(Op::Arange, t, {numel(shape)}, {start, by});
        break;
      }
      default: {
        const NodeId seed = param(DType::I64, Bits::of(static_cast<int64_t>(rng_())));
        const NodeId stream = param(DType::I64, Bits::of(int64_t{pick(100)}));
        add(pick(2) ? Op::Rand : Op::Randn, t, shape, {seed, stream});
      }
    }
  }

  /// Of integers, where the product is exact.
  void matmul() {
    NodeId a = recent();
    if (node(a).shape.size() != 2) return;
    a = cast(a, DType::I32);
    const NodeId t =
        add(Op::Permute, DType::I32, {node(a).shape[1], node(a).shape[0]}, {a}, {1, 0});
    add(Op::Matmul, DType::I32, {node(a).shape[0], node(a).shape[0]}, {a, t});
  }

  std::mt19937_64 rng_;
  int size_;
  RandomProgram p_;
  Shape base_shape_;
  NodeId last_reduced_ = -1, last_reduction_ = -1;
  Dims last_axes_;
};

}  // namespace

RandomProgram random_program(uint64_t seed, int size) { return Generator(seed, size).run(); }

int64_t first_difference(DType dtype, const std::vector<std::byte>& a,
                         const std::vector<std::byte>& b) {
  if (a.size() != b.size()) return 0;
  return dispatch(dtype, [&]<class T>(T) -> int64_t {
    for (size_t i = 0; i < a.size() / sizeof(T); ++i) {
      T x, y;
      std::memcpy(&x, a.data() + i * sizeof(T), sizeof x);
      std::memcpy(&y, b.data() + i * sizeof(T), sizeof y);
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(x) && std::isnan(y)) continue;
      if (std::memcmp(&x, &y, sizeof x) != 0) return static_cast<int64_t>(i);
    }
    return -1;
  });
}

}  // namespace kiln::testing
