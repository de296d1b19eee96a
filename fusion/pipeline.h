// The fusion pipeline: tensor graph in, plan out, through a visible list of passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/plan.h"

namespace kiln::fusion {

struct Options {
  /// Off: every node that computes becomes a kernel of its own (views still cost nothing).
  bool fuse = true;
  /// Verify after each pass.
  bool verify = false;
};

/// What the pipeline made, with what `explain` tells about it.
struct Result {
  ir::Graph graph;  // after simplification
  ir::Plan plan;
  /// One entry per group: the nodes that it computes.
  std::vector<std::vector<ir::NodeId>> groups;
  /// The reason for each fusion made or refused, one a line.
  std::vector<std::string> decisions;
  /// Time per pass, in order.
  struct PassTime {
    std::string pass;
    int64_t ns;
  };
  std::vector<PassTime> times;
};

/// Plans a graph. Raises InternalError with the graph's text if a pass fails or breaks an
/// invariant.
Result run_pipeline(const ir::Graph& graph, const Options& options);

/// Everything of a graph that a plan depends on but the sizes: ops, attributes, dtypes, the
/// equality pattern of the extents, ones and zeros, how reshapes split, and the size classes that
/// the schedule looks at. Graphs with equal keys share a plan, bound with their own sizes.
std::vector<int64_t> skeleton_key(const ir::Graph& graph, const Options& options);

/// The groups as a Graphviz picture.
std::string graphviz(const Result& result);

}  // namespace kiln::fusion
