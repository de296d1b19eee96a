#include "tracer/record.h"

#include "tracer/evaluate.h"
#include "tracer/trace_log.h"

namespace kiln::tracer {

using ir::Op;

void fail(std::string_view op, const std::string& problem, const SourceLocation& at) {
  throw Error(std::string(op) + ": " + problem, at);
}

std::string describe(const Node& node) {
  return to_string(node.shape) + " " + std::string(name(node.dtype));
}

void check_shape(std::string_view op, const Shape& shape, const SourceLocation& at) {
  for (int64_t d : shape)
    if (d < 0) fail(op, "negative extent in shape " + to_string(shape), at);
  // Room for 16-byte elements and for strides in bytes.
  if (numel(shape) > INT64_MAX / 16) fail(op, "too many elements in shape " + to_string(shape), at);
}

namespace {

/// A fresh node that this thread's log knows.
NodeRef begin(Op op, DType dtype, const Shape& shape, const SourceLocation& at) {
  prepare_log();
  NodeRef n = Node::make(op, dtype, shape, at);
  add_to_log(n.get());
  count_op_recorded();
  return n;
}

void add_operand(Node& n, Node* operand) {
  operand->retain();
  n.operands[n.num_operands++].node = operand;
}

void add_scalar(Node& n, Bits bits, bool constant = false) {
  const uint8_t bit = static_cast<uint8_t>(1u << n.num_operands);
  n.scalar_mask |= bit;
  if (constant) n.const_mask |= bit;
  n.operands[n.num_operands++].bits = bits.raw;
}

NodeRef unary(Op op, DType dtype, const Shape& shape, Node* a, const SourceLocation& at) {
  NodeRef n = begin(op, dtype, shape, at);
  add_operand(*n, a);
  return n;
}

/// "[2, 3] f32 and 2.5".
std::string describe(std::span<const Arg> args) {
  std::string text;
  for (const Arg& a : args) {
    if (!text.empty()) text += " and ";
    if (a.node) {
      text += tracer::describe(*a.node);
    } else {
      text += "a scalar";
    }
  }
  return text;
}

DType scalar_dtype(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::Bool: return DType::Bool;
    case Scalar::Kind::Int: return DType::I64;
    case Scalar::Kind::Float: break;
  }
  return DType::F32;
}

/// The common dtype of the operands; scalars only lift the kind.
DType promote_args(Op op, std::span<const Arg> args, const SourceLocation& at) {
  std::optional<DType> t;
  for (const Arg& a : args) {
    if (!a.node) continue;
    const std::optional<DType> next = t ? promote(*t, a.node->dtype) : a.node->dtype;
    if (!next) fail(name(op), "no common dtype of " + describe(args), at);
    t = next;
  }
  for (const Arg& a : args) {
    if (a.node) continue;
    if (!t) {
      t = scalar_dtype(a.scalar);
    } else if (a.scalar.is_float() && !is_float(*t)) {
      t = DType::F32;
    } else if (a.scalar.kind() == Scalar::Kind::Int && is_bool(*t)) {
      t = DType::I64;
    }
  }
  if (!ir::accepts(op, *t))
    fail(name(op), "does not take " + std::string(name(*t)) + " (operands " + describe(args) + ")",
         at);
  return *t;
}

Shape broadcast_args(Op op, std::span<const Arg> args, const SourceLocation& at) {
  Shape shape;
  bool first = true;
  for (const Arg& a : args) {
    if (!a.node) continue;
    if (first) {
      shape = a.node->shape;
      first = false;
    } else if (!(shape == a.node->shape)) {
      const std::optional<Shape> both = broadcast(shape, a.node->shape);
      if (!both) fail(name(op), "shapes do not broadcast: " + describe(args), at);
      shape = *both;
      check_shape(name(op), shape, at);
    }
  }
  return shape;
}

}  // namespace

Bits scalar_bits(std::string_view op, const Scalar& s, DType dtype, const SourceLocation& at) {
  if (!fits(s, dtype)) {
    const std::string text = s.is_float() ? std::to_string(s.to_double())
                             : s.is_big() ? std::to_string(static_cast<uint64_t>(s.to_int()))
                                          : std::to_string(s.to_int());
    fail(op, "scalar " + text + " does not fit " + std::string(name(dtype)), at);
  }
  return to_bits(s, dtype);
}

NodeRef elementwise(Op op, std::span<const Arg> args, const SourceLocation& at) {
  const size_t data = op == Op::Where ? 1 : 0;  // operands before it take no part in promotion
  if (data && (!args[0].node || !is_bool(args[0].node->dtype)))
    fail(name(op), "the condition must be a bool tensor (operands " + describe(args) + ")", at);
  const DType promoted = promote_args(op, args.subspan(data), at);
  const DType compute = ir::compute_dtype(op, promoted);
  const Shape shape = broadcast_args(op, args, at);

  NodeRef casts[Node::max_operands];
  for (size_t i = data; i < args.size(); ++i)
    if (args[i].node && args[i].node->dtype != compute) casts[i] = cast(args[i].node, compute, at);
  Bits bits[Node::max_operands];
  for (size_t i = data; i < args.size(); ++i)
    if (!args[i].node) bits[i] = scalar_bits(name(op), args[i].scalar, compute, at);

  NodeRef n = begin(op, ir::result_dtype(op, promoted), shape, at);
  n->scalar_dtype = compute;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].node) {
      add_operand(*n, casts[i] ? casts[i].get() : args[i].node);
    } else {
      add_scalar(*n, bits[i], args[i].constant);
    }
  }
  return n;
}

NodeRef cast(Node* a, DType dtype, const SourceLocation& at) {
  if (a->dtype == dtype) return NodeRef(a);
  if (!info(dtype).available)
    fail("cast", "dtype " + std::string(name(dtype)) + " is not available", at);
  return unary(Op::Cast, dtype, a->shape, a, at);
}

NodeRef reduce(Op op, Node* a, const Dims& axes, const SourceLocation& at) {
  const bool has_identity = op == Op::Sum || op == Op::Prod;
  if (!has_identity)
    for (int64_t axis : axes)
      if (a->shape[static_cast<size_t>(axis)] == 0)
        fail(name(op), "nothing to reduce over in " + tracer::describe(*a), at);
  NodeRef n = unary(op, ir::result_dtype(op, a->dtype), ir::reduced_shape(a->shape, axes), a, at);
  n->more().attrs = axes;
  return n;
}

NodeRef reshape(Node* a, const Shape& shape, const SourceLocation& at) {
  return unary(Op::Reshape, a->dtype, shape, a, at);
}

NodeRef permute(Node* a, const Dims& axes, const SourceLocation& at) {
  Shape shape(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) shape[i] = a->shape[static_cast<size_t>(axes[i])];
  NodeRef n = unary(Op::Permute, a->dtype, shape, a, at);
  n->more().attrs = axes;
  return n;
}

NodeRef slice(Node* a, const Shape& shape, const Dims& steps, const Dims& starts,
              const SourceLocation& at) {
  NodeRef n = unary(Op::Slice, a->dtype, shape, a, at);
  n->more().attrs = steps;
  n->more().starts = starts;
  return n;
}

NodeRef expand(Node* a, const Shape& shape, const SourceLocation& at) {
  if (a->shape == shape) return NodeRef(a);
  return unary(Op::Expand, a->dtype, shape, a, at);
}

NodeRef slice_scatter(Node* base, Node* part, const Dims& steps, const Dims& starts,
                      const SourceLocation& at) {
  NodeRef n = unary(Op::SliceScatter, base->dtype, base->shape, base, at);
  add_operand(*n, part);
  n->more().attrs = steps;
  n->more().starts = starts;
  return n;
}

NodeRef cat(std::span<Node* const> parts, int64_t axis, const SourceLocation& at) {
  Shape shape = parts[0]->shape;
  int64_t& extent = shape[static_cast<size_t>(axis)];
  extent = 0;
  for (const Node* p : parts) extent += p->shape[static_cast<size_t>(axis)];
  check_shape("cat", shape, at);
  NodeRef n = begin(Op::Cat, parts[0]->dtype, shape, at);
  NodeExtra& extra = n->more();
  extra.attrs = {axis};
  extra.more.assign(parts.begin(), parts.end());
  for (Node* p : parts) p->retain();
  return n;
}

NodeRef full(const Shape& shape, DType dtype, Bits value, const SourceLocation& at) {
  NodeRef n = begin(Op::Full, dtype, shape, at);
  add_scalar(*n, value);
  return n;
}

NodeRef arange(int64_t n_elements, DType dtype, Bits start, Bits step, const SourceLocation& at) {
  NodeRef n = begin(Op::Arange, dtype, Shape{n_elements}, at);
  add_scalar(*n, start);
  add_scalar(*n, step);
  return n;
}

NodeRef random(Op op, const Shape& shape, DType dtype, int64_t seed, int64_t stream,
               const SourceLocation& at) {
  NodeRef n = begin(op, dtype, shape, at);
  n->scalar_dtype = DType::I64;
  add_scalar(*n, Bits::of(seed));
  add_scalar(*n, Bits::of(stream));
  return n;
}

NodeRef matmul(Node* a, Node* b, const SourceLocation& at) {
  Shape shape = a->shape;
  shape.back() = b->shape.back();
  check_shape("matmul", shape, at);
  NodeRef n = unary(Op::Matmul, a->dtype, shape, a, at);
  add_operand(*n, b);
  return n;
}

NodeRef leaf(Memory memory, DType dtype, const Shape& shape, const SourceLocation& at) {
  NodeRef n = Node::make(Op::Input, dtype, shape, at);
  n->memory = std::move(memory);
  n->set_state(State::Evaluated);
  return n;
}

}  // namespace kiln::tracer
