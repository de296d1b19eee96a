// Between handles and what they refer to.
#pragma once

#include <utility>

#include "kiln/ops.h"
#include "tracer/record.h"
#include "tracer/tensor_impl.h"

namespace kiln::detail {

using tracer::NodeRef;
using tracer::TensorImpl;

/// Raises kiln::Error "op: problem at file:line".
using tracer::fail;

struct Access {
  /// What the handle refers to; Error for an undefined tensor.
  static TensorImpl& impl(const Tensor& t, std::string_view op, const SourceLocation& at) {
    if (!t.impl_) [[unlikely]]
      fail(op, "undefined tensor", at);
    return *t.impl_;
  }
  /// A handle that takes over one reference.
  static Tensor wrap(TensorImpl* counted) {
    Tensor t;
    t.impl_ = counted;
    return t;
  }
  static void replace(Tensor& t, TensorImpl* counted) { t = wrap(counted); }
};

/// A new tensor with this value.
inline Tensor tensor_of(NodeRef value) {
  return Access::wrap(tracer::make_tensor(std::move(value)));
}

/// The node that a read of the tensor gives, kept alive.
class Read {
 public:
  Read() = default;
  Read(const Tensor& t, std::string_view op, const SourceLocation& at) {
    TensorImpl& impl = Access::impl(t, op, at);
    if (impl.is_view()) held_ = tracer::read(impl, at);
    node_ = held_ ? held_.get() : impl.value.get();
  }
  tracer::Node* node() const { return node_; }

 private:
  NodeRef held_;
  tracer::Node* node_ = nullptr;
};

/// Records an elementwise op.
template <class... Operands>
NodeRef record(ir::Op op, const SourceLocation& at, const Operands&... operands) {
  constexpr size_t n = sizeof...(operands);
  const Operand* const list[] = {&operands...};
  Read reads[n];
  tracer::Arg args[n];
  bool any_tensor = false;
  for (size_t i = 0; i < n; ++i) {
    if (const Tensor* t = list[i]->tensor()) {
      reads[i] = Read(*t, ir::name(op), at);
      args[i].node = reads[i].node();
      any_tensor = true;
    } else {
      args[i].scalar = list[i]->scalar();
    }
  }
  if (!any_tensor) [[unlikely]]
    fail(ir::name(op), "takes at least one tensor", at);
  return tracer::elementwise(op, args, at);
}

/// An elementwise op of a tensor and a number that is part of the program.
Tensor with_constant(ir::Op op, const Tensor& a, Scalar constant, const SourceLocation& at);

/// `axis` counted from the end if negative; Error if there is none of that number.
int64_t check_axis(std::string_view op, int64_t axis, size_t rank, const SourceLocation& at);

/// Sorted axes, all of them where none are given; Error for one that does not exist or is repeated.
Dims check_axes(std::string_view op, const Axes& axes, size_t rank, const SourceLocation& at);

/// Product of the extents of `axes`.
int64_t count_over(const Shape& shape, const Dims& axes);

/// Writes `value` to the elements of `t`: broadcast, converted where that loses no kind.
void assign(const Tensor& t, const Operand& value, std::string_view op);

}  // namespace kiln::detail
