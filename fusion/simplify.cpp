#include "fusion/simplify.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "ir/eval.h"

namespace kiln::fusion {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;

namespace {

class Simplifier {
 public:
  explicit Simplifier(const Graph& graph) : in_(graph) {}

  Graph run() {
    out_.num_params = in_.num_params;
    std::vector<NodeId> map;
    for (const Node& node : in_.nodes) {
      Node copy = node;
      for (NodeId& input : copy.inputs) input = map[static_cast<size_t>(input)];
      map.push_back(rewrite(std::move(copy)));
    }
    for (NodeId id : in_.outputs) out_.outputs.push_back(map[static_cast<size_t>(id)]);
    for (NodeId id : in_.wanted) out_.wanted.push_back(id < 0 ? -1 : map[static_cast<size_t>(id)]);
    return remove_dead();
  }

 private:
  const Node& node(NodeId id) const { return out_.nodes[static_cast<size_t>(id)]; }
  bool is_const(NodeId id) const { return node(id).op == Op::Const; }
  bool is_const(NodeId id, double value) const {
    if (!is_const(id)) return false;
    const DType t = node(id).dtype;
    const Bits want = to_bits(is_float(t) ? Scalar(value) : Scalar(static_cast<int64_t>(value)), t);
    return static_cast<uint64_t>(node(id).attrs[0]) == want.raw;
  }

  /// Adds the node, or returns an equal one that exists already.
  NodeId intern(Node n) {
    if (ir::info(n.op).flags == ir::Flags::Commutative && n.inputs[1] < n.inputs[0])
      std::swap(n.inputs[0], n.inputs[1]);
    std::string key;
    auto put = [&](int64_t v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
    put(static_cast<int64_t>(n.op) | static_cast<int64_t>(n.dtype) << 8);
    for (int64_t v : n.shape) put(v);
    put(-1);
    for (NodeId v : n.inputs) put(v);
    put(-1);
    for (int64_t v : n.attrs) put(v);
    put(static_cast<int64_t>(n.attrs.size()));
    for (int32_t v : n.params) put(v);
    if (n.op == Op::Input) return ir::add(out_, std::move(n));  // each is a buffer of its own
    auto [it, fresh] = known_.try_emplace(std::move(key), static_cast<NodeId>(out_.nodes.size()));
    if (fresh) ir::add(out_, std::move(n));
    return it->second;
  }

  NodeId constant(const Node& like, DType t, Scalar value) {
    Node c{Op::Const, t, {}, {}, {static_cast<int64_t>(to_bits(value, t).raw)}, {}, like.at};
    return intern(std::move(c));
  }
  NodeId full(const Node& like, Scalar value) {
    const NodeId c = constant(like, like.dtype, value);
    return intern({Op::Full, like.dtype, like.shape, {c}, {}, {}, like.at});
  }

  NodeId rewrite(Node n) {
    switch (ir::category(n.op)) {
      case ir::Category::Elementwise: return elementwise(std::move(n));
      case ir::Category::Reduction: return reduction(std::move(n));
      case ir::Category::View: return view(std::move(n));
      case ir::Category::Concat: return cat(std::move(n));
      case ir::Category::Update: return update(std::move(n));
      case ir::Category::External:
        if (numel(node(n.inputs[0]).shape) == 0 && numel(n.shape) != 0)
          return full(n, zero(n.dtype));  // a product over no elements
        return intern(std::move(n));
      default: return intern(std::move(n));
    }
  }

  /// `id` if it already has the node's shape, else nothing: an identity must not drop a broadcast.
  NodeId same_shape(const Node& n, NodeId id) const {
    return node(id).shape == n.shape && node(id).dtype == n.dtype ? id : -1;
  }

  NodeId elementwise(Node n) {
    if (std::all_of(n.inputs.begin(), n.inputs.end(), [&](NodeId i) { return is_const(i); }) &&
        n.shape.empty())
      return fold(n);
    NodeId same = -1;
    const bool real = is_float(n.dtype);
    switch (n.op) {
      case Op::Cast: same = same_shape(n, n.inputs[0]); break;
      case Op::Neg:
        if (node(n.inputs[0]).op == Op::Neg) same = same_shape(n, node(n.inputs[0]).inputs[0]);
        break;
      case Op::Add:  // x + 0 is not an identity for x = -0
        for (size_t k : {0, 1})
          if (is_const(n.inputs[k], real ? -0.0 : 0)) same = same_shape(n, n.inputs[1 - k]);
        break;
      case Op::Sub:
        if (is_const(n.inputs[1], 0)) same = same_shape(n, n.inputs[0]);
        break;
      case Op::Mul:
        if (is_bool(n.dtype)) break;
        for (size_t k : {0, 1})
          if (is_const(n.inputs[k], 1)) same = same_shape(n, n.inputs[1 - k]);
        break;
      case Op::Div:
        if (is_const(n.inputs[1], 1)) same = same_shape(n, n.inputs[0]);
        break;
      case Op::Where:
        if (n.inputs[1] == n.inputs[2]) same = same_shape(n, n.inputs[1]);
        break;
      default: break;
    }
    return same >= 0 ? same : intern(std::move(n));
  }

  NodeId fold(const Node& n) {
    Bits in[3];
    for (size_t k = 0; k < n.inputs.size(); ++k)
      in[k].raw = static_cast<uint64_t>(node(n.inputs[k]).attrs[0]);
    const DType compute = node(n.inputs[n.op == Op::Where ? 1 : 0]).dtype;
    const Bits r = ir::eval_op(n.op, compute, in, n.dtype, node(n.inputs[0]).dtype);
    return intern({Op::Const, n.dtype, {}, {}, {static_cast<int64_t>(r.raw)}, {}, n.at});
  }

  NodeId reduction(Node n) {
    const Shape& in = node(n.inputs[0]).shape;
    int64_t count = 1;
    for (int64_t axis : n.attrs) count *= in[static_cast<size_t>(axis)];
    if (numel(n.shape) == 0) return full(n, zero(n.dtype));
    if (count == 0) return full(n, n.op == Op::Prod ? one(n.dtype) : zero(n.dtype));
    if (count > 1) {
      // Axes of extent 1 need no reduction, but they must leave the shape.
      return intern(std::move(n));
    }
    if (n.op == Op::Argmax || n.op == Op::Argmin) return full(n, zero(n.dtype));
    NodeId x = n.inputs[0];
    if (node(x).dtype != n.dtype)
      x = rewrite({Op::Cast, n.dtype, node(x).shape, {x}, {}, {}, n.at});
    return rewrite({Op::Reshape, n.dtype, n.shape, {x}, {}, {}, n.at});
  }

  static Scalar zero(DType t) {
    return is_bool(t) ? Scalar(false) : is_float(t) ? Scalar(0.0) : Scalar(0);
  }
  static Scalar one(DType t) { return is_float(t) ? Scalar(1.0) : Scalar(1); }

  NodeId view(Node n) {
    const NodeId x = n.inputs[0];
    const Node& in = node(x);
    switch (n.op) {
      case Op::Reshape:
        if (in.op == Op::Reshape) n.inputs[0] = in.inputs[0];
        break;
      case Op::Permute:
        if (in.op == Op::Permute) {
          for (int64_t& axis : n.attrs) axis = in.attrs[static_cast<size_t>(axis)];
          n.inputs[0] = in.inputs[0];
        }
        if (!is_identity(n.attrs)) return intern(std::move(n));
        break;
      case Op::Slice:
        if (std::any_of(n.attrs.begin(), n.attrs.end(), [](int64_t s) { return s != 1; }))
          return intern(std::move(n));
        break;
      default: break;
    }
    const NodeId same = same_shape(n, n.inputs[0]);
    return same >= 0 ? same : intern(std::move(n));
  }
  static bool is_identity(const Dims& permutation) {
    for (size_t i = 0; i < permutation.size(); ++i)
      if (permutation[i] != static_cast<int64_t>(i)) return false;
    return true;
  }

  NodeId cat(Node n) {
    SmallVector<NodeId, 3> parts;
    for (NodeId id : n.inputs)
      if (numel(node(id).shape) != 0) parts.push_back(id);
    if (parts.size() == 1) return parts[0];
    if (!parts.empty()) n.inputs = parts;
    return intern(std::move(n));
  }

  NodeId update(Node n) {
    const Node& source = node(n.inputs[1]);
    if (numel(source.shape) == 0) return n.inputs[0];
    const bool forward =
        std::all_of(n.attrs.begin(), n.attrs.end(), [](int64_t s) { return s == 1; });
    if (forward && source.shape == n.shape) return n.inputs[1];
    return intern(std::move(n));
  }

  Graph remove_dead() {
    std::vector<char> live(out_.nodes.size());
    for (NodeId id : out_.outputs) live[static_cast<size_t>(id)] = 1;
    for (NodeId id : out_.inputs) live[static_cast<size_t>(id)] = 1;  // a call passes them all
    for (size_t i = out_.nodes.size(); i-- > 0;)
      if (live[i])
        for (NodeId input : out_.nodes[i].inputs) live[static_cast<size_t>(input)] = 1;
    Graph result;
    result.num_params = out_.num_params;
    std::vector<NodeId> map(out_.nodes.size(), -1);
    for (size_t i = 0; i < out_.nodes.size(); ++i) {
      if (!live[i]) continue;
      Node n = out_.nodes[i];
      for (NodeId& input : n.inputs) input = map[static_cast<size_t>(input)];
      map[i] = ir::add(result, std::move(n));
    }
    for (NodeId id : out_.outputs) result.outputs.push_back(map[static_cast<size_t>(id)]);
    for (NodeId id : out_.wanted)
      result.wanted.push_back(id < 0 ? -1 : map[static_cast<size_t>(id)]);
    return result;
  }

  const Graph& in_;
  Graph out_;
  std::unordered_map<std::string, NodeId> known_;
};

}  // namespace

Graph simplify(const Graph& graph) { return Simplifier(graph).run(); }

}  // namespace kiln::fusion
