#include "ir/op.h"

#include <algorithm>

namespace kiln::ir {

const OpInfo op_table[] = {
#define KILN_OP(Enum, name, category, arity, result, accepts, flags, accuracy, doc) \
  {name,         Category::category, arity, Result::result, Accepts::accepts,       \
   Flags::flags, Accuracy::accuracy, doc},
#include "ir/ops.def"
#undef KILN_OP
};
const int num_ops = sizeof(op_table) / sizeof(op_table[0]);

std::optional<Op> parse_op(std::string_view name) {
  for (int i = 0; i < num_ops; ++i)
    if (op_table[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

bool accepts(Op op, DType t) {
  switch (info(op).accepts) {
    case Accepts::All: return true;
    case Accepts::Numeric: return !is_bool(t);
    case Accepts::BoolOnly: return is_bool(t);
    case Accepts::FloatOnly: return is_float(t);
  }
  return false;
}

DType compute_dtype(Op op, DType promoted) {
  return info(op).result == Result::Float && !is_float(promoted) ? DType::F32 : promoted;
}

DType result_dtype(Op op, DType promoted) {
  switch (info(op).result) {
    case Result::Bool: return DType::Bool;
    case Result::Index: return DType::I64;
    case Result::Sum: return sum_dtype(promoted);
    case Result::Float: return compute_dtype(op, promoted);
    case Result::Same:
    case Result::Branch:
    case Result::Attr: break;
  }
  return promoted;
}

Shape reduced_shape(const Shape& in, const Dims& axes) {
  Shape out;
  for (size_t i = 0; i < in.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end())
      out.push_back(in[i]);
  return out;
}

}  // namespace kiln::ir
