// Random tensor programs for the fuzzers: valid graphs over all ops of the table, with views,
// updates, reductions and shared values, and data for their inputs.
#pragma once

#include <random>
#include <vector>

#include "ir/graph.h"

namespace kiln::testing {

struct RandomProgram {
  ir::Graph graph;
  std::vector<std::vector<std::byte>> inputs;
  std::vector<uint64_t> params;

  std::vector<const std::byte*> input_pointers() const {
    std::vector<const std::byte*> p;
    for (const auto& v : inputs) p.push_back(v.data());
    return p;
  }
};

/// The program of a seed; `size` bounds the number of computing nodes.
RandomProgram random_program(uint64_t seed, int size = 14);

/// Index of the first element in which two buffers of the dtype differ (NaNs are equal), or -1.
int64_t first_difference(DType dtype, const std::vector<std::byte>& a,
                         const std::vector<std::byte>& b);

}  // namespace kiln::testing
