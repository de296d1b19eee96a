// The inference rules of the graph, as ops.def and graph.h state them.
#include <algorithm>

#include "ir/core/error.h"
#include "ir/graph.h"

namespace kiln::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : g_(graph) {}

  void run() {
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      id_ = static_cast<NodeId>(i);
      node(g_.nodes[i]);
    }
    id_ = -1;
    lists();
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    std::string place;
    if (id_ >= 0) {
      const Node& n = g_.nodes[static_cast<size_t>(id_)];
      place = "%" + std::to_string(id_) + " " + std::string(name(n.op)) + ": ";
    }
    internal_error("graph: " + place + rule + "\n" + print(g_));
  }
  void require(bool ok, const char* rule) const {
    if (!ok) fail(rule);
  }
  const Node& input(const Node& n, size_t i) const {
    return g_.nodes[static_cast<size_t>(n.inputs[i])];
  }

  void lists() const {
    std::vector<bool> listed(g_.nodes.size());
    for (NodeId in : g_.inputs) {
      require(in_graph(in) && g_.nodes[static_cast<size_t>(in)].op == Op::Input,
              "the inputs are input nodes");
      require(!listed[static_cast<size_t>(in)], "an input is listed once");
      listed[static_cast<size_t>(in)] = true;
    }
    for (size_t i = 0; i < listed.size(); ++i)
      require(listed[i] || g_.nodes[i].op != Op::Input, "every input node is listed");
    for (NodeId out : g_.outputs) require(in_graph(out), "an output is out of range");
    for (NodeId want : g_.wanted)
      require(want == -1 || in_graph(want), "a wanted value is out of range");
  }
  bool in_graph(NodeId id) const { return id >= 0 && static_cast<size_t>(id) < g_.nodes.size(); }

  void node(const Node& n) const {
    require(info(n.dtype).available, "no kernel computes in this dtype");
    for (int64_t d : n.shape) require(d >= 0, "extents are not negative");
    require(numel(n.shape) < INT64_MAX / 8, "the number of elements is in range");
    const int arity = info(n.op).arity;
    require(arity < 0 || n.inputs.size() == static_cast<size_t>(arity), "an op has its arity");
    for (NodeId in : n.inputs) require(in >= 0 && in < id_, "operands come before their users");
    for (int32_t p : n.params) require(p >= 0 && p < g_.num_params, "a parameter is out of range");
    attributes(n);
    switch (category(n.op)) {
      case Category::Leaf: leaf(n); break;
      case Category::Elementwise: elementwise(n); break;
      case Category::Reduction: reduction(n); break;
      case Category::View: view(n); break;
      case Category::Update: update(n); break;
      case Category::Concat: concat(n); break;
      case Category::Creation: creation(n); break;
      case Category::Random: random(n); break;
      case Category::External: matmul(n); break;
    }
  }

  /// How many attributes and parameters the op has.
  void attributes(const Node& n) const {
    size_t attrs = 0, params = 0;
    if (n.op == Op::Const || n.op == Op::Cat) attrs = 1;
    if (n.op == Op::Param) params = 1;
    if (n.op == Op::Permute) attrs = n.shape.size();
    if (n.op == Op::Slice || n.op == Op::SliceScatter) attrs = params = n.shape.size();
    if (is_reduction(n.op)) attrs = n.attrs.size();
    require(n.attrs.size() == attrs, "the op has another number of attributes");
    require(n.params.size() == params, "the op has another number of parameters");
  }

  void leaf(const Node& n) const {
    require(n.op == Op::Input || n.shape.empty(), "a scalar has rank 0");
    if (n.op != Op::Const) return;
    const auto raw = static_cast<uint64_t>(n.attrs[0]);
    const size_t bits = 8 * size_of(n.dtype);
    require(bits == 64 || raw >> bits == 0, "unused bits of a constant are zero");
    require(!is_bool(n.dtype) || raw <= 1, "a bool is 0 or 1");
  }

  void elementwise(const Node& n) const {
    std::optional<Shape> shape = Shape{};
    for (NodeId in : n.inputs)
      if (shape) shape = broadcast(*shape, g_.nodes[static_cast<size_t>(in)].shape);
    require(shape && *shape == n.shape, "the shape is that of the operands, broadcast");
    if (n.op == Op::Cast) return;
    if (n.op == Op::Where) require(is_bool(input(n, 0).dtype), "where chooses by a bool");
    const size_t first = n.op == Op::Where ? 1 : 0;
    const DType compute = input(n, first).dtype;
    for (size_t i = first; i < n.inputs.size(); ++i)
      require(input(n, i).dtype == compute, "operands have one dtype");
    require(accepts(n.op, compute), "the op accepts the dtype of its operands");
    require(compute_dtype(n.op, compute) == compute,
            "operands have the dtype that the op computes in");
    require(n.dtype == result_dtype(n.op, compute), "the dtype is the one of the table");
  }

  void reduction(const Node& n) const {
    const Node& in = input(n, 0);
    require(accepts(n.op, in.dtype), "the op accepts the dtype of its operand");
    require(n.dtype == result_dtype(n.op, in.dtype), "the dtype is the one of the table");
    int64_t count = 1;
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const int64_t axis = n.attrs[i];
      require(axis >= 0 && axis < static_cast<int64_t>(in.shape.size()), "an axis is out of range");
      require(i == 0 || n.attrs[i - 1] < axis, "axes are sorted and unique");
      count *= in.shape[static_cast<size_t>(axis)] != 0;
    }
    require(n.shape == reduced_shape(in.shape, n.attrs), "the reduced axes leave the shape");
    require(count > 0 || n.op == Op::Sum || n.op == Op::Prod,
            "the reduction of no elements has no value");
  }

  void view(const Node& n) const {
    const Node& in = input(n, 0);
    require(n.dtype == in.dtype, "a view keeps the dtype");
    if (n.op == Op::Reshape) {
      require(numel(n.shape) == numel(in.shape), "a reshape keeps the number of elements");
    } else if (n.op == Op::Permute) {
      permute(n, in);
    } else if (n.op == Op::Slice) {
      slice(n, in.shape, n.shape);
    } else {
      require(broadcast(in.shape, n.shape) == n.shape, "the operand broadcasts to the shape");
    }
  }

  void permute(const Node& n, const Node& in) const {
    require(n.shape.size() == in.shape.size(), "a permutation keeps the rank");
    std::vector<bool> seen(n.shape.size());
    for (size_t i = 0; i < n.shape.size(); ++i) {
      const int64_t axis = n.attrs[i];
      require(
          axis >= 0 && axis < static_cast<int64_t>(seen.size()) && !seen[static_cast<size_t>(axis)],
          "the order is a permutation");
      seen[static_cast<size_t>(axis)] = true;
      require(n.shape[i] == in.shape[static_cast<size_t>(axis)], "extents move with their axes");
    }
  }

  /// Starts are known only when it runs; the extents must fit for some start.
  void slice(const Node& n, const Shape& whole, const Shape& part) const {
    require(whole.size() == part.size(), "a slice keeps the rank");
    for (size_t i = 0; i < part.size(); ++i) {
      const int64_t step = n.attrs[i];
      require(step != 0 && step != INT64_MIN, "a step is not zero");
      const int64_t stride = step < 0 ? -step : step;
      const int64_t most = whole[i] == 0 ? 0 : (whole[i] - 1) / stride + 1;
      require(part[i] <= most, "a slice fits its operand");
    }
  }

  void update(const Node& n) const {
    const Node &whole = input(n, 0), &part = input(n, 1);
    require(n.dtype == whole.dtype && n.dtype == part.dtype, "operands have the result's dtype");
    require(n.shape == whole.shape, "an update keeps the shape");
    slice(n, whole.shape, part.shape);
  }

  void concat(const Node& n) const {
    require(!n.inputs.empty(), "cat has an operand");
    const int64_t axis = n.attrs[0];
    require(axis >= 0 && axis < static_cast<int64_t>(n.shape.size()), "an axis is out of range");
    int64_t total = 0;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Node& in = input(n, i);
      require(in.dtype == n.dtype, "operands have the result's dtype");
      require(in.shape.size() == n.shape.size(), "operands have the result's rank");
      total += in.shape[static_cast<size_t>(axis)];
      Shape same = in.shape;
      same[static_cast<size_t>(axis)] = n.shape[static_cast<size_t>(axis)];
      require(same == n.shape, "the other axes of the operands are equal");
    }
    require(total == n.shape[static_cast<size_t>(axis)], "the joined axis is the sum");
  }

  void scalars(const Node& n, DType t) const {
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      require(input(n, i).shape.empty(), "operands are scalars");
      require(input(n, i).dtype == t, "operands have their dtype");
    }
  }

  void creation(const Node& n) const {
    scalars(n, n.dtype);
    require(accepts(n.op, n.dtype), "the op accepts its dtype");
    if (n.op == Op::Arange) require(n.shape.size() == 1, "arange has rank 1");
  }

  void random(const Node& n) const {
    scalars(n, DType::I64);
    require(accepts(n.op, n.dtype), "the op accepts its dtype");
  }

  void matmul(const Node& n) const {
    const Node &a = input(n, 0), &b = input(n, 1);
    require(a.dtype == n.dtype && b.dtype == n.dtype, "operands have the result's dtype");
    require(accepts(n.op, n.dtype), "the op accepts its dtype");
    const size_t r = a.shape.size();
    require(r >= 2 && b.shape.size() == r && n.shape.size() == r, "ranks are equal and at least 2");
    for (size_t i = 0; i + 2 < r; ++i)
      require(a.shape[i] == b.shape[i] && a.shape[i] == n.shape[i], "batch axes are equal");
    require(a.shape[r - 1] == b.shape[r - 2], "the inner extents are equal");
    require(n.shape[r - 2] == a.shape[r - 2] && n.shape[r - 1] == b.shape[r - 1],
            "the result is rows by columns");
  }

  const Graph& g_;
  NodeId id_ = -1;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace kiln::ir
