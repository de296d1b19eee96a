// A host scalar as a user writes it, and one element's bits as kernels see them.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "ir/core/dtype.h"

namespace kiln {

/// A C++ number operand. It is weak: it takes the tensor's dtype where the kind allows.
class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float };

  constexpr Scalar() = default;
  template <std::same_as<bool> T>
  constexpr Scalar(T v) : kind_(Kind::Bool), i_(v) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr Scalar(T v)
      : kind_(Kind::Int), i_(static_cast<int64_t>(v)), big_(v > 0 && static_cast<int64_t>(v) < 0) {}
  template <std::floating_point T>
  constexpr Scalar(T v) : kind_(Kind::Float), f_(static_cast<double>(v)) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_float() const { return kind_ == Kind::Float; }
  /// True for an unsigned value above INT64_MAX; to_int() then holds its bits.
  constexpr bool is_big() const { return big_; }
  constexpr int64_t to_int() const { return kind_ == Kind::Float ? static_cast<int64_t>(f_) : i_; }
  constexpr double to_double() const {
    if (kind_ == Kind::Float) return f_;
    return big_ ? static_cast<double>(static_cast<uint64_t>(i_)) : static_cast<double>(i_);
  }

 private:
  Kind kind_ = Kind::Int;
  int64_t i_ = 0;
  double f_ = 0;
  bool big_ = false;
};

/// One element of any dtype in the low bytes of 8; unused bytes are zero.
struct Bits {
  uint64_t raw = 0;

  template <class T>
  static Bits of(T v) {
    Bits b;
    std::memcpy(&b.raw, &v, sizeof v);
    return b;
  }
  template <class T>
  T as() const {
    T v;
    std::memcpy(&v, &raw, sizeof v);
    return v;
  }
  friend bool operator==(Bits, Bits) = default;
};

/// Whether the scalar's value may become an element of `t` without losing its meaning: integers
/// must be in range; any number fits a float; only a bool fits bool.
bool fits(const Scalar& s, DType t);

/// The scalar as an element of `t`. Requires fits(s, t).
Bits to_bits(const Scalar& s, DType t);

}  // namespace kiln
