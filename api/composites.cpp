// Composite functions, written once over the primitive ones: every fuser and backend gains them.
// Each passes the caller's line on to what it records.
#include "api/internal.h"

namespace kiln {

using detail::record;
using detail::tensor_of;
using ir::Op;

namespace detail {

Tensor with_constant(ir::Op op, const Tensor& a, Scalar constant, const SourceLocation& at) {
  const Read read(a, ir::name(op), at);
  tracer::Arg args[2];
  args[0].node = read.node();
  args[1].scalar = constant;
  args[1].constant = true;
  return tensor_of(tracer::elementwise(op, args, at));
}

}  // namespace detail

namespace {

using detail::with_constant;

Tensor binary(Op op, const Tensor& a, const Tensor& b, const SourceLocation& at) {
  return tensor_of(record(op, at, Operand(a, at), Operand(b, at)));
}

/// a / number, the number an argument: it comes from the shape.
Tensor divide(const Tensor& a, double number, const SourceLocation& at) {
  return tensor_of(record(Op::Div, at, Operand(a, at), Operand(number, at)));
}

Tensor as_float(const Tensor& a, std::string_view op, const SourceLocation& at) {
  const DType t = detail::Access::impl(a, op, at).dtype();
  return is_float(t) ? a : a.to(f32, at);
}

double count_of(const Tensor& a, std::string_view op, const Axes& axes, const SourceLocation& at) {
  const Shape& shape = detail::Access::impl(a, op, at).shape();
  return static_cast<double>(
      detail::count_over(shape, detail::check_axes(op, axes, shape.size(), at)));
}

}  // namespace

Tensor relu(const Operand& a) {
  if (!a.tensor()) detail::fail("relu", "takes a tensor", a.at());
  return with_constant(Op::Maximum, *a.tensor(), 0, a.at());
}

Tensor square(const Operand& a) { return tensor_of(record(Op::Mul, a.at(), a, a)); }

Tensor clamp(const Operand& a, const Operand& low, const Operand& high) {
  const Tensor raised = tensor_of(record(Op::Maximum, a.at(), a, low));
  return tensor_of(record(Op::Minimum, a.at(), Operand(raised, a.at()), high));
}

Tensor mean(const Tensor& a, const Axes& axes, bool keepdim, SourceLocation at) {
  const double n = count_of(a, "mean", axes, at);
  return divide(sum(a, axes, keepdim, at), n, at);
}

Tensor var(const Tensor& a, const Axes& axes, int64_t correction, bool keepdim, SourceLocation at) {
  const Tensor x = as_float(a, "var", at);
  const double n = count_of(x, "var", axes, at) - static_cast<double>(correction);
  const Tensor d = binary(Op::Sub, x, mean(x, axes, true, at), at);
  const Tensor squares = sum(binary(Op::Mul, d, d, at), axes, keepdim, at);
  return divide(squares, n > 0 ? n : 0, at);
}

Tensor std(const Tensor& a, const Axes& axes, int64_t correction, bool keepdim, SourceLocation at) {
  return var(a, axes, correction, keepdim, at).sqrt(at);
}

Tensor all(const Tensor& a, const Axes& axes, bool keepdim, SourceLocation at) {
  const Tensor truth =
      detail::Access::impl(a, "all", at).dtype() == bool_ ? a : with_constant(Op::Ne, a, 0, at);
  // The product of 0s and 1s is 1 over no elements, where amin would have none.
  return with_constant(Op::Ne, prod(truth, axes, keepdim, at), 0, at);
}

Tensor any(const Tensor& a, const Axes& axes, bool keepdim, SourceLocation at) {
  const Tensor truth =
      detail::Access::impl(a, "any", at).dtype() == bool_ ? a : with_constant(Op::Ne, a, 0, at);
  return with_constant(Op::Ne, sum(truth, axes, keepdim, at), 0, at);
}

Tensor softmax(const Tensor& a, int64_t axis, SourceLocation at) {
  const Tensor x = as_float(a, "softmax", at);
  axis = detail::check_axis("softmax", axis, x.shape().size(), at);
  const Tensor e = binary(Op::Sub, x, amax(x, axis, true, at), at).exp(at);
  return binary(Op::Div, e, sum(e, axis, true, at), at);
}

// ---- Methods -----------------------------------------------------------------------------------

Tensor Tensor::relu(SourceLocation at) const { return kiln::relu(Operand(*this, at)); }
Tensor Tensor::square(SourceLocation at) const { return kiln::square(Operand(*this, at)); }
Tensor Tensor::clamp(const Operand& low, const Operand& high) const {
  return kiln::clamp(Operand(*this, low.at()), low, high);
}
Tensor Tensor::mean(const Axes& axes, bool keepdim, SourceLocation at) const {
  return kiln::mean(*this, axes, keepdim, at);
}
Tensor Tensor::var(const Axes& axes, int64_t correction, bool keepdim, SourceLocation at) const {
  return kiln::var(*this, axes, correction, keepdim, at);
}
Tensor Tensor::std(const Axes& axes, int64_t correction, bool keepdim, SourceLocation at) const {
  return kiln::std(*this, axes, correction, keepdim, at);
}
Tensor Tensor::all(const Axes& axes, bool keepdim, SourceLocation at) const {
  return kiln::all(*this, axes, keepdim, at);
}
Tensor Tensor::any(const Axes& axes, bool keepdim, SourceLocation at) const {
  return kiln::any(*this, axes, keepdim, at);
}
Tensor Tensor::softmax(int64_t axis, SourceLocation at) const {
  return kiln::softmax(*this, axis, at);
}
Tensor Tensor::matmul(const Tensor& other, SourceLocation at) const {
  return kiln::matmul(*this, other, at);
}

}  // namespace kiln
