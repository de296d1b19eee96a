#include <algorithm>

#include "fusion/cost.h"
#include "fusion/groups.h"

namespace kiln::fusion {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Op;

bool Domain::has_reduction() const {
  return std::find(reduced.begin(), reduced.end(), true) != reduced.end();
}

Shape Domain::kept() const {
  Shape shape;
  for (size_t i = 0; i < extents.size(); ++i)
    if (!reduced[i]) shape.push_back(extents[i]);
  return shape;
}

Shape drop_ones(const Shape& shape) {
  Shape out;
  for (int64_t d : shape)
    if (d != 1) out.push_back(d);
  return out;
}

bool is_free(Op op) {
  return op == Op::Const || op == Op::Param || op == Op::Full || op == Op::Arange;
}

namespace {

bool computes_by_itself(Op op) { return !is_free(op) && !ir::is_view(op) && op != Op::Input; }

NodeId strip_reshapes(const Graph& graph, NodeId id) {
  while (graph.nodes[static_cast<size_t>(id)].op == Op::Reshape)
    id = graph.nodes[static_cast<size_t>(id)].inputs[0];
  return id;
}

class UseFinder {
 public:
  UseFinder(const Graph& graph, const Indexer& indexer) : graph_(graph), indexer_(indexer) {
    uses_.computes.resize(graph.nodes.size());
    uses_.output.resize(graph.nodes.size());
    uses_.readers.resize(graph.nodes.size());
  }

  Uses run() {
    for (NodeId id : graph_.outputs) uses_.outputs.push_back(strip_reshapes(graph_, id));
    for (NodeId id : graph_.wanted)
      uses_.wanted.push_back(id < 0 ? -1 : strip_reshapes(graph_, id));
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      uses_.computes[i] = computes_by_itself(graph_.nodes[i].op);
    for (NodeId id : uses_.outputs) store(id);
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (ir::category(graph_.nodes[i].op) == ir::Category::External)
        for (NodeId input : graph_.nodes[i].inputs) external_operand(input);
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (uses_.computes[i])
        for (NodeId input : graph_.nodes[i].inputs) read(static_cast<NodeId>(i), input);
    return std::move(uses_);
  }

 private:
  void store(NodeId id) {
    if (graph_.nodes[static_cast<size_t>(id)].op == Op::Input) return;
    uses_.computes[static_cast<size_t>(id)] = 1;
    uses_.output[static_cast<size_t>(id)] = 1;
  }

  /// An external kernel reads strided memory: what is not a strided view of a buffer is stored
  /// first.
  void external_operand(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    if (is_free(node.op)) {
      uses_.computes[static_cast<size_t>(id)] = 1;
      return;
    }
    if (!ir::is_view(node.op)) return;
    Index at = indexer_.fresh_index(node.shape);
    const NodeId base = resolve_views(graph_, indexer_, uses_.computes, id, &at);
    const Node& from = graph_.nodes[static_cast<size_t>(base)];
    if (is_free(from.op) || !is_strided(indexer_.pool(), indexer_.flat(from.shape, at)))
      uses_.computes[static_cast<size_t>(id)] = 1;
  }

  void read(NodeId reader, NodeId from) {
    // Through views to the node that has a buffer or computes.
    while (!uses_.computes[static_cast<size_t>(from)]) {
      const Node& node = graph_.nodes[static_cast<size_t>(from)];
      if (!ir::is_view(node.op)) break;
      from = node.inputs[0];
    }
    auto& readers = uses_.readers[static_cast<size_t>(from)];
    if (readers.empty() || readers.back() != reader) readers.push_back(reader);
  }

  const Graph& graph_;
  const Indexer& indexer_;
  Uses uses_;
};

}  // namespace

Uses find_uses(const Graph& graph, const Indexer& indexer) {
  return UseFinder(graph, indexer).run();
}

std::vector<NodeId> stored_nodes(const Group& group, const Uses& uses) {
  std::vector<NodeId> stored;
  for (NodeId id : group.nodes) {
    bool outside = uses.output[static_cast<size_t>(id)];
    for (NodeId reader : uses.readers[static_cast<size_t>(id)])
      outside |= !std::binary_search(group.nodes.begin(), group.nodes.end(), reader);
    if (outside) stored.push_back(id);
  }
  return stored;
}

}  // namespace kiln::fusion
