// Where a value came from: what explain tells about the firing that computed it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/core/settings.h"
#include "ir/graph.h"
#include "ir/plan.h"

namespace kiln::tracer {

/// What planning made of a graph; shared by all graphs that differ in sizes alone.
struct Schedule {
  ir::Graph graph;  // after simplification
  ir::Plan plan;
  std::vector<std::vector<ir::NodeId>> groups;
  std::vector<std::string> decisions;
  std::string picture;  // the groups, for Graphviz
};

struct Origin {
  ir::Graph trace;
  std::shared_ptr<const Schedule> schedule;
  struct Step {
    int32_t kernel;  // -1: an external kernel
    int64_t bytes_read, bytes_written;
  };
  std::vector<Step> steps;
};

/// The trace, the graph, the groups with the reasons, the kernels and the bytes moved.
std::string explain_text(const Origin& origin);

/// Writes the stages that KILN_DUMP names to files in KILN_DUMP_DIR. `fresh`: the schedule is new,
/// not only its sizes. Raises Error where a file cannot be written.
void dump(const Origin& origin, bool fresh);
/// One more file of the last dumped plan: code of a kernel.
void dump_code(DumpStage stage, size_t kernel, const std::string& text);

}  // namespace kiln::tracer
