// Tensor graph: the functional form of a trace. Nodes are immutable, in topological order, one
// result each, always contiguous in meaning (a view is an index map, not a layout). Passes take a
// graph and return one.
//
// Rules that ops.def leaves open, all checked by verify:
//   elementwise  operand shapes broadcast, as NumPy's do, to exactly the node's shape. Operands
//                have the one dtype that the op computes in: conversions are Cast nodes (Where's
//                operand 0 is bool, Cast takes any).
//   reduction    `attrs` holds the axes, sorted and unique; they leave the shape. Sum and Prod
//                convert each element to the node's dtype first. No elements: Sum is 0, Prod 1,
//                the others have no value.
//   slice        extents come from the shape, starts from the parameters when it runs.
//   creation     operands are scalars (rank 0) of the node's dtype. Arange in floats computes
//                start + i * step in f64 and rounds once.
//   random       operands are rank-0 i64; an element's position is its row-major index.
//   matmul       dtypes, ranks and batch axes are equal. The oracle accumulates floats in the next
//                wider type; class C compares by tolerance.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/scalar.h"
#include "ir/op.h"

namespace kiln::ir {

using NodeId = int32_t;

struct Node {
  Op op;
  DType dtype;
  Shape shape;
  SmallVector<NodeId, 3> inputs;
  /// Integers that are part of the program; ops.def says what each op keeps here (axes, a
  /// permutation, slice steps, an axis, constant bits).
  Dims attrs;
  /// Positions in the trace's parameters: the value of a Param; the start per axis of Slice and
  /// SliceScatter.
  SmallVector<int32_t, 6> params;
  /// Where it was recorded.
  SourceLocation at;
};

struct Graph {
  std::vector<Node> nodes;
  /// Input nodes in the order of the call's input buffers.
  std::vector<NodeId> inputs;
  /// Results that must be stored.
  std::vector<NodeId> outputs;
  /// Further results that a live handle names: stored if the schedule stores them anyway. -1 is one
  /// that simplification removed.
  std::vector<NodeId> wanted;
  /// Number of parameters of the trace (64-bit each: scalars' bits and slice starts).
  int32_t num_params = 0;
};

/// Appends a node and returns its id. An Input joins graph.inputs.
NodeId add(Graph& graph, Node node);

/// For each node the nodes that use it, in order, without duplicates.
std::vector<SmallVector<NodeId, 3>> users(const Graph& graph);

/// Text form, one node a line; parse_graph(print(g)) prints the same again (call sites are not
/// printed).
std::string print(const Graph& graph);
/// Reads what print wrote. Raises InternalError naming the line.
Graph parse_graph(std::string_view text);
/// The graph as a Graphviz picture.
std::string graphviz(const Graph& graph);
/// Raises InternalError naming node and rule: operands before users, arity, dtypes and shapes as
/// ops.def and the inference rules say.
void verify(const Graph& graph);

/// The oracle: computes every output, op by op, naively. Shares nothing with the code generator but
/// the scalar math. Buffers are contiguous; `inputs` in the order of graph.inputs, results in the
/// order of graph.outputs, each numel * size_of(dtype) bytes.
std::vector<std::vector<std::byte>> interpret(const Graph& graph,
                                              std::span<const std::byte* const> inputs,
                                              std::span<const uint64_t> params);

}  // namespace kiln::ir
