#include "fusion/lower.h"

#include <algorithm>

#include "fusion/cost.h"
#include "fusion/pull.h"
#include "fusion/stages.h"
#include "ir/core/error.h"

namespace kiln::fusion {

using ir::Expr;
using ir::ExprPool;
using ir::Node;
using ir::NodeId;
using ir::Schedule;

namespace {

/// A loop made of neighbouring axes of the domain, outermost first.
struct Axis {
  SmallVector<int32_t, 6> parts;
  bool inner;
};

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const Indexer& indexer, const Uses& uses, const Group& group,
           SlotTable& slots)
      : graph_(graph),
        indexer_(indexer),
        pool_(indexer.pool()),
        uses_(uses),
        group_(group),
        slots_(slots) {}

  std::vector<Lowered> run() {
    const std::vector<NodeId> stored = stored_nodes(group_, uses_);
    vars_ = indexer_.fresh_index(group_.domain.extents);
    placement_ = place(graph_, indexer_, uses_, group_, vars_, stored);
    check_internal(placement_.legal, "lower: a group that no kernel can compute");
    stored_ = stored;
    choose_schedule();
    if (group_.split) return split();
    for (const Axis& axis : choose_loops()) loops_.push_back(make_loop(axis));
    if (loops_.empty())  // a scalar: one iteration
      loops_.push_back({Expr(), Expr(1), 1, false});
    std::vector<Lowered> result;
    result.push_back(build(schedule_, loops_));
    return result;
  }

 private:
  int64_t size(int32_t axis) const { return group_.domain.extents[static_cast<size_t>(axis)]; }
  int32_t rank() const { return static_cast<int32_t>(group_.domain.extents.size()); }
  bool reduced(int32_t axis) const { return group_.domain.reduced[static_cast<size_t>(axis)]; }

  void choose_schedule() {
    if (group_.kind == Group::Kind::Pointwise) {
      schedule_ = Schedule::Pointwise;
    } else if (group_.split) {
      schedule_ = Schedule::Split;
    } else {
      schedule_ = reduced(rank() - 1) ? Schedule::Rows : Schedule::Columns;
    }
  }

  /// The indices of a first lowering over one loop per axis: what merging loops must respect.
  std::vector<Expr> probe() {
    std::vector<Loop> loops;
    axis_of_.assign(static_cast<size_t>(rank()), Expr());
    for (int pass = 0; pass < 2; ++pass)
      for (int32_t k = 0; k < rank(); ++k)
        if (reduced(k) == (pass == 1)) loops.push_back(make_loop({{k}, reduced(k)}));
    if (loops.empty()) return {};
    KernelBuilder b(pool_, Schedule::Rows, loops);
    fill(b, nullptr);
    std::vector<Expr> indices = b.indices;
    probe_vars_ = axis_of_;
    return indices;
  }

  /// Loops in order: outer axes (the lanes' axis last where lanes run along an outer axis), then
  /// inner ones; neighbours merged where every index allows.
  std::vector<Axis> choose_loops() {
    std::vector<Axis> outer, inner;
    const std::vector<Expr> indices = probe();
    for (int32_t k = 0; k < rank(); ++k) (reduced(k) ? inner : outer).push_back({{k}, reduced(k)});
    if (schedule_ == Schedule::Pointwise) move_lanes_last(indices, &outer);
    merge_neighbours(indices, &outer);
    if (schedule_ == Schedule::Rows) {
      // The reduced axes at the end of the operand are one run by definition.
      while (inner.size() > 1 && inner[inner.size() - 2].parts.back() + 1 == inner.back().parts[0])
        join(&inner, inner.size() - 2);
    } else {
      merge_neighbours(indices, &inner);
    }
    outer.insert(outer.end(), inner.begin(), inner.end());
    return outer;
  }

  static void join(std::vector<Axis>* axes, size_t k) {
    for (int32_t part : (*axes)[k + 1].parts) (*axes)[k].parts.push_back(part);
    axes->erase(axes->begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }

  int32_t var_index(int32_t axis) const {
    const Expr& v = probe_vars_[static_cast<size_t>(axis)];
    return pool_.atom(v.terms()[0].atoms[0]).index;
  }

  /// How many indices step by one (or not at all) along the axis.
  int64_t smoothness(const std::vector<Expr>& indices, int32_t axis) const {
    int64_t good = 0;
    for (const Expr& e : indices) {
      Expr coefficient, rest;
      if (!pool_.linear_in(e, var_index(axis), &coefficient, &rest)) continue;
      if (coefficient.is_zero() || coefficient == Expr(1) || coefficient == Expr(-1)) ++good;
    }
    return good;
  }

  void move_lanes_last(const std::vector<Expr>& indices, std::vector<Axis>* outer) const {
    if (outer->size() < 2) return;
    size_t best = outer->size() - 1;
    int64_t most = smoothness(indices, (*outer)[best].parts[0]);
    for (size_t k = outer->size() - 1; k-- > 0;) {
      const int64_t good = smoothness(indices, (*outer)[k].parts[0]);
      if (good > most) {
        most = good;
        best = k;
      }
    }
    std::rotate(outer->begin() + static_cast<std::ptrdiff_t>(best),
                outer->begin() + static_cast<std::ptrdiff_t>(best) + 1, outer->end());
  }

  /// Whether every index moves along a then b as along one axis.
  bool mergeable(const std::vector<Expr>& indices, int32_t a, int32_t b) const {
    for (const Expr& e : indices) {
      Expr ca, cb, rest;
      if (!pool_.linear_in(e, var_index(a), &ca, &rest)) return false;
      if (!pool_.linear_in(e, var_index(b), &cb, &rest)) return false;
      if (!(ca == cb * indexer_.extent(size(b)))) return false;
    }
    return true;
  }

  void merge_neighbours(const std::vector<Expr>& indices, std::vector<Axis>* axes) const {
    for (size_t k = axes->size(); k-- > 1;)
      if (mergeable(indices, (*axes)[k - 1].parts.back(), (*axes)[k].parts[0])) join(axes, k - 1);
  }

  /// One loop over the axes of `axis`; sets their expressions over its variable.
  Loop make_loop(const Axis& axis) {
    Loop loop{Expr(), Expr(1), 1, axis.inner};
    for (int32_t k : axis.parts) {
      loop.extent = loop.extent * indexer_.extent(size(k));
      loop.size *= size(k);
    }
    loop.var = pool_.fresh_var(loop.extent);
    set_axes(axis, loop.var);
    return loop;
  }

  void set_axes(const Axis& axis, const Expr& position) {
    axis_of_.resize(static_cast<size_t>(rank()));
    Expr stride(1);
    for (size_t i = axis.parts.size(); i-- > 0;) {
      const int32_t k = axis.parts[i];
      const Expr n = indexer_.extent(size(k));
      Expr e = pool_.floordiv(position, stride);
      if (i > 0) e = pool_.mod(e, n);
      axis_of_[static_cast<size_t>(k)] = e;
      stride = stride * n;
    }
  }

  Index over_loops(const Index& index) const {
    Index result;
    for (const Expr& e : index)
      result.push_back(pool_.substitute(e, [&](int32_t var) {
        for (size_t k = 0; k < vars_.size(); ++k)
          if (pool_.atom(vars_[k].terms()[0].atoms[0]).index == var) return axis_of_[k];
        internal_error("lower: an index uses a variable that is no axis");
      }));
    return result;
  }

  /// Adds the stores of the group's results.
  void fill(KernelBuilder& b, const std::function<int32_t(NodeId)>& partial) {
    Puller puller(graph_, indexer_, uses_, group_, slots_, axis_of_, b);
    puller.partial = partial;
    for (NodeId id : stored_) {
      const Node& n = node(id);
      const Index at = over_loops(placement_.store.at(id));
      const int32_t value = puller.pull(id, at, -1);
      b.store(slots_.of_node[static_cast<size_t>(id)], n.dtype, indexer_.flat(n.shape, at), value);
    }
  }

  Lowered build(Schedule schedule, const std::vector<Loop>& loops) {
    KernelBuilder b(pool_, schedule, loops);
    fill(b, nullptr);
    return finish(b, loops);
  }

  Lowered finish(KernelBuilder& b, const std::vector<Loop>& loops) const {
    int64_t inner = 1;
    for (const Loop& loop : loops)
      if (loop.inner) inner *= loop.size;
    make_stages(b, inner);
    b.remove_dead_values();
    b.step.nodes = group_.nodes;
    return {std::move(b.kernel), std::move(b.step)};
  }

  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }

  /// Two kernels: partial results of each group of blocks, then their combination with what is
  /// computed from it.
  std::vector<Lowered> split() {
    Axis all{{}, true};
    std::vector<Loop> outer;
    for (int32_t k = 0; k < rank(); ++k)
      if (reduced(k)) {
        all.parts.push_back(k);
      } else {
        outer.push_back(make_loop({{k}, false}));
      }
    const Loop inner = make_loop(all);
    const Expr group_size(ir::split_group());
    const Expr groups = pool_.floordiv(inner.extent + group_size - 1, group_size);
    const int64_t group_count = (inner.size + ir::split_group() - 1) / ir::split_group();
    const Expr g = pool_.fresh_var(groups);

    std::map<NodeId, int32_t> temporaries;
    std::vector<Loop> loops = outer;
    loops.push_back({g, groups, group_count, false});
    loops.push_back(inner);
    KernelBuilder first(pool_, Schedule::Split, loops);
    std::vector<NodeId> late;  // stored values that need the whole reduction
    partial_kernel(first, outer, groups, g, &temporaries, &late);
    std::vector<Lowered> result;
    result.push_back(finish(first, loops));

    const Expr h = pool_.fresh_var(groups);
    std::vector<Loop> combine = outer;
    combine.push_back({h, groups, group_count, true});
    KernelBuilder second(pool_, Schedule::Rows, combine);
    stored_ = late;
    fill(second, [&](NodeId id) {
      return second.load(temporaries.at(id), acc_dtype(id), position(outer, groups, h), -1);
    });
    result.push_back(finish(second, combine));
    return result;
  }

  DType acc_dtype(NodeId id) const { return node(id).dtype; }

  Expr position(const std::vector<Loop>& outer, const Expr& groups, const Expr& g) const {
    Expr row;
    for (const Loop& loop : outer) row = row * loop.extent + loop.var;
    return row * groups + g;
  }

  void partial_kernel(KernelBuilder& b, const std::vector<Loop>& outer, const Expr& groups,
                      const Expr& g, std::map<NodeId, int32_t>* temporaries,
                      std::vector<NodeId>* late) {
    Puller puller(graph_, indexer_, uses_, group_, slots_, axis_of_, b);
    Expr rows(1);
    for (const Loop& loop : outer) rows = rows * loop.extent;
    std::vector<char> reduces(graph_.nodes.size());
    for (NodeId id : group_.nodes) {
      const Node& n = node(id);
      for (NodeId input : n.inputs) {
        while (ir::is_view(node(input).op) && !uses_.computes[static_cast<size_t>(input)])
          input = node(input).inputs[0];
        reduces[static_cast<size_t>(id)] |= reduces[static_cast<size_t>(input)];
      }
      if (!ir::is_reduction(n.op)) continue;
      reduces[static_cast<size_t>(id)] = 1;
      const int32_t slot = slots_.new_temporary(acc_dtype(id), rows * groups);
      (*temporaries)[id] = slot;
      b.store(slot, acc_dtype(id), position(outer, groups, g), puller.pull(id, Index(), -1));
    }
    for (NodeId id : stored_) {
      if (reduces[static_cast<size_t>(id)]) {
        late->push_back(id);
        continue;
      }
      const Index at = over_loops(placement_.store.at(id));
      b.store(slots_.of_node[static_cast<size_t>(id)], node(id).dtype,
              indexer_.flat(node(id).shape, at), puller.pull(id, at, -1));
    }
  }

  const ir::Graph& graph_;
  const Indexer& indexer_;
  ExprPool& pool_;
  const Uses& uses_;
  const Group& group_;
  SlotTable& slots_;
  Index vars_;     // of the domain's axes
  Index axis_of_;  // each axis over the loops
  Index probe_vars_;
  Placement placement_;
  std::vector<NodeId> stored_;
  Schedule schedule_ = Schedule::Pointwise;
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Lowered> lower(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                           const Group& group, SlotTable& slots) {
  return Lowering(graph, indexer, uses, group, slots).run();
}

ir::PlanStep lower_external(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                            NodeId id, const SlotTable& slots) {
  const Node& n = graph.nodes[static_cast<size_t>(id)];
  ir::PlanStep step;
  step.kind = ir::PlanStep::Kind::External;
  step.op = n.op;
  step.nodes = {id};
  auto add_view = [&](NodeId of, bool write) {
    const Shape& shape = graph.nodes[static_cast<size_t>(of)].shape;
    const Index vars = indexer.fresh_index(shape);
    Index at = vars;
    const NodeId base = write ? of : resolve_views(graph, indexer, uses.computes, of, &at);
    Expr address = indexer.flat(graph.nodes[static_cast<size_t>(base)].shape, at);
    ir::ViewBind view;
    view.slot = slots.of_node[static_cast<size_t>(base)];
    check_internal(view.slot >= 0, "lower: an external operand that nothing stores");
    for (size_t k = 0; k < shape.size(); ++k) {
      Expr stride, rest = address;
      if (!vars[k].is_zero()) {
        const int32_t var = indexer.pool().atom(vars[k].terms()[0].atoms[0]).index;
        check_internal(indexer.pool().linear_in(address, var, &stride, &rest),
                       "lower: an external operand that is not strided");
      }
      view.shape.push_back(indexer.extent(shape[k]));
      view.strides.push_back(stride);
      address = rest;
    }
    view.offset = address;
    step.touches.push_back({view.slot, indexer.numel(shape), write});
    step.views.push_back(std::move(view));
  };
  add_view(id, true);
  for (NodeId input : n.inputs) add_view(input, false);
  return step;
}

}  // namespace kiln::fusion
