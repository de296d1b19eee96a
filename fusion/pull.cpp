#include "fusion/pull.h"

#include <algorithm>

#include "ir/core/error.h"

namespace kiln::fusion {

using ir::Expr;
using ir::Node;
using ir::NodeId;
using ir::Op;

bool Puller::member(NodeId id) const {
  return std::binary_search(group_.nodes.begin(), group_.nodes.end(), id);
}

int32_t Puller::pull(NodeId id, const Index& at, int32_t guard) {
  std::string key = std::to_string(id) + "?" + std::to_string(guard);
  for (const Expr& e : at) key += "," + indexer_.pool().print(e);
  if (auto it = known_.find(key); it != known_.end()) return it->second;
  const int32_t value = make(id, at, guard);
  known_[key] = value;
  return value;
}

int32_t Puller::make(NodeId id, const Index& at, int32_t guard) {
  const Node& n = node(id);
  const bool stored_elsewhere =
      n.op == Op::Input || (uses_.computes[static_cast<size_t>(id)] && !member(id));
  if (stored_elsewhere) {
    const int32_t slot = slots_.of_node[static_cast<size_t>(id)];
    check_internal(slot >= 0, "lower: a value is read that nothing stores");
    return builder_.load(slot, n.dtype, indexer_.flat(n.shape, at), guard);
  }
  switch (ir::category(n.op)) {
    case ir::Category::View: {
      const OperandIndex from = indexer_.operand(id, 0, at);
      return pull(n.inputs[0], from.index, guard);
    }
    case ir::Category::Elementwise: return elementwise(id, at, guard);
    case ir::Category::Reduction: return reduction(id);
    case ir::Category::Concat: return cat(id, at, guard);
    case ir::Category::Update: return update(id, at, guard);
    case ir::Category::Random:
      return builder_.op(n.op, n.dtype,
                         {pull(n.inputs[0], {}, guard), pull(n.inputs[1], {}, guard),
                          builder_.index_value(indexer_.flat(n.shape, at))});
    default: break;
  }
  switch (n.op) {
    case Op::Const: return builder_.constant(Bits{static_cast<uint64_t>(n.attrs[0])}, n.dtype);
    case Op::Param: return builder_.scalar(n.params[0], n.dtype);
    case Op::Full: return pull(n.inputs[0], {}, guard);
    case Op::Arange: return arange(n, at, guard);
    default: break;
  }
  internal_error("lower: " + std::string(ir::name(n.op)) + " cannot be part of a kernel");
}

int32_t Puller::elementwise(NodeId id, const Index& at, int32_t guard) {
  const Node& n = node(id);
  SmallVector<int32_t, 3> inputs;
  for (size_t k = 0; k < n.inputs.size(); ++k)
    inputs.push_back(pull(n.inputs[k], indexer_.operand(id, k, at).index, guard));
  return builder_.op(n.op, n.dtype, inputs);
}

int32_t Puller::reduction(NodeId id) {
  const Node& n = node(id);
  const std::string key = "acc" + std::to_string(id);
  if (auto it = known_.find(key); it != known_.end()) return it->second;
  int32_t operand;
  if (partial) {
    operand = partial(id);
  } else {
    const Shape& in = node(n.inputs[0]).shape;
    Index at;
    size_t axis = 0;
    for (int64_t d : in) at.push_back(d == 1 ? Expr() : vars_[axis++]);
    operand = pull(n.inputs[0], at, -1);
    const bool sums = n.op == Op::Sum || n.op == Op::Prod;
    if (sums && node(n.inputs[0]).dtype != n.dtype)
      operand = builder_.op(Op::Cast, n.dtype, {operand});
  }
  const auto tree = partial ? ir::Reduce::Tree::Pairwise : ir::Reduce::Tree::Full;
  return known_[key] = builder_.reduce(n.op, n.dtype, operand, tree);
}

int32_t Puller::both(int32_t a, int32_t b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return builder_.op(Op::LogicalAnd, DType::Bool, {a, b});
}

Puller::Held Puller::holds(const std::vector<Condition>& conditions) {
  Held held;
  for (const Condition& c : conditions) {
    ir::ExprPool& pool = indexer_.pool();
    int32_t one = -1;
    auto require = [&](Op op, const Expr& left, const Expr& right) {
      one = both(one,
                 builder_.op(op, DType::Bool, {builder_.index_value(left), builder_.bound(right)}));
    };
    if (!pool.in_range(c.value, c.limit)) {
      require(Op::Ge, c.value, Expr(0));
      require(Op::Lt, c.value, c.limit);
    }
    if (c.step > 1) require(Op::Eq, pool.mod(c.value, Expr(c.step)), Expr(0));
    held.all = both(held.all, one);
    if (!c.safe) held.unsafe = both(held.unsafe, one);
  }
  return held;
}

int32_t Puller::cat(NodeId id, const Index& at, int32_t guard) {
  const Node& n = node(id);
  int32_t result = -1;
  for (size_t k = n.inputs.size(); k-- > 0;) {
    if (numel(node(n.inputs[k]).shape) == 0) continue;
    const OperandIndex from = indexer_.operand(id, k, at);
    const Held inside = holds(from.conditions);
    const int32_t value = pull(n.inputs[k], from.index, both(guard, inside.unsafe));
    result = result < 0 || inside.all < 0
                 ? value
                 : builder_.op(Op::Where, n.dtype, {inside.all, value, result});
  }
  return result;
}

int32_t Puller::update(NodeId id, const Index& at, int32_t guard) {
  const Node& n = node(id);
  const OperandIndex from = indexer_.operand(id, 1, at);
  const Held inside = holds(from.conditions);
  const int32_t value = pull(n.inputs[1], from.index, both(guard, inside.unsafe));
  if (inside.all < 0) return value;
  return builder_.op(Op::Where, n.dtype, {inside.all, value, pull(n.inputs[0], at, guard)});
}

int32_t Puller::arange(const Node& n, const Index& at, int32_t guard) {
  const DType compute = is_float(n.dtype) ? DType::F64 : n.dtype;
  auto as = [&](int32_t value, DType from) {
    return from == compute ? value : builder_.op(Op::Cast, compute, {value});
  };
  const int32_t start = as(pull(n.inputs[0], {}, guard), n.dtype);
  const int32_t step = as(pull(n.inputs[1], {}, guard), n.dtype);
  const int32_t i = as(builder_.index_value(at[0]), DType::I64);
  const int32_t sum =
      builder_.op(Op::Add, compute, {start, builder_.op(Op::Mul, compute, {i, step})});
  return compute == n.dtype ? sum : builder_.op(Op::Cast, n.dtype, {sum});
}

}  // namespace kiln::fusion
