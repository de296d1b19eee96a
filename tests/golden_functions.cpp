#include "tests/golden_functions.h"

#include "fusion/pipeline.h"
#include "fusion/simplify.h"
#include "ir/core/error.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/plan.h"

namespace kiln {
namespace {

/// The first line of the error that f raises, or what it returns.
template <class F>
std::string or_error(F f) {
  try {
    return f();
  } catch (const InternalError& e) {
    const std::string text = e.what();
    return "error: " + text.substr(0, text.find('\n'));
  }
}

template <auto parse>
std::string round_trip(const std::string& input) {
  return or_error([&] {
    const auto ir = parse(input);
    verify(ir);
    return print(ir);
  });
}

std::string simplified(const std::string& input) {
  return or_error([&] { return print(fusion::simplify(ir::parse_graph(input))); });
}

/// Groups, the reasons for them, and the kernels that they become.
std::string fused(const std::string& input) {
  return or_error([&] {
    fusion::Options options;
    options.verify = true;
    const fusion::Result r = fusion::run_pipeline(ir::parse_graph(input), options);
    std::string out;
    for (size_t g = 0; g < r.groups.size(); ++g) {
      out += "group " + std::to_string(g) + ":";
      for (ir::NodeId id : r.groups[g]) out += " %" + std::to_string(id);
      out += "\n";
    }
    for (const std::string& d : r.decisions) out += d + "\n";
    for (const ir::Kernel& k : r.plan.kernels) out += print(k);
    return out;
  });
}

std::string picture(const std::string& input) { return graphviz(ir::parse_graph(input)); }

}  // namespace

const std::map<std::string, GoldenFunction>& golden_functions() {
  static const std::map<std::string, GoldenFunction> functions = {
      {"graph", round_trip<ir::parse_graph>},
      {"kernel", round_trip<ir::parse_kernel>},
      {"plan", round_trip<ir::parse_plan>},
      {"graphviz", picture},
      {"simplify", simplified},
      {"fusion", fused},
  };
  return functions;
}

}  // namespace kiln
