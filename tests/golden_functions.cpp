#include "tests/golden_functions.h"

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

std::string picture(const std::string& input) { return graphviz(ir::parse_graph(input)); }

}  // namespace

const std::map<std::string, GoldenFunction>& golden_functions() {
  static const std::map<std::string, GoldenFunction> functions = {
      {"graph", round_trip<ir::parse_graph>},
      {"kernel", round_trip<ir::parse_kernel>},
      {"plan", round_trip<ir::parse_plan>},
      {"graphviz", picture},
  };
  return functions;
}

}  // namespace kiln
