#include "fusion/assemble.h"

#include "fusion/lower.h"
#include "ir/core/error.h"

namespace kiln::fusion {

using ir::NodeId;

namespace {

class Assembler {
 public:
  Assembler(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
            const std::vector<Group>& groups)
      : graph_(graph), indexer_(indexer), uses_(uses), groups_(groups) {}

  ir::Plan run(std::shared_ptr<ir::ExprPool> pool) {
    plan_.pool = std::move(pool);
    plan_.num_params = graph_.num_params;
    make_slots();
    table_.new_temporary = [this](DType t, ir::Expr numel) {
      plan_.slots.push_back({ir::Slot::Kind::Temp, t, std::move(numel), -1});
      return static_cast<int32_t>(plan_.slots.size() - 1);
    };
    for (const Group& group : groups_) {
      if (group.kind == Group::Kind::External) {
        plan_.steps.push_back(lower_external(graph_, indexer_, uses_, group.nodes[0], table_));
        continue;
      }
      for (Lowered& lowered : lower(graph_, indexer_, uses_, group, table_)) {
        lowered.step.kernel = static_cast<int32_t>(plan_.kernels.size());
        plan_.kernels.push_back(std::move(lowered.kernel));
        plan_.steps.push_back(std::move(lowered.step));
      }
    }
    return std::move(plan_);
  }

 private:
  void add_slot(ir::Slot::Kind kind, NodeId id) {
    const ir::Node& n = graph_.nodes[static_cast<size_t>(id)];
    table_.of_node[static_cast<size_t>(id)] = static_cast<int32_t>(plan_.slots.size());
    plan_.slots.push_back({kind, n.dtype, indexer_.numel(n.shape), id});
  }
  int32_t slot(NodeId id) const { return id < 0 ? -1 : table_.of_node[static_cast<size_t>(id)]; }

  void make_slots() {
    table_.of_node.assign(graph_.nodes.size(), -1);
    for (NodeId id : graph_.inputs) add_slot(ir::Slot::Kind::Input, id);
    plan_.num_inputs = static_cast<int32_t>(plan_.slots.size());
    for (NodeId id : uses_.outputs)
      if (slot(id) < 0) add_slot(ir::Slot::Kind::Output, id);
    std::vector<char> stored(graph_.nodes.size());
    for (const Group& group : groups_)
      for (NodeId id : stored_nodes(group, uses_)) stored[static_cast<size_t>(id)] = 1;
    for (NodeId id : uses_.wanted)
      if (id >= 0 && stored[static_cast<size_t>(id)] && slot(id) < 0)
        add_slot(ir::Slot::Kind::Output, id);
    plan_.num_outputs = static_cast<int32_t>(plan_.slots.size()) - plan_.num_inputs;
    for (size_t i = 0; i < stored.size(); ++i)
      if (stored[i] && table_.of_node[i] < 0)
        add_slot(ir::Slot::Kind::Temp, static_cast<NodeId>(i));
    for (NodeId id : uses_.outputs) plan_.output_slots.push_back(slot(id));
    for (NodeId id : uses_.wanted) plan_.wanted_slots.push_back(slot(id));
  }

  const ir::Graph& graph_;
  const Indexer& indexer_;
  const Uses& uses_;
  const std::vector<Group>& groups_;
  ir::Plan plan_;
  SlotTable table_;
};

}  // namespace

ir::Plan assemble(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                  const std::vector<Group>& groups, std::shared_ptr<ir::ExprPool> pool) {
  return Assembler(graph, indexer, uses, groups).run(std::move(pool));
}

}  // namespace kiln::fusion
