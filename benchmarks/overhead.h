// What a call costs beside the work: rows of tiny tensors.
#pragma once

#include <span>

#include "measure.h"

namespace bench {

struct Overhead {
  const char* name;
  Row (*measure)(double seconds);
};

/// record_op   one op of a chain of 1,000 on 8 elements, recorded and never evaluated; `drop_ns`:
///             what releasing it costs
/// plan_hit    a fused program of four ops on 8 elements, recorded and evaluated
/// new_shape   such a program, each time with another shape; `shapes` of them compiled
///             `kernels_compiled` kernels, and so on
std::span<const Overhead> overheads();

}  // namespace bench
