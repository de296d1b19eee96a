// Text of a graph, to and from.
#include "ir/graph.h"
#include "ir/text.h"

namespace kiln::ir {
namespace {

/// What an op's `attrs` are called in the text, or "" if it has none.
std::string_view attrs_word(Op op) {
  switch (op) {
    case Op::Permute: return "order";
    case Op::Slice:
    case Op::SliceScatter: return "steps";
    case Op::Cat: return "axis";
    default: return is_reduction(op) ? "axes" : "";
  }
}

std::string ref(NodeId id) { return id < 0 ? "none" : "%" + std::to_string(id); }

std::string refs(std::span<const NodeId> ids) {
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) out += (i ? ", " : "") + ref(ids[i]);
  return out;
}

/// The part of a node after its shape.
std::string arguments(const Node& node) {
  if (node.op == Op::Const)
    return " " + (node.attrs.empty()
                      ? "?"
                      : print_bits({static_cast<uint64_t>(node.attrs[0])}, node.dtype));
  std::string out;
  if (!node.inputs.empty()) out += " (" + refs(node.inputs) + ")";
  if (const auto word = attrs_word(node.op); !word.empty())
    out += " " + std::string(word) + " " + to_string(node.attrs);
  for (size_t i = 0; i < node.params.size(); ++i)
    out += (i ? ", @" : " @") + std::to_string(node.params[i]);
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text, "graph") {}

  Graph run() {
    in_.expect("graph");
    in_.expect("params");
    g_.num_params = static_cast<int32_t>(in_.integer());
    in_.expect("{");
    while (in_.peek("%")) node();
    list("inputs", g_.inputs);
    list("outputs", g_.outputs);
    list("wanted", g_.wanted);
    in_.expect("}");
    if (!in_.at_end()) in_.fail("expected the end");
    return std::move(g_);
  }

 private:
  void node() {
    in_.expect_reference("%", g_.nodes.size());
    in_.expect("=");
    const std::string_view word = in_.word();
    const auto op = parse_op(word);
    if (!op) in_.fail("unknown op '" + std::string(word) + "'");
    Node node{*op, in_.dtype(), in_.shape(), {}, {}, {}, {}};
    if (*op == Op::Const) {
      node.attrs.push_back(static_cast<int64_t>(in_.bits(node.dtype).raw));
    } else {
      arguments(node);
    }
    g_.nodes.push_back(std::move(node));
  }

  void arguments(Node& node) {
    if (in_.accept("(")) {
      do node.inputs.push_back(in_.reference("%"));
      while (in_.accept(","));
      in_.expect(")");
    }
    if (const auto word = attrs_word(node.op); !word.empty()) {
      in_.expect(word);
      node.attrs = in_.shape();
    }
    if (!in_.peek("@")) return;
    do node.params.push_back(in_.reference("@"));
    while (in_.accept(","));
  }

  void list(std::string_view word, std::vector<NodeId>& ids) {
    if (!in_.accept(word)) return;
    do ids.push_back(in_.accept("none") ? -1 : in_.reference("%"));
    while (in_.accept(","));
  }

  Scanner in_;
  Graph g_;
};

}  // namespace

std::string print(const Graph& graph) {
  std::string out = "graph params " + std::to_string(graph.num_params) + " {\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    out += "  " + ref(static_cast<NodeId>(i)) + " = " + std::string(name(node.op)) + " " +
           std::string(name(node.dtype)) + " " + to_string(node.shape) + arguments(node) + "\n";
  }
  const auto list = [&](const char* word, const std::vector<NodeId>& ids) {
    if (!ids.empty()) out += "  " + std::string(word) + " " + refs(ids) + "\n";
  };
  list("inputs", graph.inputs);
  list("outputs", graph.outputs);
  list("wanted", graph.wanted);
  return out + "}\n";
}

Graph parse_graph(std::string_view text) { return Parser(text).run(); }

std::string graphviz(const Graph& graph) {
  std::string out = "digraph {\n  node [shape=box, fontname=\"monospace\"]\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const std::string id = "n" + std::to_string(i);
    std::string label = ref(static_cast<NodeId>(i)) + " " + std::string(name(node.op));
    // Operands are edges; the rest of the arguments stays in the label.
    Node rest = node;
    rest.inputs.clear();
    label += arguments(rest) + "\\n" + std::string(name(node.dtype)) + " " + to_string(node.shape);
    out += "  " + id + " [label=\"" + label + "\"]\n";
    for (NodeId in : node.inputs) out += "  n" + std::to_string(in) + " -> " + id + "\n";
  }
  for (NodeId o : graph.outputs) out += "  n" + std::to_string(o) + " [style=bold]\n";
  for (NodeId w : graph.wanted)
    if (w >= 0) out += "  n" + std::to_string(w) + " [style=dashed]\n";
  return out + "}\n";
}

}  // namespace kiln::ir
