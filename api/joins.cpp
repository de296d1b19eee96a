// cat, stack and matmul.
#include "api/internal.h"

namespace kiln {

using detail::fail;
using detail::Read;
using tracer::NodeRef;

namespace {

DType common_dtype(std::string_view op, std::span<const Read> parts, const SourceLocation& at) {
  DType t = parts[0].node()->dtype;
  for (const Read& p : parts) {
    const std::optional<DType> next = promote(t, p.node()->dtype);
    if (!next)
      fail(op, "no common dtype of " + std::string(name(t)) + " and " + tracer::describe(*p.node()),
           at);
    t = *next;
  }
  return t;
}

/// The batched form of a matmul operand: batch axes broadcast to `batch`.
NodeRef expand_batch(const NodeRef& a, const Shape& batch, const SourceLocation& at) {
  Shape shape = batch;
  shape.push_back(a->shape[a->shape.size() - 2]);
  shape.push_back(a->shape.back());
  return tracer::expand(a.get(), shape, at);
}

Shape batch_of(const Shape& s) { return Shape(s.begin(), s.end() - 2); }

}  // namespace

Tensor cat(std::span<const Tensor> tensors, int64_t axis, SourceLocation at) {
  if (tensors.empty()) fail("cat", "nothing to join", at);
  std::vector<Read> parts;
  for (const Tensor& t : tensors) parts.emplace_back(t, "cat", at);
  const Shape& first = parts[0].node()->shape;
  axis = detail::check_axis("cat", axis, first.size(), at);
  for (const Read& p : parts) {
    Shape same = p.node()->shape;
    if (same.size() == first.size())
      same[static_cast<size_t>(axis)] = first[static_cast<size_t>(axis)];
    if (same != first)
      fail("cat",
           "shapes " + to_string(first) + " and " + to_string(p.node()->shape) +
               " differ beside axis " + std::to_string(axis),
           at);
  }
  const DType dtype = common_dtype("cat", parts, at);
  std::vector<NodeRef> held;
  std::vector<tracer::Node*> nodes;
  for (const Read& p : parts) {
    held.push_back(tracer::cast(p.node(), dtype, at));
    nodes.push_back(held.back().get());
  }
  return detail::tensor_of(tracer::cat(nodes, axis, at));
}

Tensor stack(std::span<const Tensor> tensors, int64_t axis, SourceLocation at) {
  if (tensors.empty()) fail("stack", "nothing to join", at);
  const Shape& first = detail::Access::impl(tensors[0], "stack", at).shape();
  axis = detail::check_axis("stack", axis, first.size() + 1, at);
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    if (detail::Access::impl(t, "stack", at).shape() != first)
      fail("stack", "shapes " + to_string(first) + " and " + to_string(t.shape()) + " differ", at);
    parts.push_back(t.unsqueeze(axis, at));
  }
  return cat(parts, axis, at);
}

Tensor matmul(const Tensor& left, const Tensor& right, SourceLocation at) {
  const Read reads[2] = {Read(left, "matmul", at), Read(right, "matmul", at)};
  const Shape& ls = reads[0].node()->shape;
  const Shape& rs = reads[1].node()->shape;
  const std::string operands =
      tracer::describe(*reads[0].node()) + " and " + tracer::describe(*reads[1].node());
  if (ls.empty() || rs.empty()) fail("matmul", "takes no 0-d tensor: " + operands, at);
  const DType dtype = common_dtype("matmul", reads, at);
  if (!ir::accepts(ir::Op::Matmul, dtype))
    fail("matmul", "does not take " + std::string(name(dtype)) + ": " + operands, at);

  // Vectors become a row on the left, a column on the right.
  NodeRef a = tracer::cast(reads[0].node(), dtype, at),
          b = tracer::cast(reads[1].node(), dtype, at);
  if (ls.size() == 1) a = tracer::reshape(a.get(), {1, ls[0]}, at);
  if (rs.size() == 1) b = tracer::reshape(b.get(), {rs[0], 1}, at);
  if (a->shape.back() != b->shape[b->shape.size() - 2])
    fail("matmul", "inner extents differ: " + operands, at);
  const std::optional<Shape> batch = broadcast(batch_of(a->shape), batch_of(b->shape));
  if (!batch) fail("matmul", "batch axes do not broadcast: " + operands, at);
  NodeRef product =
      tracer::matmul(expand_batch(a, *batch, at).get(), expand_batch(b, *batch, at).get(), at);
  Shape shape = *batch;
  if (ls.size() > 1) shape.push_back(product->shape[product->shape.size() - 2]);
  if (rs.size() > 1) shape.push_back(product->shape.back());
  if (shape != product->shape) product = tracer::reshape(product.get(), shape, at);
  return detail::tensor_of(std::move(product));
}

}  // namespace kiln
