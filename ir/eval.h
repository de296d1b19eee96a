// Elementwise and random operations of ops.def on plain elements, and how reductions combine: what
// the interpreters run.
#pragma once

#include <cstdint>

#include "ir/core/scalar.h"
#include "ir/op.h"

namespace kiln::ir {

/// Computes out[i] from in[0][i], in[1][i], ... for i in [0, n). `out` may be one of the inputs.
using EvalFn = void (*)(Bits* out, const Bits* const* in, int64_t n);

/// The function of an elementwise op on operands of dtype `compute` (compute_dtype of op.h; for
/// Where the dtype of the branches, the condition is bool), giving `result`. For Cast, `source` is
/// the operand's dtype and `compute` is not looked at; for Rand and Randn the operands are seed,
/// stream and position, all i64, and `result` alone counts. Raises InternalError if the table does
/// not accept the dtypes.
EvalFn eval_fn(Op op, DType compute, DType result, DType source);

/// One element of eval_fn.
Bits eval_op(Op op, DType compute, const Bits* in, DType result, DType source);

/// How Sum, Prod, Amax and Amin combine two values of the accumulation dtype.
using CombineFn = Bits (*)(Bits older, Bits newer);
CombineFn reduce_combine(Op op, DType acc);

/// The result over no elements: +0 for Sum, 1 for Prod. The other reductions have none (they are
/// errors at the call).
Bits reduce_identity(Op op, DType acc);

/// A candidate of Argmax and Argmin: the value and its index.
struct ArgPair {
  Bits value;
  int64_t index;
};
/// The better of two candidates of Argmax or Argmin: first NaN, else first extreme. The order of
/// the arguments does not matter.
using ArgCombineFn = ArgPair (*)(ArgPair a, ArgPair b);
ArgCombineFn arg_combine(Op op, DType t);

}  // namespace kiln::ir
