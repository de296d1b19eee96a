// Where a fused kernel evaluates each member. Indices are pushed from the stored results to what
// they read; a member may be evaluated at several indices, which costs time but never changes a
// bit.
#include <algorithm>

#include "fusion/cost.h"
#include "fusion/groups.h"

namespace kiln::fusion {

using ir::Expr;
using ir::Node;
using ir::NodeId;

namespace {

/// One evaluation of a member: at which index, and under which guard of its reads.
struct Spot {
  Index index;
  std::string guard;
  friend bool operator==(const Spot&, const Spot&) = default;
};

class Placer {
 public:
  Placer(const ir::Graph& graph, const Indexer& indexer, const Uses& uses, const Group& group,
         const Index& vars, const std::vector<NodeId>& stored)
      : graph_(graph),
        indexer_(indexer),
        uses_(uses),
        group_(group),
        vars_(vars),
        stored_(stored) {}

  Placement run() {
    for (size_t i = group_.nodes.size(); i-- > 0 && result_.legal;) visit(group_.nodes[i]);
    return std::move(result_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  bool member(NodeId id) const {
    return std::binary_search(group_.nodes.begin(), group_.nodes.end(), id);
  }

  void refuse(NodeId id, const char* why) {
    result_.legal = false;
    result_.reason =
        "%" + std::to_string(id) + " " + std::string(ir::name(node(id).op)) + ": " + why;
  }

  void visit(NodeId id) {
    std::vector<Spot>& at = where_[id];
    if (std::binary_search(stored_.begin(), stored_.end(), id) && !choose_store(id, &at)) return;
    if (ir::is_reduction(node(id).op)) {
      visit_reduction(id, at);
      return;
    }
    count_cost(id, at);
    spots_ += at.size();
    if (spots_ > max_group_spots) {
      refuse(id, "members would be evaluated at too many places");
      return;
    }
    for (const Spot& spot : at)
      for (size_t k = 0; k < node(id).inputs.size(); ++k) {
        OperandIndex from = indexer_.operand(id, k, spot.index);
        push(node(id).inputs[k], {std::move(from.index), guard_of(from, spot.guard)});
      }
  }

  /// The guard of an operand's reads, as text: equal guards are equal texts.
  std::string guard_of(const OperandIndex& from, std::string guard) const {
    for (const Condition& c : from.conditions)
      if (!c.safe)
        guard += indexer_.pool().print(c.value) + "<" + indexer_.pool().print(c.limit) + "/" +
                 std::to_string(c.step) + ";";
    return guard;
  }

  /// The indices at which `shape` covers the whole domain or, in a reduction, its kept axes.
  bool identity(const Shape& shape, Index* index) const {
    const Shape wide = drop_ones(shape);
    const bool full = wide == group_.domain.extents;
    if (!full && !(group_.domain.has_reduction() && wide == group_.domain.kept())) return false;
    size_t axis = 0;
    index->clear();
    for (int64_t d : shape) {
      if (d == 1) {
        index->push_back(Expr());
        continue;
      }
      while (!full && group_.domain.reduced[axis]) ++axis;
      index->push_back(vars_[axis++]);
    }
    return true;
  }

  /// Whether the index meets every element of the node exactly once over the domain or its kept
  /// axes.
  bool covers_once(const Shape& shape, const Index& index) const {
    // In the same order, as through a reshape.
    const Shape& all = group_.domain.extents;
    if (numel(shape) == numel(all) && indexer_.flat(shape, index) == indexer_.flat(all, vars_))
      return true;
    std::vector<char> used(vars_.size());
    for (size_t k = 0; k < index.size(); ++k) {
      if (shape[k] == 1) continue;
      size_t axis = 0;
      for (; axis < vars_.size(); ++axis) {
        const bool forward = index[k] == vars_[axis];
        const bool backward = index[k] == indexer_.extent(shape[k]) - 1 - vars_[axis];
        if ((forward || backward) && group_.domain.extents[axis] == shape[k]) break;
      }
      if (axis == vars_.size() || used[axis]) return false;
      used[axis] = 1;
    }
    const bool inner = any_used(used, true), all_inner = all_used(used, true);
    return all_used(used, false) && (!inner || all_inner);
  }
  bool any_used(const std::vector<char>& used, bool reduced) const {
    for (size_t i = 0; i < used.size(); ++i)
      if (group_.domain.reduced[i] == reduced && used[i]) return true;
    return false;
  }
  bool all_used(const std::vector<char>& used, bool reduced) const {
    for (size_t i = 0; i < used.size(); ++i)
      if (group_.domain.reduced[i] == reduced && !used[i]) return false;
    return true;
  }

  bool choose_store(NodeId id, std::vector<Spot>* at) {
    const Shape& shape = node(id).shape;
    Index same;
    const bool has_same = identity(shape, &same);
    for (const Spot& spot : *at)
      if (has_same && spot.guard.empty() && spot.index == same) {
        result_.store[id] = same;
        return true;
      }
    for (const Spot& spot : *at)
      if (spot.guard.empty() && covers_once(shape, spot.index)) {
        result_.store[id] = spot.index;
        return true;
      }
    if (!has_same) {
      refuse(id, "stored, but evaluated neither at each of its elements nor over the loops");
      return false;
    }
    result_.store[id] = same;
    at->push_back({same, ""});
    return true;
  }

  void visit_reduction(NodeId id, const std::vector<Spot>& at) {
    const Node& reduce = node(id);
    Index row;
    if (!identity(reduce.shape, &row) ||
        std::any_of(at.begin(), at.end(), [&](const Spot& s) { return !(s.index == row); })) {
      refuse(id, "its result is read at another index than the loop's own");
      return;
    }
    const Shape& operand = node(reduce.inputs[0]).shape;
    Index index;
    size_t axis = 0;
    for (size_t k = 0; k < operand.size(); ++k) {
      if (operand[k] == 1) {
        index.push_back(Expr());
        continue;
      }
      const bool is_reduced = std::find(reduce.attrs.begin(), reduce.attrs.end(),
                                        static_cast<int64_t>(k)) != reduce.attrs.end();
      if (axis == vars_.size() || group_.domain.extents[axis] != operand[k] ||
          group_.domain.reduced[axis] != is_reduced) {
        refuse(id, "reduces other axes than the group");
        return;
      }
      index.push_back(vars_[axis++]);
    }
    if (axis != vars_.size()) {
      refuse(id, "reduces over another space than the group");
      return;
    }
    push(reduce.inputs[0], {std::move(index), ""});
  }

  /// Adds `index` to the places of the member that holds the elements of `id`.
  void push(NodeId id, Spot spot) {
    id = resolve_views(graph_, indexer_, uses_.computes, id, &spot.index);
    if (!member(id)) return;
    if (group_.split && depends_on_reduction(id) && uses_inner(spot.index)) {
      refuse(id, "needs the result of a split reduction inside its loop");
      return;
    }
    std::vector<Spot>& at = where_[id];
    if (std::find(at.begin(), at.end(), spot) == at.end()) at.push_back(std::move(spot));
  }

  bool uses_inner(const Index& index) const {
    for (const Expr& e : index)
      for (size_t axis = 0; axis < vars_.size(); ++axis)
        if (group_.domain.reduced[axis] && depends(e, vars_[axis])) return true;
    return false;
  }
  bool depends(const Expr& e, const Expr& var) const {
    return indexer_.pool().depends_on_var(e, indexer_.pool().atom(var.terms()[0].atoms[0]).index);
  }

  bool depends_on_reduction(NodeId id) {
    if (reduced_known_.empty()) mark_reduction_dependences();
    return reduced_known_.at(id);
  }
  void mark_reduction_dependences() {
    for (NodeId id : group_.nodes) {
      bool depends = ir::is_reduction(node(id).op);
      for (NodeId input : node(id).inputs) {
        while (ir::is_view(node(input).op) && !uses_.computes[static_cast<size_t>(input)])
          input = node(input).inputs[0];
        auto it = reduced_known_.find(input);
        depends |= it != reduced_known_.end() && it->second;
      }
      reduced_known_[id] = depends;
    }
  }

  /// A value that does not vary along the innermost loop is computed once per run of that loop.
  int64_t evaluations(const Index& index) const {
    bool innermost = false;
    int64_t all = 1, outer = 1;
    for (size_t axis = 0; axis < vars_.size(); ++axis) {
      const bool inner =
          group_.domain.has_reduction() ? group_.domain.reduced[axis] : axis + 1 == vars_.size();
      all *= group_.domain.extents[axis];
      if (!inner) outer *= group_.domain.extents[axis];
      for (const Expr& e : index) innermost |= inner && depends(e, vars_[axis]);
    }
    return innermost ? all : outer;
  }

  void count_cost(NodeId id, const std::vector<Spot>& at) {
    if (at.size() == 1 && drop_ones(node(id).shape) == group_.domain.extents) return;
    int64_t evaluated = 0;
    for (const Spot& spot : at) evaluated += evaluations(spot.index);
    const int64_t extra = evaluated - numel(node(id).shape);
    if (extra > 0) result_.extra_cost += extra * cost(node(id).op);
  }

  const ir::Graph& graph_;
  const Indexer& indexer_;
  const Uses& uses_;
  const Group& group_;
  const Index& vars_;
  const std::vector<NodeId>& stored_;
  std::unordered_map<NodeId, std::vector<Spot>> where_;
  size_t spots_ = 0;
  std::unordered_map<NodeId, bool> reduced_known_;
  Placement result_;
};

}  // namespace

Placement place(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                const Group& group, const Index& domain_vars, const std::vector<NodeId>& stored) {
  return Placer(graph, indexer, uses, group, domain_vars, stored).run();
}

}  // namespace kiln::fusion
