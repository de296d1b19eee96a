// How a node's element at some index is made from its operands' elements: the index transformations
// of views, broadcasting, concatenation and slice updates.
#pragma once

#include <vector>

#include "ir/expr.h"
#include "ir/graph.h"
#include "ir/plan.h"

namespace kiln::fusion {

/// One expression per axis of a node.
using Index = std::vector<ir::Expr>;

/// A condition on an index: 0 <= value < limit, and value divisible by step. Where it does not hold
/// the operand has no element to read, unless `safe` says that the index is in bounds all the same.
struct Condition {
  ir::Expr value, limit;
  int64_t step = 1;
  bool safe = false;
};

/// Where an operand is read to make one element, and under which conditions it is read at all.
struct OperandIndex {
  Index index;
  std::vector<Condition> conditions;
};

class Indexer {
 public:
  /// `sizes` numbers the extents; it must know every extent of the graph.
  Indexer(const ir::Graph& graph, ir::SizeTable sizes, std::shared_ptr<ir::ExprPool> pool);

  ir::ExprPool& pool() const { return *pool_; }

  /// An extent as an expression: 0 and 1 are themselves, others the symbol of their value.
  ir::Expr extent(int64_t value) const;
  ir::Expr numel(const Shape& shape) const;
  /// Row-major position of `index` in `shape`.
  ir::Expr flat(const Shape& shape, const Index& index) const;

  /// A fresh variable per axis of the shape (0 where the extent is 1).
  Index fresh_index(const Shape& shape) const;

  /// Index of operand `k` for element `at` of the node. Not for reductions and external nodes.
  OperandIndex operand(ir::NodeId node, size_t k, const Index& at) const;

 private:
  Index broadcast(const Shape& operand, const Index& at) const;
  Index reshape(const Shape& from, const Shape& to, const Index& at) const;
  OperandIndex cat(const ir::Node& node, size_t k, const Index& at) const;
  OperandIndex scatter_source(const ir::Node& node, const Index& at) const;

  const ir::Graph& graph_;
  std::shared_ptr<ir::ExprPool> pool_;
  ir::SizeTable sizes_;
};

/// Follows `node` through views to the first node that `stop` marks or that is no view, rewriting
/// `at`.
ir::NodeId resolve_views(const ir::Graph& graph, const Indexer& indexer,
                         const std::vector<char>& stop, ir::NodeId node, Index* at);

/// Whether e is a sum of coefficient * variable with no divisions: an address of strided memory.
bool is_strided(const ir::ExprPool& pool, const ir::Expr& e);

}  // namespace kiln::fusion
