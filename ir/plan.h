// Plan: what the fusion pipeline returns and what is cached per skeleton. Steps over slots, in
// which all sizes are expressions over the extents' symbols and the integer parameters; bind() puts
// numbers in.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr.h"
#include "ir/graph.h"
#include "ir/kernel.h"

namespace kiln::ir {

/// The distinct extents (>= 2) of a graph in order of appearance; symbol k stands for value[k].
struct SizeTable {
  std::vector<int64_t> values;
  /// Symbol of an extent >= 2 that is in the table. Raises InternalError if it is not.
  int32_t symbol_of(int64_t extent) const;
};
SizeTable collect_sizes(const Graph& graph);

struct Slot {
  enum class Kind : uint8_t { Input, Output, Temp } kind;
  DType dtype;
  Expr numel;
  NodeId node;  // whose value it holds
};

/// A kernel's pointer: slot base plus `offset` elements.
struct PtrBind {
  int32_t slot;
  Expr offset;
};
/// Value of one num: an expression, or the bits of parameter `param`, or (launch true) set by bind.
struct NumBind {
  Expr value;
  int32_t param = -1;
  bool launch = false;
};
/// Distinct elements of `slot` that a step reads or writes through one access.
struct Touch {
  int32_t slot;
  Expr elements;
  bool write;
};
/// A strided operand of an external kernel, strides and offset in elements.
struct ViewBind {
  int32_t slot;
  Expr offset;
  std::vector<Expr> shape, strides;
};

struct PlanStep {
  enum class Kind : uint8_t { Kernel, External } kind = Kind::Kernel;
  int32_t kernel = -1;  // entry of Plan::kernels
  std::vector<PtrBind> ptrs;
  std::vector<NumBind> nums;
  Op op = Op::Matmul;           // External
  std::vector<ViewBind> views;  // External: result, then operands
  std::vector<Touch> touches;
  /// Estimated cost of one element in the innermost loop, in units of an add; picks the grain.
  int32_t cost = 1;
  /// Graph nodes that it computes.
  std::vector<NodeId> nodes;
};

struct Plan {
  std::shared_ptr<ExprPool> pool;
  std::vector<Slot> slots;  // inputs in order, then outputs, then temporaries
  std::vector<Kernel> kernels;
  std::vector<PlanStep> steps;
  int32_t num_inputs = 0;
  int32_t num_outputs = 0;
  int32_t num_params = 0;
  /// The slot that holds each of Graph::outputs (several may share one; an output that is an input
  /// is the input's slot), and each of Graph::wanted or -1 where the schedule does not store it.
  std::vector<int32_t> output_slots, wanted_slots;
};

/// An integer that is affine in the call's parameters: base + sum of factor * parameter.
struct AffineTerm {
  int32_t param;
  int64_t factor;
};
struct Affine {
  int64_t base = 0;
  SmallVector<AffineTerm, 2> terms;
};

/// A plan with its sizes put in: what an exact plan hit runs.
struct BoundStep {
  PlanStep::Kind kind;
  int32_t kernel = -1;
  std::vector<std::pair<int32_t, Affine>> ptrs;  // slot, offset in bytes
  std::vector<int64_t> nums;
  struct Patch {
    int32_t num;
    int32_t bits_of = -1;  // parameter whose bits it is, or -1
    Affine value;
  };
  std::vector<Patch> patches;
  int64_t iterations = 0, grain = 1, scratch_bytes = 0;
  Op op = Op::Matmul;
  struct View {
    int32_t slot;
    Affine offset_bytes;
    DType dtype;
    Shape shape;
    Dims strides;
  };
  std::vector<View> views;
  int64_t bytes_read = 0, bytes_written = 0;
  std::vector<int32_t> depends;  // earlier steps
};
struct BoundSlot {
  Slot::Kind kind;
  DType dtype;
  int64_t bytes;
  int64_t arena_offset = -1;  // Temp
  NodeId node;
};
struct BoundPlan {
  std::vector<BoundSlot> slots;
  std::vector<BoundStep> steps;
  int64_t arena_bytes = 0;
  /// Quotients of parameters, evaluated per call (ExprPool::evaluate with the sizes and the call's
  /// parameters) and appended to the parameters: number num_params + k is derived[k].
  std::vector<Expr> derived;
  std::vector<int32_t> output_slots, wanted_slots;  // as in Plan
};

/// Puts the sizes in: nums, offsets, launch geometry, arena offsets by lifetime (last-use reuse),
/// and the bytes each step moves (distinct elements, once per buffer).
BoundPlan bind(const Plan& plan, std::span<const int64_t> sizes);

std::string print(const Plan& plan);
/// Reads what print wrote. Raises InternalError naming the line.
Plan parse_plan(std::string_view text);
/// Raises InternalError naming step and rule: slots defined before use, written once, every pointer
/// and num bound, kernels well formed, every output written.
void verify(const Plan& plan);

}  // namespace kiln::ir
