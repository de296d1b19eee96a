// Orders the work of a kernel: which loop computes what, and what later loops find in row scratch.
#pragma once

#include "fusion/kernel_builder.h"

namespace kiln::fusion {

/// Distributes the builder's reductions and stores over stages. A reduction's result can be used
/// from the next stage on; costly values that several stages need are kept in row scratch if that
/// fits the cache. `inner_elements` is the number of positions of the inner loops.
void make_stages(KernelBuilder& builder, int64_t inner_elements);

}  // namespace kiln::fusion
