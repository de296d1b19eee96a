#include "ir/graph.h"

namespace kiln::ir {

NodeId add(Graph& graph, Node node) {
  const NodeId id = static_cast<NodeId>(graph.nodes.size());
  if (node.op == Op::Input) graph.inputs.push_back(id);
  graph.nodes.push_back(std::move(node));
  return id;
}

std::vector<SmallVector<NodeId, 3>> users(const Graph& graph) {
  std::vector<SmallVector<NodeId, 3>> out(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (NodeId in : graph.nodes[i].inputs) {
      auto& list = out[static_cast<size_t>(in)];
      // Users come in order, so that a repeated one is the last.
      if (list.empty() || list.back() != static_cast<NodeId>(i))
        list.push_back(static_cast<NodeId>(i));
    }
  return out;
}

}  // namespace kiln::ir
