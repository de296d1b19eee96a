// Assembles a plan from fusion groups: slots, kernels, steps.
#pragma once

#include "fusion/groups.h"
#include "ir/plan.h"

namespace kiln::fusion {

/// Lowers every group and binds the kernels to slots.
ir::Plan assemble(const ir::Graph& graph, const Indexer& indexer, const Uses& uses,
                  const std::vector<Group>& groups, std::shared_ptr<ir::ExprPool> pool);

}  // namespace kiln::fusion
