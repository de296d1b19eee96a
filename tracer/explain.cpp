#include "tracer/origin.h"

namespace kiln::tracer {

namespace {

void heading(std::string& text, const std::string& title) {
  text += (text.empty() ? "== " : "\n== ") + title + "\n";
}

void append_groups(std::string& text, const Schedule& s) {
  heading(text, std::to_string(s.groups.size()) + " groups");
  for (size_t g = 0; g < s.groups.size(); ++g) {
    text += "group " + std::to_string(g) + ":";
    for (ir::NodeId id : s.groups[g])
      text += " %" + std::to_string(id) + " " +
              std::string(ir::name(s.graph.nodes[static_cast<size_t>(id)].op));
    text += "\n";
  }
  for (const std::string& line : s.decisions) text += line + "\n";
}

void append_steps(std::string& text, const Origin& origin) {
  heading(text, "bytes moved");
  int64_t read = 0, written = 0;
  for (size_t i = 0; i < origin.steps.size(); ++i) {
    const Origin::Step& s = origin.steps[i];
    read += s.bytes_read;
    written += s.bytes_written;
    text += "step " + std::to_string(i) + ": " +
            (s.kernel < 0 ? std::string("external kernel") : "kernel " + std::to_string(s.kernel)) +
            " reads " + std::to_string(s.bytes_read) + ", writes " +
            std::to_string(s.bytes_written) + "\n";
  }
  text += "in all: reads " + std::to_string(read) + ", writes " + std::to_string(written) + "\n";
}

}  // namespace

std::string explain_text(const Origin& origin) {
  std::string text;
  heading(text, "trace");
  text += ir::print(origin.trace);
  const Schedule& s = *origin.schedule;
  heading(text, "graph after simplification");
  text += ir::print(s.graph);
  append_groups(text, s);
  for (size_t k = 0; k < s.plan.kernels.size(); ++k) {
    heading(text, "kernel " + std::to_string(k));
    text += ir::print(s.plan.kernels[k]);
  }
  append_steps(text, origin);
  return text;
}

}  // namespace kiln::tracer
