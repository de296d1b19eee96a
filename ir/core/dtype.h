// Element types, their properties and the promotion table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace kiln {

/// Storage of an IEEE binary16 value; arithmetic happens in kernels.
struct Half {
  uint16_t bits;
};
/// Storage of a bfloat16 value; arithmetic happens in kernels.
struct BFloat16 {
  uint16_t bits;
};

enum class DType : uint8_t {
#define KILN_DTYPE(Enum, name, type, kind, available) Enum,
#include "ir/core/dtype.def"
#undef KILN_DTYPE
};

enum class DTypeKind : uint8_t { Bool, Unsigned, Signed, Float };

struct DTypeInfo {
  std::string_view name;
  uint8_t size;  // bytes per element
  DTypeKind kind;
  bool available;
};

inline constexpr DTypeInfo dtype_table[] = {
#define KILN_DTYPE(Enum, name, type, kind, available) \
  {name, sizeof(type), DTypeKind::kind, available},
#include "ir/core/dtype.def"
#undef KILN_DTYPE
};
inline constexpr int num_dtypes = sizeof(dtype_table) / sizeof(dtype_table[0]);

constexpr const DTypeInfo& info(DType t) { return dtype_table[static_cast<int>(t)]; }
constexpr std::string_view name(DType t) { return info(t).name; }
constexpr size_t size_of(DType t) { return info(t).size; }
constexpr bool is_float(DType t) { return info(t).kind == DTypeKind::Float; }
constexpr bool is_integer(DType t) {
  return info(t).kind == DTypeKind::Signed || info(t).kind == DTypeKind::Unsigned;
}
constexpr bool is_bool(DType t) { return t == DType::Bool; }

/// The dtype called `name` ("f32"), or nothing.
constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (int i = 0; i < num_dtypes; ++i)
    if (dtype_table[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

/// Common dtype of two tensor operands: the Array API table; bool promotes to any, an integer with
/// a float gives that float. Nothing for u64 with a signed integer, which has no common type.
std::optional<DType> promote(DType a, DType b);

/// The dtype that sums and products of `t` accumulate in and return: i64 for bool and signed
/// integers, u64 for unsigned, the dtype itself for floats.
DType sum_dtype(DType t);

template <class T>
struct dtype_of_t;
#define KILN_DTYPE(Enum, name, type, kind, available) \
  template <>                                         \
  struct dtype_of_t<type> {                           \
    static constexpr DType value = DType::Enum;       \
  };
#include "ir/core/dtype.def"
#undef KILN_DTYPE
/// The dtype whose elements are `T`.
template <class T>
inline constexpr DType dtype_of = dtype_of_t<std::remove_cv_t<T>>::value;

/// Calls f(T{}) with the C++ type of `t`; f must accept every available dtype's type.
template <class F>
decltype(auto) dispatch(DType t, F&& f) {
  switch (t) {
    case DType::Bool: return f(bool{});
    case DType::I32: return f(int32_t{});
    case DType::I64: return f(int64_t{});
    case DType::F32: return f(float{});
    case DType::F64: return f(double{});
    default: __builtin_unreachable();
  }
}

}  // namespace kiln
