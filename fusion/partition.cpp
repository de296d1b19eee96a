// Greedy fusion in rounds: candidate pairs share a buffer, are tried in order of bytes saved, and
// fuse if no cycle arises, the limits hold and one loop nest can compute both.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "fusion/cost.h"
#include "fusion/groups.h"
#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"

namespace kiln::fusion {

using ir::Graph;
using ir::Node;
using ir::NodeId;

namespace {

class Partitioner {
 public:
  Partitioner(const Graph& graph, const Indexer& indexer, const Uses& uses,
              std::vector<std::string>* decisions)
      : graph_(graph), indexer_(indexer), uses_(uses), decisions_(decisions) {
    group_of_.assign(graph.nodes.size(), -1);
    for (size_t i = 0; i < graph.nodes.size(); ++i) reach_.push_back(static_cast<NodeId>(i));
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (uses.computes[i] && numel(graph.nodes[i].shape) != 0) start(static_cast<NodeId>(i));
  }

  void fuse() {
    while (fuse_round()) {
    }
  }

  std::vector<Group> ordered();

 private:
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  int32_t& group_of(NodeId id) { return group_of_[static_cast<size_t>(id)]; }
  Group& group(int32_t g) { return groups_[static_cast<size_t>(g)]; }

  void start(NodeId id) {
    const Node& n = node(id);
    Group g;
    g.nodes = {id};
    if (ir::category(n.op) == ir::Category::External) {
      g.kind = Group::Kind::External;
    } else if (ir::is_reduction(n.op)) {
      g.kind = Group::Kind::Reduction;
      const Shape& in = node(n.inputs[0]).shape;
      for (size_t k = 0; k < in.size(); ++k) {
        if (in[k] == 1) continue;
        g.domain.extents.push_back(in[k]);
        g.domain.reduced.push_back(
            std::find(n.attrs.begin(), n.attrs.end(), static_cast<int64_t>(k)) != n.attrs.end());
      }
      g.split = must_split(n, g.domain);
    } else {
      g.domain.extents = drop_ones(n.shape);
      g.domain.reduced.resize(g.domain.extents.size());
      g.plain = !ir::is_view(n.op) && ir::category(n.op) != ir::Category::Concat &&
                ir::category(n.op) != ir::Category::Update;
    }
    group_of(id) = static_cast<int32_t>(groups_.size());
    groups_.push_back(std::move(g));
  }

  /// Few long rows give too few parallel iterations: cut them.
  static bool must_split(const Node& n, const Domain& domain) {
    if (n.op == ir::Op::Argmax || n.op == ir::Op::Argmin) return false;
    int64_t row = 1;
    bool trailing = true;  // all reduced axes are the last ones
    for (size_t k = domain.extents.size(); k-- > 0;) {
      if (!domain.reduced[k]) break;
      row *= domain.extents[k];
    }
    int64_t rows = numel(domain.kept());
    trailing = rows * row == numel(domain.extents);
    return trailing && rows < split_rows && row >= split_min_groups * ir::split_group();
  }

  struct Candidate {
    int64_t bytes;     // of memory traffic saved
    int64_t distance;  // between the nodes
    NodeId a, b;       // members of the two groups; a before b
    bool producer;     // b reads a
  };

  int64_t bytes(NodeId id) const {
    return numel(node(id).shape) * static_cast<int64_t>(size_of(node(id).dtype));
  }

  std::vector<Candidate> candidates() {
    std::vector<Candidate> list;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const NodeId id = static_cast<NodeId>(i);
      const auto& readers = uses_.readers[i];
      const bool computed = group_of(id) >= 0;
      if (computed)
        for (NodeId reader : readers)
          if (group_of(reader) >= 0 && group_of(reader) != group_of(id))
            list.push_back({bytes(id) * 2, reader - id, id, reader, true});
      if (!computed && node(id).op != ir::Op::Input) continue;
      for (size_t k = 1; k < readers.size(); ++k)
        if (group_of(readers[k]) >= 0 && group_of(readers[k - 1]) >= 0 &&
            group_of(readers[k]) != group_of(readers[k - 1]))
          list.push_back(
              {bytes(id), readers[k] - readers[k - 1], readers[k - 1], readers[k], false});
    }
    std::stable_sort(list.begin(), list.end(), [](const Candidate& x, const Candidate& y) {
      return x.bytes != y.bytes ? x.bytes > y.bytes : x.distance < y.distance;
    });
    return list;
  }

  bool fuse_round() {
    bool changed = false;
    for (const Candidate& c : candidates()) {
      const int32_t a = group_of(c.a), b = group_of(c.b);
      const Attempt attempt{std::min(a, b), std::max(a, b), c.producer};
      if (a == b || refused_.count(attempt)) continue;
      std::string reason;
      const bool ok = try_fuse(c, a, b, &reason);
      note(c, ok, reason);
      if (ok) {
        changed = true;
      } else {
        refused_.insert(attempt);
      }
    }
    // A refusal may have been due to a group that has grown since.
    if (changed) refused_.clear();
    return changed;
  }

  void note(const Candidate& c, bool ok, const std::string& reason) {
    auto label = [&](NodeId id) {
      return "%" + std::to_string(id) + " " + std::string(ir::name(node(id).op));
    };
    std::string line = (ok ? "fused " : "kept apart ") + label(c.a) +
                       (c.producer ? " into " : " beside ") + label(c.b);
    line += ok ? ": saves " + std::to_string(c.bytes) + " bytes" : ": " + reason;
    if (said_.emplace(line, true).second) decisions_->push_back(std::move(line));
  }

  bool try_fuse(const Candidate& c, int32_t a, int32_t b, std::string* reason) {
    const Group &ga = group(a), &gb = group(b);
    if (ga.kind == Group::Kind::External || gb.kind == Group::Kind::External) {
      *reason = "an external kernel";
      return false;
    }
    if (ga.nodes.size() + gb.nodes.size() > max_group_nodes) {
      *reason = "the group would exceed " + std::to_string(max_group_nodes) + " nodes";
      return false;
    }
    std::optional<Group> merged = merge(c, ga, gb, reason);
    if (!merged) return false;
    if (makes_cycle(a, b)) {
      *reason = "a cycle through another kernel";
      return false;
    }
    for (NodeId id : gb.nodes) group_of(id) = a;
    group(a) = std::move(*merged);
    group(b).nodes.clear();
    const NodeId first = group(a).nodes.front(), last = group(a).nodes.back();
    for (size_t i = static_cast<size_t>(first); i < reach_.size() && reach_[i] < last; ++i)
      reach_[i] = last;
    return true;
  }

  std::optional<Group> merge(const Candidate& c, const Group& ga, const Group& gb,
                             std::string* reason) {
    Group m;
    m.nodes.resize(ga.nodes.size() + gb.nodes.size());
    std::merge(ga.nodes.begin(), ga.nodes.end(), gb.nodes.begin(), gb.nodes.end(), m.nodes.begin());
    const bool ra = ga.kind == Group::Kind::Reduction, rb = gb.kind == Group::Kind::Reduction;
    m.kind = ra || rb ? Group::Kind::Reduction : Group::Kind::Pointwise;
    m.split = ga.split || gb.split;
    if (ra && rb && (!(ga.domain == gb.domain) || ga.split != gb.split)) {
      *reason = "reductions over different spaces";
      return std::nullopt;
    }
    // A consumer's space holds what it reads; beside each other the spaces must agree.
    m.domain = ra ? ga.domain : gb.domain;
    if (!ra && !rb && !c.producer && !(ga.domain == gb.domain)) {
      *reason = "different iteration spaces";
      return std::nullopt;
    }
    if (count_buffers(m) > max_group_buffers) {
      *reason = "more than " + std::to_string(max_group_buffers) + " buffers";
      return std::nullopt;
    }
    if (ga.plain && gb.plain && plain_link(m)) {
      m.plain = true;
      return m;
    }
    return place_merged(c, std::move(m), reason);
  }

  std::optional<Group> place_merged(const Candidate& c, Group m, std::string* reason) {
    const std::vector<NodeId> stored = stored_nodes(m, uses_);
    const Placement p =
        place(graph_, indexer_, uses_, m, indexer_.fresh_index(m.domain.extents), stored);
    if (!p.legal) {
      *reason = p.reason;
      return std::nullopt;
    }
    if (p.extra_cost > c.bytes * cost_per_byte + cost_per_launch) {
      *reason = "computing values again would cost more than it saves";
      return std::nullopt;
    }
    return m;
  }

  /// Whether all members have one shape and are read by each other directly, not through views.
  bool plain_link(const Group& m) {
    const Shape& shape = node(m.nodes[0]).shape;
    for (NodeId id : m.nodes) {
      if (!(node(id).shape == shape)) return false;
      for (NodeId input : node(id).inputs) {
        if (uses_.computes[static_cast<size_t>(input)]) continue;
        while (ir::is_view(node(input).op) && !uses_.computes[static_cast<size_t>(input)])
          input = node(input).inputs[0];
        if (std::binary_search(m.nodes.begin(), m.nodes.end(), input)) return false;
      }
    }
    return true;
  }

  size_t count_buffers(const Group& m) {
    size_t count = stored_nodes(m, uses_).size();
    std::vector<NodeId> read;
    for (NodeId id : m.nodes)
      for (NodeId input : node(id).inputs)
        if (!is_free(node(input).op) && !std::binary_search(m.nodes.begin(), m.nodes.end(), input))
          read.push_back(input);
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    return count + read.size();
  }

  /// Whether a path leads from one group to the other through a third one.
  bool makes_cycle(int32_t a, int32_t b) { return reaches(a, b) || reaches(b, a); }

  bool reaches(int32_t from, int32_t to) {
    // Paths lead to later nodes, but back again inside a group: beyond `last` there is no way back.
    NodeId last = group(to).nodes.back();
    while (reach_[static_cast<size_t>(last)] > last) last = reach_[static_cast<size_t>(last)];
    std::vector<int32_t> stack;
    std::map<int32_t, bool> seen;
    auto push_successors = [&](int32_t g) {
      for (NodeId id : group(g).nodes)
        for (NodeId reader : uses_.readers[static_cast<size_t>(id)]) {
          const int32_t next = group_of(reader);
          if (next < 0 || next == from || (g == from && next == to)) continue;
          if (group(next).nodes.front() > last) continue;
          if (seen.emplace(next, true).second) stack.push_back(next);
        }
    };
    push_successors(from);
    while (!stack.empty()) {
      const int32_t g = stack.back();
      stack.pop_back();
      if (g == to) return true;
      push_successors(g);
    }
    return false;
  }

  const Graph& graph_;
  const Indexer& indexer_;
  const Uses& uses_;
  std::vector<std::string>* decisions_;
  std::vector<Group> groups_;
  std::vector<int32_t> group_of_;
  /// For each node the last node of any group that begins at or before it.
  std::vector<NodeId> reach_;
  using Attempt = std::tuple<int32_t, int32_t, bool>;  // two groups; as producer and consumer
  std::set<Attempt> refused_;
  std::map<std::string, bool> said_;
};

/// Topological order of the groups, the earliest recorded first among those that are ready.
std::vector<Group> Partitioner::ordered() {
  std::vector<int32_t> waiting(groups_.size());
  auto successors = [&](int32_t g, auto&& f) {
    std::vector<int32_t> next;
    for (NodeId id : group(g).nodes)
      for (NodeId reader : uses_.readers[static_cast<size_t>(id)])
        if (group_of(reader) >= 0 && group_of(reader) != g) next.push_back(group_of(reader));
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    for (int32_t n : next) f(n);
  };
  const int32_t count = static_cast<int32_t>(groups_.size());
  for (int32_t g = 0; g < count; ++g)
    successors(g, [&](int32_t n) { ++waiting[static_cast<size_t>(n)]; });
  std::map<NodeId, int32_t> ready;
  for (int32_t g = 0; g < count; ++g)
    if (!group(g).nodes.empty() && waiting[static_cast<size_t>(g)] == 0)
      ready[group(g).nodes.front()] = g;
  std::vector<Group> order;
  size_t alive = 0;
  for (const Group& g : groups_) alive += !g.nodes.empty();
  while (!ready.empty()) {
    const int32_t g = ready.begin()->second;
    ready.erase(ready.begin());
    successors(g, [&](int32_t n) {
      if (--waiting[static_cast<size_t>(n)] == 0) ready[group(n).nodes.front()] = n;
    });
    order.push_back(std::move(group(g)));
  }
  check_internal(order.size() == alive, "partition: groups form a cycle");
  return order;
}

}  // namespace

std::vector<Group> partition(const Graph& graph, const Indexer& indexer, const Uses& uses,
                             bool fuse, std::vector<std::string>* decisions) {
  Partitioner p(graph, indexer, uses, decisions);
  if (fuse) p.fuse();
  return p.ordered();
}

}  // namespace kiln::fusion
