// What an operator or function takes: a tensor or a C++ number, and the line of the call.
#pragma once

#include <concepts>
#include <type_traits>

#include "ir/core/error.h"
#include "ir/core/scalar.h"

namespace kiln {

class Tensor;

/// A C++ number: bool, any integer, any floating-point type.
template <class T>
concept Number = std::is_arithmetic_v<T>;

/// Made implicitly from a tensor or a number. It refers to the tensor: keep none.
class Operand {
 public:
  Operand(const Tensor& tensor, SourceLocation at = SourceLocation::current())
      : tensor_(&tensor), at_(at) {}
  template <Number T>
  Operand(T number, SourceLocation at = SourceLocation::current()) : scalar_(number), at_(at) {}

  /// Null for a number.
  const Tensor* tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }
  const SourceLocation& at() const { return at_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
  SourceLocation at_;
};

}  // namespace kiln
