// Runs a graph through the fusion pipeline with any kernel executor, without tracer or runtime:
// what the tests of fusion and of the fuzzers compare to the oracle.
#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "fusion/pipeline.h"
#include "ir/graph.h"

namespace kiln::testing {

/// Runs iterations [begin, end) of a kernel.
using RunKernel = std::function<int32_t(const ir::Kernel&, void* const*, const int64_t*, std::byte*,
                                        int64_t, int64_t)>;

inline int64_t affine_value(const ir::Affine& a, std::span<const uint64_t> params) {
  int64_t v = a.base;
  for (const ir::AffineTerm& t : a.terms)
    v += t.factor * static_cast<int64_t>(params[static_cast<size_t>(t.param)]);
  return v;
}

/// A naive matrix product over the views of an external step.
void run_matmul(const ir::BoundStep& step, const std::vector<std::byte*>& base,
                std::span<const uint64_t> params);

struct PlanRun {
  std::vector<std::vector<std::byte>> outputs;
  int kernels = 0;
  int64_t bytes = 0;  // that the kernels move
};

/// Runs a plan bound to `sizes`. Iterations are run in two ranges, so that nothing can depend on
/// the cut.
inline PlanRun run_plan(const ir::Plan& plan, std::span<const int64_t> sizes,
                        std::span<const std::byte* const> inputs, std::vector<uint64_t> params,
                        const RunKernel& run) {
  const ir::BoundPlan bound = ir::bind(plan, sizes);
  for (const ir::Expr& e : bound.derived)
    params.push_back(static_cast<uint64_t>(plan.pool->evaluate(e, sizes, params)));
  std::vector<std::vector<std::byte>> memory(bound.slots.size());
  std::vector<std::byte> arena(static_cast<size_t>(bound.arena_bytes) + 64, std::byte{0xee});
  std::vector<std::byte*> base(bound.slots.size());
  size_t input = 0;
  for (size_t i = 0; i < bound.slots.size(); ++i) {
    const ir::BoundSlot& s = bound.slots[i];
    if (s.kind == ir::Slot::Kind::Input) {
      base[i] = const_cast<std::byte*>(inputs[input++]);
    } else if (s.kind == ir::Slot::Kind::Temp && s.arena_offset >= 0) {
      base[i] = arena.data() + s.arena_offset;
    } else {
      memory[i].assign(static_cast<size_t>(s.bytes) + 64, std::byte{0xee});
      base[i] = memory[i].data();
    }
  }
  PlanRun result;
  for (const ir::BoundStep& step : bound.steps) {
    result.bytes += step.bytes_read + step.bytes_written;
    if (step.kind == ir::PlanStep::Kind::External) {
      run_matmul(step, base, params);
      continue;
    }
    ++result.kernels;
    std::vector<void*> ptrs;
    for (const auto& [slot, offset] : step.ptrs)
      ptrs.push_back(base[static_cast<size_t>(slot)] + affine_value(offset, params));
    std::vector<int64_t> nums = step.nums;
    for (const ir::BoundStep::Patch& p : step.patches)
      nums[static_cast<size_t>(p.num)] =
          p.bits_of >= 0 ? static_cast<int64_t>(params[static_cast<size_t>(p.bits_of)])
                         : affine_value(p.value, params);
    std::vector<std::byte> scratch(static_cast<size_t>(step.scratch_bytes) + 128);
    std::byte* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    const int64_t half = step.iterations / 2;
    const ir::Kernel& kernel = plan.kernels[static_cast<size_t>(step.kernel)];
    run(kernel, ptrs.data(), nums.data(), aligned, 0, half);
    run(kernel, ptrs.data(), nums.data(), aligned, half, step.iterations);
  }
  for (int32_t slot : bound.output_slots) {
    const size_t s = static_cast<size_t>(slot);
    result.outputs.emplace_back(base[s], base[s] + bound.slots[s].bytes);
  }
  return result;
}

}  // namespace kiln::testing
