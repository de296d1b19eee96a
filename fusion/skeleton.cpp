#include "fusion/pipeline.h"
#include "ir/kernel.h"

namespace kiln::fusion {

namespace {

/// The classes of an extent that the schedule looks at: few rows, and long rows that may be split.
int64_t size_class(int64_t extent) {
  if (extent < 8) return 0;
  return extent < 2 * ir::split_group() ? 1 : 2;
}

}  // namespace

std::vector<int64_t> skeleton_key(const ir::Graph& graph, const Options& options) {
  const ir::SizeTable sizes = ir::collect_sizes(graph);
  std::vector<int64_t> key = {options.fuse, options.verify, graph.num_params};
  auto list = [&](const auto& values) {
    key.push_back(static_cast<int64_t>(values.size()));
    for (auto v : values) key.push_back(v);
  };
  for (int64_t value : sizes.values) key.push_back(size_class(value));
  key.push_back(-1);
  for (const ir::Node& n : graph.nodes) {
    key.push_back(static_cast<int64_t>(n.op) | static_cast<int64_t>(n.dtype) << 8);
    key.push_back(static_cast<int64_t>(n.shape.size()));
    for (int64_t d : n.shape) key.push_back(d < 2 ? d : 2 + sizes.symbol_of(d));
    list(n.inputs);
    list(n.attrs);
    list(n.params);
    if (n.op != ir::Op::Reshape || numel(n.shape) == 0) continue;
    for (const ReshapeGroup& g :
         reshape_groups(graph.nodes[static_cast<size_t>(n.inputs[0])].shape, n.shape)) {
      key.push_back(g.in_end);
      key.push_back(g.out_end);
    }
  }
  list(graph.inputs);
  list(graph.outputs);
  list(graph.wanted);
  return key;
}

}  // namespace kiln::fusion
