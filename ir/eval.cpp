#include "ir/eval.h"

#include <string>
#include <utility>

#include "ir/core/error.h"
#include "ir/core/scalar_ops.h"

namespace kiln::ir {
namespace {

/// Applies the scalar function f to arrays of elements.
template <auto f>
struct Loop;
template <class R, class... T, R (*f)(T...)>
struct Loop<f> {
  static void run(Bits* out, const Bits* const* in, int64_t n) {
    run(out, in, n, std::index_sequence_for<T...>());
  }

 private:
  template <size_t... I>
  static void run(Bits* out, const Bits* const* in, int64_t n, std::index_sequence<I...>) {
    const Bits* const a[] = {in[I]...};
    for (int64_t i = 0; i < n; ++i) out[i] = Bits::of<R>(f(a[I][i].template as<T>()...));
  }
};
template <auto f>
constexpr EvalFn loop = &Loop<f>::run;

/// Ops on any dtype, including bool.
template <class T>
EvalFn any_fn(Op op) {
  switch (op) {
    case Op::Add: return loop<&scalar::add<T>>;
    case Op::Mul: return loop<&scalar::mul<T>>;
    case Op::Minimum: return loop<&scalar::minimum<T>>;
    case Op::Maximum: return loop<&scalar::maximum<T>>;
    case Op::Eq: return loop<&scalar::eq<T>>;
    case Op::Ne: return loop<&scalar::ne<T>>;
    case Op::Lt: return loop<&scalar::lt<T>>;
    case Op::Le: return loop<&scalar::le<T>>;
    case Op::Gt: return loop<&scalar::gt<T>>;
    case Op::Ge: return loop<&scalar::ge<T>>;
    case Op::LogicalAnd: return loop<&scalar::logical_and<T>>;
    case Op::LogicalOr: return loop<&scalar::logical_or<T>>;
    case Op::LogicalNot: return loop<&scalar::logical_not<T>>;
    case Op::Where: return loop<&scalar::where<T>>;
    default: return nullptr;
  }
}

template <scalar::Number T>
EvalFn number_fn(Op op) {
  switch (op) {
    case Op::Sub: return loop<&scalar::sub<T>>;
    case Op::Neg: return loop<&scalar::neg<T>>;
    case Op::Abs: return loop<&scalar::abs<T>>;
    case Op::Floor: return loop<&scalar::floor<T>>;
    case Op::Round: return loop<&scalar::round<T>>;
    default: return nullptr;
  }
}

template <scalar::Integer T>
EvalFn integer_fn(Op op) {
  switch (op) {
    case Op::Pow: return loop<&scalar::pow<T>>;
    default: return nullptr;
  }
}

template <scalar::Float T>
EvalFn float_fn(Op op) {
  switch (op) {
    case Op::Div: return loop<&scalar::div<T>>;
    case Op::Sqrt: return loop<&scalar::sqrt<T>>;
    case Op::Rsqrt: return loop<&scalar::rsqrt<T>>;
#define KILN_CASE(name, Enum) \
  case Op::Enum: return loop<&scalar::name<T>>;
      KILN_MATH_UNARY(KILN_CASE)
      KILN_MATH_BINARY(KILN_CASE)
#undef KILN_CASE
    default: return nullptr;
  }
}

template <class T>
EvalFn typed_fn(Op op) {
  EvalFn fn = any_fn<T>(op);
  if constexpr (scalar::Number<T>)
    if (!fn) fn = number_fn<T>(op);
  if constexpr (scalar::Integer<T>)
    if (!fn) fn = integer_fn<T>(op);
  if constexpr (scalar::Float<T>)
    if (!fn) fn = float_fn<T>(op);
  return fn;
}

EvalFn cast_fn(DType from, DType to) {
  return dispatch(from, [&]<class From>(From) {
    return dispatch(to, []<class To>(To) { return loop<&scalar::cast<To, From>>; });
  });
}

template <class T>
EvalFn random_fn(Op op) {
  if constexpr (scalar::Float<T>)
    return op == Op::Rand ? loop<&scalar::rand<T>> : loop<&scalar::randn<T>>;
  else
    return nullptr;
}

[[noreturn]] void unsupported(Op op, DType t) {
  internal_error("eval: no " + std::string(name(op)) + " of " + std::string(kiln::name(t)));
}

template <class T, T (*f)(T, T)>
Bits combine(Bits a, Bits b) {
  return Bits::of<T>(f(a.as<T>(), b.as<T>()));
}

template <bool larger, class T>
ArgPair combine_arg(ArgPair a, ArgPair b) {
  const auto r = scalar::better<larger, T>({a.value.as<T>(), a.index}, {b.value.as<T>(), b.index});
  return r.index == a.index ? a : b;
}

}  // namespace

EvalFn eval_fn(Op op, DType compute, DType result, DType source) {
  EvalFn fn = nullptr;
  DType dtype = compute;
  if (op == Op::Cast) {
    fn = cast_fn(source, result);
  } else if (op == Op::Rand || op == Op::Randn) {
    dtype = result;
    fn = dispatch(result, [&]<class T>(T) { return random_fn<T>(op); });
  } else {
    fn = dispatch(compute, [&]<class T>(T) { return typed_fn<T>(op); });
  }
  if (!fn) unsupported(op, dtype);
  return fn;
}

Bits eval_op(Op op, DType compute, const Bits* in, DType result, DType source) {
  const Bits* pointers[3] = {};
  const int operands = is_elementwise(op) ? info(op).arity : 3;  // Rand, Randn: and the position
  for (int i = 0; i < operands; ++i) pointers[i] = in + i;
  Bits out;
  eval_fn(op, compute, result, source)(&out, pointers, 1);
  return out;
}

CombineFn reduce_combine(Op op, DType acc) {
  return dispatch(acc, [&]<class T>(T) -> CombineFn {
    switch (op) {
      case Op::Sum: return combine<T, scalar::add<T>>;
      case Op::Prod: return combine<T, scalar::mul<T>>;
      case Op::Amax: return combine<T, scalar::maximum<T>>;
      case Op::Amin: return combine<T, scalar::minimum<T>>;
      default: unsupported(op, acc);
    }
  });
}

Bits reduce_identity(Op op, DType acc) {
  if (op != Op::Sum && op != Op::Prod) unsupported(op, acc);
  return dispatch(acc, [&]<class T>(T) { return Bits::of<T>(op == Op::Prod ? T(1) : T(0)); });
}

ArgCombineFn arg_combine(Op op, DType t) {
  return dispatch(t, [&]<class T>(T) -> ArgCombineFn {
    if (op != Op::Argmax && op != Op::Argmin) unsupported(op, t);
    return op == Op::Argmax ? combine_arg<true, T> : combine_arg<false, T>;
  });
}

}  // namespace kiln::ir
