#include <atomic>
#include <filesystem>
#include <fstream>

#include "tracer/origin.h"

namespace kiln::tracer {

namespace {

std::atomic<int> dumped_plans{0};

void write_file(int plan, const std::string& name, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(settings().dump_dir, ignored);
  char number[16];
  std::snprintf(number, sizeof number, "%04d-", plan);
  const std::string path = settings().dump_dir + "/" + number + name;
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw Error("dump: cannot write " + path, SourceLocation());
}

}  // namespace

void dump(const Origin& origin, bool fresh) {
  if (settings().dump == 0) return;
  const int plan = dumped_plans++;
  const Schedule& s = *origin.schedule;
  if (dump_enabled(DumpStage::Trace)) {
    write_file(plan, "trace.txt", ir::print(origin.trace));
    write_file(plan, "trace.dot", ir::graphviz(origin.trace));
  }
  if (!fresh) return;
  if (dump_enabled(DumpStage::Graph)) {
    write_file(plan, "graph.txt", ir::print(s.graph));
    write_file(plan, "graph.dot", ir::graphviz(s.graph));
  }
  if (dump_enabled(DumpStage::Fusion)) {
    std::string lines;
    for (const std::string& line : s.decisions) lines += line + "\n";
    write_file(plan, "fusion.txt", lines);
    write_file(plan, "fusion.dot", s.picture);
  }
  if (dump_enabled(DumpStage::Kernel))
    for (size_t k = 0; k < s.plan.kernels.size(); ++k)
      write_file(plan, "kernel-" + std::to_string(k) + ".txt", ir::print(s.plan.kernels[k]));
  if (dump_enabled(DumpStage::Plan)) write_file(plan, "plan.txt", ir::print(s.plan));
}

void dump_code(DumpStage stage, size_t kernel, const std::string& text) {
  write_file(dumped_plans - 1,
             "kernel-" + std::to_string(kernel) + (stage == DumpStage::Llvm ? ".ll" : ".s"), text);
}

}  // namespace kiln::tracer
