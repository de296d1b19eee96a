// Graph simplification: identities that hold bit for bit, constant folding, common and dead nodes.
#pragma once

#include "ir/graph.h"

namespace kiln::fusion {

/// Returns an equivalent graph. Outputs and wanted keep their order and count; a wanted node that
/// died is -1. Inputs keep their order.
ir::Graph simplify(const ir::Graph& graph);

}  // namespace kiln::fusion
