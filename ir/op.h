// The enum, the properties and the inference rules that come from ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/core/dtype.h"
#include "ir/core/shape.h"

namespace kiln::ir {

enum class Op : uint8_t {
#define KILN_OP(Enum, ...) Enum,
#include "ir/ops.def"
#undef KILN_OP
};

enum class Category : uint8_t {
  Leaf,
  Elementwise,
  Reduction,
  View,
  Update,
  Concat,
  Creation,
  Random,
  External
};
enum class Result : uint8_t { Same, Float, Bool, Sum, Index, Attr, Branch };
enum class Accepts : uint8_t { All, Numeric, BoolOnly, FloatOnly };
enum class Flags : uint8_t { None, Commutative };
enum class Accuracy : uint8_t { Exact, Ulp1, Ulp2 };

struct OpInfo {
  std::string_view name;
  Category category;
  int8_t arity;
  Result result;
  Accepts accepts;
  Flags flags;
  Accuracy accuracy;
  std::string_view doc;
};

extern const OpInfo op_table[];
extern const int num_ops;

inline const OpInfo& info(Op op) { return op_table[static_cast<int>(op)]; }
inline std::string_view name(Op op) { return info(op).name; }
inline Category category(Op op) { return info(op).category; }
inline bool is_elementwise(Op op) { return category(op) == Category::Elementwise; }
inline bool is_reduction(Op op) { return category(op) == Category::Reduction; }
inline bool is_view(Op op) { return category(op) == Category::View; }

/// The op called `name`, or nothing.
std::optional<Op> parse_op(std::string_view name);

/// Whether the row accepts the promoted operand dtype `t`.
bool accepts(Op op, DType t);

/// The dtype that an elementwise op computes in, given its promoted operand dtype: operands are
/// cast to it first. Differs from the result for comparisons.
DType compute_dtype(Op op, DType promoted);

/// Result dtype, given the promoted operand dtype (over operands 1 and 2 for `where`). Rows with
/// result Attr have no rule: their node says it.
DType result_dtype(Op op, DType promoted);

/// Shape of a reduction of `in` over sorted unique `axes` (they leave the shape).
Shape reduced_shape(const Shape& in, const Dims& axes);

}  // namespace kiln::ir
