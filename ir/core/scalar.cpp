#include "ir/core/scalar.h"

#include <limits>

namespace kiln {

bool fits(const Scalar& s, DType t) {
  if (is_float(t)) return true;
  if (is_bool(t)) return s.kind() == Scalar::Kind::Bool;
  if (s.is_float()) return false;
  if (s.is_big()) return t == DType::U64;
  const int64_t v = s.to_int();
  const int bits = static_cast<int>(size_of(t)) * 8;
  if (info(t).kind == DTypeKind::Unsigned)
    return v >= 0 && (bits == 64 || v < (int64_t{1} << bits));
  if (bits == 64) return true;
  const int64_t limit = int64_t{1} << (bits - 1);
  return v >= -limit && v < limit;
}

Bits to_bits(const Scalar& s, DType t) {
  return dispatch(t, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      return Bits::of(static_cast<T>(s.to_double()));
    } else if constexpr (std::is_same_v<T, bool>) {
      return Bits::of(s.to_int() != 0);
    } else {
      return Bits::of(static_cast<T>(s.to_int()));
    }
  });
}

}  // namespace kiln
