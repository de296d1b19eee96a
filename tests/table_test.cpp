// Every row of the op table x dtype x shape x layout through the whole pipeline against the oracle,
// bit for bit (classes E and R).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "fusion/pipeline.h"
#include "jit/jit.h"
#include "tests/plan_runner.h"
#include "tests/random_graph.h"

namespace kiln::testing {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::Op;

constexpr DType dtypes[] = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};

/// Empty, zero-dim, one, around the vector width, around the lanes and blocks of a reduction,
/// large.
const std::vector<Shape> shapes = {{0},    {},       {1},     {15},       {16},
                                   {17},   {33},     {3, 0},  {1, 5},     {5, 1},
                                   {7, 9}, {4, 100}, {65, 3}, {2, 3, 17}, {2, 5000}};

/// How an operand lies in memory relative to its shape.
enum class Layout { Plain, Permuted, Strided, Reversed, Broadcast };
constexpr Layout layouts[] = {Layout::Plain, Layout::Permuted, Layout::Strided, Layout::Reversed,
                              Layout::Broadcast};

class Case {
 public:
  explicit Case(uint64_t seed) : rng_(seed) {}

  /// An operand of the shape that is read through views of the layout.
  NodeId operand(DType t, const Shape& shape, Layout layout) {
    Shape in = shape;
    switch (layout) {
      case Layout::Plain: return input(t, in);
      case Layout::Permuted: {
        std::reverse(in.begin(), in.end());
        Dims order;
        for (size_t i = in.size(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
        return node(Op::Permute, t, shape, {input(t, in)}, order);
      }
      case Layout::Strided:
        for (int64_t& d : in) d = 2 * d + 1;
        return sliced(t, in, shape, 2, [](int64_t) { return int64_t{1}; });
      case Layout::Reversed: return sliced(t, in, shape, -1, [](int64_t d) { return d - 1; });
      case Layout::Broadcast:
        for (size_t i = 0; i < in.size(); i += 2) in[i] = shape[i] == 0 ? 0 : 1;
        return node(Op::Expand, t, shape, {input(t, in)}, {});
    }
    return -1;
  }

  NodeId node(Op op, DType t, const Shape& shape, SmallVector<NodeId, 3> in, Dims attrs) {
    return ir::add(p_.graph, {op, t, shape, std::move(in), std::move(attrs), {}, {}});
  }

  /// `base` with the slice of that step and start (the same for all axes) replaced by `source`.
  NodeId update(NodeId base, NodeId source, int64_t step, int64_t start) {
    const ir::Node to = p_.graph.nodes[static_cast<size_t>(base)];
    const NodeId id =
        node(Op::SliceScatter, to.dtype, to.shape, {base, source}, Dims(to.shape.size(), step));
    for (size_t k = 0; k < to.shape.size(); ++k) {
      p_.graph.nodes[static_cast<size_t>(id)].params.push_back(
          static_cast<int32_t>(p_.params.size()));
      p_.params.push_back(static_cast<uint64_t>(start));
    }
    return id;
  }

  NodeId param(DType t, Bits value) {
    const NodeId id = node(Op::Param, t, {}, {}, {});
    p_.graph.nodes[static_cast<size_t>(id)].params = {static_cast<int32_t>(p_.params.size())};
    p_.params.push_back(value.raw);
    return id;
  }

  /// "" if the compiled plan of `output` gives the oracle's bits.
  std::string check(NodeId output) {
    p_.graph.outputs = {output};
    p_.graph.num_params = static_cast<int32_t>(p_.params.size());
    const auto inputs = p_.input_pointers();
    const auto expected = ir::interpret(p_.graph, inputs, p_.params);
    fusion::Options options;
    options.verify = true;
    const auto plan = fusion::run_pipeline(p_.graph, options).plan;
    const PlanRun got = run_plan(plan, ir::collect_sizes(p_.graph).values, inputs, p_.params,
                                 [](const ir::Kernel& k, void* const* ptrs, const int64_t* nums,
                                    std::byte* scratch, int64_t begin, int64_t end) {
                                   return jit::compile(k)->fn(ptrs, nums, scratch, begin, end);
                                 });
    const DType t = p_.graph.nodes[static_cast<size_t>(output)].dtype;
    const int64_t at = first_difference(t, expected[0], got.outputs[0]);
    return at < 0 ? "" : "differs at " + std::to_string(at) + " in\n" + ir::print(p_.graph);
  }

 private:
  template <class Start>
  NodeId sliced(DType t, const Shape& in, const Shape& shape, int64_t step, Start start) {
    const NodeId id = node(Op::Slice, t, shape, {input(t, in)}, Dims(shape.size(), step));
    for (int64_t d : in) {
      p_.graph.nodes[static_cast<size_t>(id)].params.push_back(
          static_cast<int32_t>(p_.params.size()));
      p_.params.push_back(static_cast<uint64_t>(std::max<int64_t>(start(d), 0)));
    }
    return id;
  }

  NodeId input(DType t, const Shape& shape) {
    std::vector<std::byte> data(static_cast<size_t>(numel(shape)) * size_of(t));
    for (size_t i = 0; i < data.size(); i += size_of(t)) {
      const Bits b = element(t);
      std::memcpy(data.data() + i, &b.raw, size_of(t));
    }
    p_.inputs.push_back(std::move(data));
    return node(Op::Input, t, shape, {}, {});
  }

  Bits element(DType t) {
    const uint64_t r = rng_();
    switch (t) {
      case DType::Bool: return Bits::of((r & 1) != 0);
      case DType::I32:
        if (r % 16 == 0) return Bits::of(std::numeric_limits<int32_t>::min());
        return Bits::of(static_cast<int32_t>(r % 16 == 1 ? r >> 32 : r % 15) - 7);
      case DType::I64:
        if (r % 16 == 0) return Bits::of(std::numeric_limits<int64_t>::min());
        return Bits::of(static_cast<int64_t>(r % 16 == 1 ? r >> 8 : r % 15) - 7);
      default: break;
    }
    static constexpr double special[] = {0.0,  -0.0,  1.0,   -1.0,  0.5,    2.5,  -2.5, 1e-40,
                                         88.0, -1e30, 1e300, 709.0, -745.0, 1e10, -0.75};
    double v = std::normal_distribution<double>()(rng_) * 3;
    if (r % 6 == 0) v = special[(r >> 8) % std::size(special)];
    if (r % 37 == 1) v = std::numeric_limits<double>::quiet_NaN();
    if (r % 37 == 2) v = r & 64 ? INFINITY : -INFINITY;
    return t == DType::F32 ? Bits::of(static_cast<float>(v)) : Bits::of(v);
  }

  std::mt19937_64 rng_;
  RandomProgram p_;
};

class Table : public ::testing::TestWithParam<int> {
 protected:
  Op op() const { return static_cast<Op>(GetParam()); }

  void elementwise(DType t, const Shape& shape, Layout layout) {
    if (!ir::accepts(op(), t) || ir::compute_dtype(op(), t) != t) return;
    for (DType to : op() == Op::Cast ? std::vector<DType>(std::begin(dtypes), std::end(dtypes))
                                     : std::vector<DType>{ir::result_dtype(op(), t)}) {
      Case c(static_cast<uint64_t>(GetParam()) * 1000 + numel(shape));
      SmallVector<NodeId, 3> in;
      for (int k = 0; k < ir::info(op()).arity; ++k)
        in.push_back(c.operand(op() == Op::Where && k == 0 ? DType::Bool : t, shape,
                               k == 0 ? layout : Layout::Plain));
      ASSERT_EQ(c.check(c.node(op(), to, shape, in, {})), "");
    }
  }

  void reduction(DType t, const Shape& shape, Layout layout) {
    for (unsigned set = 1; set < 1u << shape.size(); ++set) {
      Dims axes;
      int64_t count = 1;
      for (size_t k = 0; k < shape.size(); ++k)
        if (set >> k & 1) {
          axes.push_back(static_cast<int64_t>(k));
          count *= shape[k];
        }
      if (count == 0 && op() != Op::Sum && op() != Op::Prod) continue;
      Case c(static_cast<uint64_t>(GetParam()) * 1000 + set);
      const NodeId x = c.operand(t, shape, layout);
      ASSERT_EQ(c.check(c.node(op(), ir::result_dtype(op(), t), ir::reduced_shape(shape, axes), {x},
                               axes)),
                "");
    }
  }

  void joined(DType t, const Shape& shape, Layout layout) {
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      Case c(3);
      const NodeId a = c.operand(t, shape, layout), b = c.operand(t, shape, Layout::Plain);
      Shape whole = shape;
      whole[axis] *= 3;
      ASSERT_EQ(c.check(c.node(op(), t, whole, {a, b, a}, {static_cast<int64_t>(axis)})), "");
    }
  }

  void updated(DType t, const Shape& shape, Layout layout) {
    Case c(4);
    Shape whole = shape;
    for (int64_t& d : whole) d = 2 * d + 1;
    const NodeId base = c.operand(t, whole, Layout::Plain), source = c.operand(t, shape, layout);
    ASSERT_EQ(c.check(c.update(base, source, 2, 1)), "");
    ASSERT_EQ(c.check(c.update(base, source, 1, 0)), "");
  }

  /// Of integers, where every order of summing gives the same.
  void product(DType t, const Shape& shape, Layout layout) {
    Case c(5);
    const NodeId a = c.operand(t, shape, layout);
    const NodeId b = c.operand(t, {shape[1], shape[0]}, layout);
    ASSERT_EQ(c.check(c.node(op(), t, {shape[0], shape[0]}, {a, b}, {})), "");
  }

  void made(DType t, const Shape& shape) {
    Case c(1);
    const bool random = ir::category(op()) == ir::Category::Random;
    if (random ? !is_float(t) : !ir::accepts(op(), t)) return;
    if (op() == Op::Arange && shape.size() != 1) return;
    const Bits one = to_bits(is_bool(t) ? Scalar(true) : is_float(t) ? Scalar(0.1) : Scalar(3), t);
    SmallVector<NodeId, 3> in;
    for (int k = 0; k < ir::info(op()).arity; ++k)
      in.push_back(random ? c.param(DType::I64, Bits::of(int64_t{7 + k})) : c.param(t, one));
    ASSERT_EQ(c.check(c.node(op(), t, shape, in, {})), "");
  }
};

TEST_P(Table, EqualsTheOracle) {
  for (DType t : dtypes)
    for (const Shape& shape : shapes)
      for (Layout layout : layouts) switch (ir::category(op())) {
          case ir::Category::Elementwise: elementwise(t, shape, layout); break;
          case ir::Category::Reduction: reduction(t, shape, layout); break;
          case ir::Category::Creation:
          case ir::Category::Random:
            if (layout == Layout::Plain) made(t, shape);
            break;
          case ir::Category::View: {  // the layouts are the views
            Case c(2);
            ASSERT_EQ(c.check(c.operand(t, shape, layout)), "");
            break;
          }
          case ir::Category::Concat:
            if (!shape.empty()) joined(t, shape, layout);
            break;
          case ir::Category::Update: updated(t, shape, layout); break;
          case ir::Category::External:
            if (shape.size() == 2 && (t == DType::I32 || t == DType::I64))
              product(t, shape, layout);
            break;
          case ir::Category::Leaf: break;  // in every other row
        }
}

INSTANTIATE_TEST_SUITE_P(Ops, Table, ::testing::Range(0, ir::num_ops), [](const auto& info) {
  return std::string(ir::name(static_cast<Op>(info.param)));
});

}  // namespace
}  // namespace kiln::testing
