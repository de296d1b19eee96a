#include "fusion/pipeline.h"

#include <chrono>

#include "fusion/assemble.h"
#include "fusion/groups.h"
#include "fusion/simplify.h"
#include "ir/core/error.h"

namespace kiln::fusion {

namespace {

/// What the passes hand on to each other.
struct State {
  const ir::Graph& recorded;
  const Options& options;
  Result result;
  std::shared_ptr<ir::ExprPool> pool = std::make_shared<ir::ExprPool>();
  std::unique_ptr<Indexer> indexer;
  Uses uses;
  std::vector<Group> groups;
};

struct Pass {
  const char* name;
  void (*run)(State&);
};

constexpr Pass passes[] = {
    {"simplify",
     [](State& s) {
       s.result.graph = simplify(s.recorded);
       if (s.options.verify) ir::verify(s.result.graph);
       s.indexer = std::make_unique<Indexer>(s.result.graph, ir::collect_sizes(s.recorded), s.pool);
     }},
    {"find_uses", [](State& s) { s.uses = find_uses(s.result.graph, *s.indexer); }},
    {"partition",
     [](State& s) {
       s.groups =
           partition(s.result.graph, *s.indexer, s.uses, s.options.fuse, &s.result.decisions);
       for (const Group& g : s.groups) s.result.groups.push_back(g.nodes);
     }},
    {"assemble",
     [](State& s) {
       s.result.plan = assemble(s.result.graph, *s.indexer, s.uses, s.groups, s.pool);
       if (s.options.verify) ir::verify(s.result.plan);
     }},
};

}  // namespace

Result run_pipeline(const ir::Graph& graph, const Options& options) {
  State state{graph, options, {}, std::make_shared<ir::ExprPool>(), nullptr, {}, {}};
  for (const Pass& pass : passes) {
    const auto start = std::chrono::steady_clock::now();
    try {
      pass.run(state);
    } catch (const InternalError& e) {
      internal_error(std::string(pass.name) + ": " + e.what() + "\nwhile planning\n" +
                     ir::print(graph));
    }
    const auto time = std::chrono::steady_clock::now() - start;
    state.result.times.push_back(
        {pass.name, std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()});
  }
  return std::move(state.result);
}

std::string graphviz(const Result& result) {
  std::string out = "digraph fusion {\n  node [shape=box];\n";
  std::vector<char> grouped(result.graph.nodes.size());
  auto label = [&](ir::NodeId id) {
    const ir::Node& n = result.graph.nodes[static_cast<size_t>(id)];
    return "  n" + std::to_string(id) + " [label=\"%" + std::to_string(id) + " " +
           std::string(ir::name(n.op)) + " " + std::string(name(n.dtype)) + " " +
           to_string(n.shape) + "\"];\n";
  };
  for (size_t g = 0; g < result.groups.size(); ++g) {
    out += "  subgraph cluster" + std::to_string(g) + " {\n  label=\"kernel " + std::to_string(g) +
           "\";\n";
    for (ir::NodeId id : result.groups[g]) {
      grouped[static_cast<size_t>(id)] = 1;
      out += "  " + label(id);
    }
    out += "  }\n";
  }
  for (size_t i = 0; i < result.graph.nodes.size(); ++i) {
    if (!grouped[i]) out += label(static_cast<ir::NodeId>(i));
    for (ir::NodeId input : result.graph.nodes[i].inputs)
      out += "  n" + std::to_string(input) + " -> n" + std::to_string(i) + ";\n";
  }
  return out + "}\n";
}

}  // namespace kiln::fusion
