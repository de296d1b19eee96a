// Elementwise functions, methods and operators, from the list in kiln/elementwise.def.
#include "api/internal.h"

namespace kiln {

using detail::record;
using detail::tensor_of;
using ir::Op;

#define KILN_UNARY(name, Enum, doc)                                                \
  Tensor name(const Operand& a) { return tensor_of(record(Op::Enum, a.at(), a)); } \
  Tensor Tensor::name(SourceLocation at) const {                                   \
    return tensor_of(record(Op::Enum, at, Operand(*this, at)));                    \
  }
#define KILN_BINARY(name, Enum, doc)                                       \
  Tensor name(const Operand& a, const Operand& b) {                        \
    return tensor_of(record(Op::Enum, b.at(), a, b));                      \
  }                                                                        \
  Tensor Tensor::name(const Operand& other) const {                        \
    return tensor_of(record(Op::Enum, other.at(), Operand(*this), other)); \
  }
#include "kiln/elementwise.def"
#undef KILN_UNARY
#undef KILN_BINARY

Tensor where(const Operand& condition, const Operand& a, const Operand& b) {
  return tensor_of(record(Op::Where, condition.at(), condition, a, b));
}

#define KILN_OPERATOR(symbol, Enum)                            \
  Tensor operator symbol(const Operand& a, const Operand& b) { \
    return tensor_of(record(Op::Enum, a.at(), a, b));          \
  }
KILN_OPERATOR(+, Add)
KILN_OPERATOR(-, Sub)
KILN_OPERATOR(*, Mul)
KILN_OPERATOR(/, Div)
KILN_OPERATOR(==, Eq)
KILN_OPERATOR(!=, Ne)
KILN_OPERATOR(<, Lt)
KILN_OPERATOR(<=, Le)
KILN_OPERATOR(>, Gt)
KILN_OPERATOR(>=, Ge)
#undef KILN_OPERATOR

Tensor operator-(const Operand& a) { return tensor_of(record(Op::Neg, a.at(), a)); }

namespace {

void check_bool(std::string_view op, const Operand& a) {
  const bool ok = a.tensor() ? detail::Access::impl(*a.tensor(), op, a.at()).dtype() == bool_
                             : a.scalar().kind() == Scalar::Kind::Bool;
  if (!ok)
    detail::fail(
        op,
        "takes bool operands, not " +
            (a.tensor() ? std::string(kiln::name(a.tensor()->dtype())) : std::string("a number")),
        a.at());
}

}  // namespace

Tensor operator&(const Operand& a, const Operand& b) {
  check_bool("operator&", a);
  check_bool("operator&", b);
  return logical_and(a, b);
}

Tensor operator|(const Operand& a, const Operand& b) {
  check_bool("operator|", a);
  check_bool("operator|", b);
  return logical_or(a, b);
}

Tensor operator~(const Operand& a) {
  check_bool("operator~", a);
  return logical_not(a);
}

Tensor Tensor::to(DType dtype, SourceLocation at) const {
  if (detail::Access::impl(*this, "to", at).dtype() == dtype) return *this;
  const detail::Read a(*this, "to", at);
  return tensor_of(tracer::cast(a.node(), dtype, at));
}

// ---- In place ----------------------------------------------------------------------------------

namespace detail {

/// bool, integer, float: what is written may be of a lower kind or of the same.
static int kind_rank(DType t) { return is_bool(t) ? 0 : is_float(t) ? 2 : 1; }

void assign(const Tensor& t, const Operand& value, std::string_view op) {
  const SourceLocation& at = value.at();
  TensorImpl& impl = Access::impl(t, op, at);
  const DType dtype = impl.dtype();
  if (!value.tensor()) {
    const Bits bits = tracer::scalar_bits(op, value.scalar(), dtype, at);
    return tracer::write(impl, tracer::full(impl.shape(), dtype, bits, at).get(), op, at);
  }
  const Read v(*value.tensor(), op, at);
  if (kind_rank(v.node()->dtype) > kind_rank(dtype))
    fail(op,
         "cannot write " + tracer::describe(*v.node()) + " to " + to_string(impl.shape()) + " " +
             std::string(name(dtype)) + "; convert it with to()",
         at);
  if (broadcast(v.node()->shape, impl.shape()) != impl.shape())
    fail(op, "cannot broadcast " + tracer::describe(*v.node()) + " to " + to_string(impl.shape()),
         at);
  tracer::write(impl, tracer::cast(v.node(), dtype, at).get(), op, at);
}

}  // namespace detail

void Tensor::operator=(const Operand& value) && { detail::assign(*this, value, "assign"); }

Tensor& Tensor::copy_(const Operand& value) {
  detail::assign(*this, value, "copy_");
  return *this;
}

#define KILN_IN_PLACE(symbol, Enum)                                                   \
  Tensor& Tensor::operator symbol(const Operand & other) {                            \
    const SourceLocation at = other.at();                                             \
    const Tensor result = tensor_of(record(Op::Enum, at, Operand(*this, at), other)); \
    detail::assign(*this, Operand(result, at), "operator" #symbol);                   \
    return *this;                                                                     \
  }
KILN_IN_PLACE(+=, Add)
KILN_IN_PLACE(-=, Sub)
KILN_IN_PLACE(*=, Mul)
KILN_IN_PLACE(/=, Div)
#undef KILN_IN_PLACE

}  // namespace kiln
