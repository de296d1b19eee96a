// Lowering: a fusion group to kernel IR.
#pragma once

#include <functional>
#include <vector>

#include "fusion/groups.h"
#include "fusion/kernel_builder.h"

namespace kiln::fusion {

/// A lowered kernel with the values of its arguments; step.kernel is left to the caller.
struct Lowered {
  ir::Kernel kernel;
  ir::PlanStep step;
};

/// Where stored values live while a plan is made.
struct SlotTable {
  std::vector<int32_t> of_node;  // slot of each stored node, or -1
  /// Makes a temporary that no node names.
  std::function<int32_t(DType, ir::Expr numel)> new_temporary;
};

/// Lowers a group to one kernel, or to two where a reduction is split.
std::vector<Lowered> lower(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                           const Group& group, SlotTable& slots);

/// The step of an external group: strided views of its operands and result.
ir::PlanStep lower_external(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                            ir::NodeId node, const SlotTable& slots);

}  // namespace kiln::fusion
