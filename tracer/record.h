// Recording: each function checks its operands, infers dtype and shape and makes one node (and
// casts where operands differ in dtype). Mistakes raise kiln::Error with the caller's line.
#pragma once

#include <span>
#include <string>

#include "tracer/node.h"

namespace kiln::tracer {

/// An operand: a node, or a host scalar where `node` is null.
struct Arg {
  Node* node = nullptr;
  Scalar scalar;
  /// A scalar that is part of the program (a composite's constant), not an argument.
  bool constant = false;
};

/// Raises kiln::Error "op: problem at file:line".
[[noreturn]] void fail(std::string_view op, const std::string& problem, const SourceLocation& at);

/// "[2, 3] f32" of a node.
std::string describe(const Node& node);

/// Refuses shapes with a negative extent or more elements than can be addressed.
void check_shape(std::string_view op, const Shape& shape, const SourceLocation& at);

/// An elementwise op on up to three operands, broadcast to a common shape and promoted to a common
/// dtype, in which scalars are weak.
NodeRef elementwise(ir::Op op, std::span<const Arg> args, const SourceLocation& at);

/// The node's value as `dtype`: the node itself if it is that already.
NodeRef cast(Node* a, DType dtype, const SourceLocation& at);

/// A scalar as an element of `dtype`, or an Error if it does not fit.
Bits scalar_bits(std::string_view op, const Scalar& s, DType dtype, const SourceLocation& at);

/// A reduction over sorted unique axes; `op` names the function in errors.
NodeRef reduce(ir::Op op, Node* a, const Dims& axes, const SourceLocation& at);

// Views as values. The shapes and indices are right: callers have checked them.
NodeRef reshape(Node* a, const Shape& shape, const SourceLocation& at);
NodeRef permute(Node* a, const Dims& axes, const SourceLocation& at);
NodeRef slice(Node* a, const Shape& shape, const Dims& steps, const Dims& starts,
              const SourceLocation& at);
NodeRef expand(Node* a, const Shape& shape, const SourceLocation& at);

/// `base` with the elements that slice(steps, starts) selects replaced by `part`.
NodeRef slice_scatter(Node* base, Node* part, const Dims& steps, const Dims& starts,
                      const SourceLocation& at);

/// Joins nodes of one dtype whose shapes agree but along `axis`.
NodeRef cat(std::span<Node* const> parts, int64_t axis, const SourceLocation& at);

NodeRef full(const Shape& shape, DType dtype, Bits value, const SourceLocation& at);
/// n elements start + i * step.
NodeRef arange(int64_t n, DType dtype, Bits start, Bits step, const SourceLocation& at);
NodeRef random(ir::Op op, const Shape& shape, DType dtype, int64_t seed, int64_t stream,
               const SourceLocation& at);
/// Operands of one dtype, rank >= 2 and equal batch axes.
NodeRef matmul(Node* a, Node* b, const SourceLocation& at);

/// An evaluated node over memory. Not counted as recorded.
NodeRef leaf(Memory memory, DType dtype, const Shape& shape, const SourceLocation& at);

}  // namespace kiln::tracer
