#include "ir/core/dtype.h"

#include <algorithm>

namespace kiln {

std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a)) {
    if (size_of(a) == size_of(b)) return DType::F32;  // f16 with bf16
    return size_of(a) > size_of(b) ? a : b;
  }
  if (info(a).kind == info(b).kind) return size_of(a) > size_of(b) ? a : b;
  // Mixed signs: the smallest signed type that holds both.
  const DType u = info(a).kind == DTypeKind::Unsigned ? a : b;
  const DType s = u == a ? b : a;
  if (u == DType::U64) return std::nullopt;
  if (size_of(s) > size_of(u)) return s;
  switch (size_of(u)) {
    case 1: return DType::I16;
    case 2: return DType::I32;
    default: return DType::I64;
  }
}

DType sum_dtype(DType t) {
  switch (info(t).kind) {
    case DTypeKind::Bool:
    case DTypeKind::Signed: return DType::I64;
    case DTypeKind::Unsigned: return DType::U64;
    case DTypeKind::Float: break;
  }
  return t;
}

}  // namespace kiln
