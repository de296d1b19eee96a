// The cost model: rough prices that decide what is recomputed, what is stored and how work is cut.
// Only speed depends on them.
#pragma once

#include <cstdint>

#include "ir/op.h"

namespace kiln::fusion {

/// Price of one element of `op`, in units of an add.
int32_t cost(ir::Op op);

/// Moving one byte to or from memory, and launching one kernel, in the same units.
inline constexpr int64_t cost_per_byte = 1;
inline constexpr int64_t cost_per_launch = 40'000;

/// A value that costs at least this much to compute again is kept in row scratch between stages.
inline constexpr int32_t scratch_threshold = 6;
/// Row scratch beyond this many bytes an iteration does not stay in the cache: compute again
/// instead.
inline constexpr int64_t scratch_limit = 512 << 10;

/// Largest group: bounds compile time and the number of kernel arguments.
inline constexpr size_t max_group_nodes = 256;
inline constexpr size_t max_group_buffers = 96;
/// Evaluations of members in a group: a chain of updates that read each other's elements would
/// otherwise grow without bound.
inline constexpr size_t max_group_spots = 2 * max_group_nodes;

/// A reduction over rows of at least this many groups' length and fewer rows than `split_rows` is
/// cut into groups that run in parallel.
inline constexpr int64_t split_rows = 8;
inline constexpr int64_t split_min_groups = 2;

}  // namespace kiln::fusion
