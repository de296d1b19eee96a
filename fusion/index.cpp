#include "fusion/index.h"

#include "ir/core/error.h"

namespace kiln::fusion {

using ir::Expr;
using ir::Node;
using ir::NodeId;
using ir::Op;

Indexer::Indexer(const ir::Graph& graph, ir::SizeTable sizes, std::shared_ptr<ir::ExprPool> pool)
    : graph_(graph), pool_(std::move(pool)), sizes_(std::move(sizes)) {}

Expr Indexer::extent(int64_t value) const {
  return value < 2 ? Expr(value) : pool_->symbol(sizes_.symbol_of(value));
}

Expr Indexer::numel(const Shape& shape) const {
  Expr n(1);
  for (int64_t d : shape) n = n * extent(d);
  return n;
}

Expr Indexer::flat(const Shape& shape, const Index& index) const {
  Expr position, stride(1);
  for (size_t k = shape.size(); k-- > 0;) {
    position = position + index[k] * stride;
    stride = stride * extent(shape[k]);
  }
  return pool_->simplify(position);
}

Index Indexer::fresh_index(const Shape& shape) const {
  Index index;
  for (int64_t d : shape) index.push_back(pool_->fresh_var(extent(d)));
  return index;
}

Index Indexer::broadcast(const Shape& operand, const Index& at) const {
  Index index(operand.size());
  const size_t skip = at.size() - operand.size();
  for (size_t k = 0; k < operand.size(); ++k)
    if (operand[k] != 1) index[k] = at[skip + k];
  return index;
}

Index Indexer::reshape(const Shape& from, const Shape& to, const Index& at) const {
  Index index(from.size());
  for (const ReshapeGroup& g : reshape_groups(from, to)) {
    const Shape part(to.begin() + g.out_begin, to.begin() + g.out_end);
    const Expr position = flat(part, Index(at.begin() + g.out_begin, at.begin() + g.out_end));
    Expr stride(1);
    int first = g.in_begin;  // the outermost axis needs no remainder
    while (first < g.in_end && from[static_cast<size_t>(first)] == 1) ++first;
    for (int k = g.in_end; k-- > first;) {
      const Expr n = extent(from[static_cast<size_t>(k)]);
      const Expr quotient = pool_->floordiv(position, stride);
      index[static_cast<size_t>(k)] = k == first ? quotient : pool_->mod(quotient, n);
      stride = stride * n;
    }
  }
  return index;
}

OperandIndex Indexer::cat(const Node& node, size_t k, const Index& at) const {
  const size_t axis = static_cast<size_t>(node.attrs[0]);
  Expr before;
  for (size_t i = 0; i < k; ++i)
    before = before + extent(graph_.nodes[static_cast<size_t>(node.inputs[i])].shape[axis]);
  const int64_t n = graph_.nodes[static_cast<size_t>(node.inputs[k])].shape[axis];
  OperandIndex result{at, {}};
  result.index[axis] = at[axis] - before;
  result.conditions.push_back({result.index[axis], extent(n), 1, n == 1});
  if (n == 1) result.index[axis] = Expr();
  return result;
}

OperandIndex Indexer::scatter_source(const Node& node, const Index& at) const {
  const Shape& source = graph_.nodes[static_cast<size_t>(node.inputs[1])].shape;
  OperandIndex result{Index(at.size()), {}};
  for (size_t k = 0; k < at.size(); ++k) {
    const int64_t step = node.attrs[k];
    if (step == 1 && source[k] == node.shape[k]) {  // the whole axis: its start is 0
      result.index[k] = at[k];
      continue;
    }
    const Expr start = pool_->param(node.params[k]);
    const Expr distance = step > 0 ? at[k] - start : start - at[k];
    const int64_t width = step > 0 ? step : -step;
    result.conditions.push_back({distance, extent(source[k]) * Expr(width), width, source[k] == 1});
    if (source[k] != 1) result.index[k] = pool_->floordiv(distance, Expr(width));
  }
  return result;
}

OperandIndex Indexer::operand(NodeId id, size_t k, const Index& at) const {
  const Node& node = graph_.nodes[static_cast<size_t>(id)];
  const Shape& shape = graph_.nodes[static_cast<size_t>(node.inputs[k])].shape;
  switch (node.op) {
    case Op::Reshape: return {reshape(shape, node.shape, at), {}};
    case Op::Permute: {
      Index index(at.size());
      for (size_t i = 0; i < at.size(); ++i) index[static_cast<size_t>(node.attrs[i])] = at[i];
      return {index, {}};
    }
    case Op::Slice: {
      Index index(at.size());
      for (size_t i = 0; i < at.size(); ++i) {
        // A slice of the whole axis starts at 0, or at the end if it is reversed.
        const bool whole = shape[i] == node.shape[i];
        if (shape[i] == 1) continue;
        if (whole && node.attrs[i] == 1) {
          index[i] = at[i];
        } else if (whole && node.attrs[i] == -1) {
          index[i] = extent(shape[i]) - 1 - at[i];
        } else {
          index[i] = pool_->param(node.params[i]) + Expr(node.attrs[i]) * at[i];
        }
      }
      return {index, {}};
    }
    case Op::Cat: return cat(node, k, at);
    case Op::SliceScatter:
      if (k == 1) return scatter_source(node, at);
      return {at, {}};
    default: return {broadcast(shape, at), {}};  // Expand broadcasts like an elementwise operand
  }
}

NodeId resolve_views(const ir::Graph& graph, const Indexer& indexer, const std::vector<char>& stop,
                     NodeId node, Index* at) {
  while (ir::is_view(graph.nodes[static_cast<size_t>(node)].op) &&
         !stop[static_cast<size_t>(node)]) {
    *at = indexer.operand(node, 0, *at).index;
    node = graph.nodes[static_cast<size_t>(node)].inputs[0];
  }
  return node;
}

bool is_strided(const ir::ExprPool& pool, const Expr& e) {
  for (const ir::Monomial& m : e.terms()) {
    int vars = 0;
    for (ir::AtomId id : m.atoms) {
      const auto kind = pool.atom(id).kind;
      if (kind == ir::ExprPool::Kind::Div || kind == ir::ExprPool::Kind::Mod) return false;
      vars += kind == ir::ExprPool::Kind::Var;
    }
    if (vars > 1) return false;
  }
  return true;
}

}  // namespace kiln::fusion
