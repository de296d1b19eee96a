// Free functions and operators. Every function records and returns at once; every mistake in
// shapes, dtypes or axes raises Error at the call, with the caller's line.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kiln/tensor.h"

namespace kiln {

// ---- Elementwise --------------------------------------------------------------------------------
// Operands are tensors or C++ numbers, at least one a tensor. Shapes broadcast as NumPy's do; Error
// if they cannot. Dtypes promote (bool to any, integer with float to that float); a number takes
// the tensor's dtype where its kind allows: a float makes integers f32, an integer makes bool i64;
// Error if it does not fit. Numbers are arguments: another number compiles nothing.

#define KILN_UNARY(name, Op, doc) KILN_API Tensor name(const Operand& a);
#define KILN_BINARY(name, Op, doc) KILN_API Tensor name(const Operand& a, const Operand& b);
#include "kiln/elementwise.def"
#undef KILN_UNARY
#undef KILN_BINARY

/// a where `condition` (bool) holds, else b; all three broadcast.
KILN_API Tensor where(const Operand& condition, const Operand& a, const Operand& b);
/// maximum(a, 0).
KILN_API Tensor relu(const Operand& a);
/// a * a.
KILN_API Tensor square(const Operand& a);
/// minimum(maximum(a, low), high).
KILN_API Tensor clamp(const Operand& a, const Operand& low, const Operand& high);

KILN_API Tensor operator+(const Operand& a, const Operand& b);
KILN_API Tensor operator-(const Operand& a, const Operand& b);
KILN_API Tensor operator*(const Operand& a, const Operand& b);
KILN_API Tensor operator/(const Operand& a, const Operand& b);
KILN_API Tensor operator-(const Operand& a);
KILN_API Tensor operator==(const Operand& a, const Operand& b);
KILN_API Tensor operator!=(const Operand& a, const Operand& b);
KILN_API Tensor operator<(const Operand& a, const Operand& b);
KILN_API Tensor operator<=(const Operand& a, const Operand& b);
KILN_API Tensor operator>(const Operand& a, const Operand& b);
KILN_API Tensor operator>=(const Operand& a, const Operand& b);
/// Logical and, or, not of bool operands; Error for others. (&& and || keep their meaning: they
/// branch on values.)
KILN_API Tensor operator&(const Operand& a, const Operand& b);
KILN_API Tensor operator|(const Operand& a, const Operand& b);
KILN_API Tensor operator~(const Operand& a);

// ---- Reductions ---------------------------------------------------------------------------------
// Over the given axes, all if none are given; they leave the shape, or stay with extent 1 if
// `keepdim`. Error if an axis does not exist or is given twice.

/// Sum and product: i64 for bool and integers. Of no elements: 0 and 1.
KILN_API Tensor sum(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                    SourceLocation at = SourceLocation::current());
KILN_API Tensor prod(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                     SourceLocation at = SourceLocation::current());
/// sum / count; f32 for bool and integers.
KILN_API Tensor mean(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                     SourceLocation at = SourceLocation::current());
/// Largest and smallest element; NaN propagates. Error if there is none.
KILN_API Tensor amax(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                     SourceLocation at = SourceLocation::current());
KILN_API Tensor amin(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                     SourceLocation at = SourceLocation::current());
/// sum((a - mean)^2) / max(0, count - correction), in two passes, and its root.
KILN_API Tensor var(const Tensor& a, const Axes& axes = {}, int64_t correction = 1,
                    bool keepdim = false, SourceLocation at = SourceLocation::current());
KILN_API Tensor std(const Tensor& a, const Axes& axes = {}, int64_t correction = 1,
                    bool keepdim = false, SourceLocation at = SourceLocation::current());
/// Index of the first NaN, else of the first extreme element, i64: along an axis, or in row-major
/// order over all. Error if there is no element.
KILN_API Tensor argmax(const Tensor& a, std::optional<int64_t> axis = {}, bool keepdim = false,
                       SourceLocation at = SourceLocation::current());
KILN_API Tensor argmin(const Tensor& a, std::optional<int64_t> axis = {}, bool keepdim = false,
                       SourceLocation at = SourceLocation::current());
/// Whether all, or any, are non-zero; bool. Of no elements: true and false.
KILN_API Tensor all(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                    SourceLocation at = SourceLocation::current());
KILN_API Tensor any(const Tensor& a, const Axes& axes = {}, bool keepdim = false,
                    SourceLocation at = SourceLocation::current());
/// exp(a - amax) / sum of that, along an axis; f32 for bool and integers.
KILN_API Tensor softmax(const Tensor& a, int64_t axis,
                        SourceLocation at = SourceLocation::current());

// ---- Views, joins, products ---------------------------------------------------------------------

/// As the methods of these names.
KILN_API Tensor reshape(const Tensor& a, const Shape& shape,
                        SourceLocation at = SourceLocation::current());
KILN_API Tensor permute(const Tensor& a, const Dims& axes,
                        SourceLocation at = SourceLocation::current());
KILN_API Tensor transpose(const Tensor& a, int64_t axis0, int64_t axis1,
                          SourceLocation at = SourceLocation::current());
KILN_API Tensor squeeze(const Tensor& a, std::optional<int64_t> axis = {},
                        SourceLocation at = SourceLocation::current());
KILN_API Tensor unsqueeze(const Tensor& a, int64_t axis,
                          SourceLocation at = SourceLocation::current());
KILN_API Tensor flip(const Tensor& a, const Axes& axes,
                     SourceLocation at = SourceLocation::current());
/// At most `chunks` views along an axis, of equal extents but for the last, as ATen cuts.
KILN_API std::vector<Tensor> chunk(const Tensor& a, int64_t chunks, int64_t axis = 0,
                                   SourceLocation at = SourceLocation::current());
/// Joined along an axis; dtypes promote. Error if ranks or other extents differ.
KILN_API Tensor cat(std::span<const Tensor> parts, int64_t axis = 0,
                    SourceLocation at = SourceLocation::current());
inline Tensor cat(std::initializer_list<Tensor> parts, int64_t axis = 0,
                  SourceLocation at = SourceLocation::current()) {
  return cat(std::span<const Tensor>(parts.begin(), parts.size()), axis, at);
}
/// Joined along a new axis. Error if shapes differ.
KILN_API Tensor stack(std::span<const Tensor> parts, int64_t axis = 0,
                      SourceLocation at = SourceLocation::current());
inline Tensor stack(std::initializer_list<Tensor> parts, int64_t axis = 0,
                    SourceLocation at = SourceLocation::current()) {
  return stack(std::span<const Tensor>(parts.begin(), parts.size()), axis, at);
}
/// Product of matrices [m, k] and [k, n]; vectors are a row on the left and a column on the right,
/// leading axes are batches and broadcast. Dtypes promote; not for bool. Error if the inner extents
/// differ or an operand is 0-d.
KILN_API Tensor matmul(const Tensor& a, const Tensor& b,
                       SourceLocation at = SourceLocation::current());

// ---- Creation -----------------------------------------------------------------------------------

/// Every element `value`. Without a dtype: bool, i64 or f32 by the number's kind. Error if it does
/// not fit.
KILN_API Tensor full(const Shape& shape, Scalar value, std::optional<DType> dtype = {},
                     SourceLocation at = SourceLocation::current());
KILN_API Tensor zeros(const Shape& shape, DType dtype = f32,
                      SourceLocation at = SourceLocation::current());
KILN_API Tensor ones(const Shape& shape, DType dtype = f32,
                     SourceLocation at = SourceLocation::current());
/// Shape of `a`, and its dtype unless given.
KILN_API Tensor full_like(const Tensor& a, Scalar value, std::optional<DType> dtype = {},
                          SourceLocation at = SourceLocation::current());
KILN_API Tensor zeros_like(const Tensor& a, std::optional<DType> dtype = {},
                           SourceLocation at = SourceLocation::current());
KILN_API Tensor ones_like(const Tensor& a, std::optional<DType> dtype = {},
                          SourceLocation at = SourceLocation::current());
/// start, start + step, ... before stop; floats computed in f64 and rounded once. Without a dtype:
/// i64, or f32 if a number is a float. Error for step 0, not for bool.
KILN_API Tensor arange(Scalar start, Scalar stop, Scalar step = 1, std::optional<DType> dtype = {},
                       SourceLocation at = SourceLocation::current());
/// From 0 with step 1.
KILN_API Tensor arange(Scalar stop, std::optional<DType> dtype = {},
                       SourceLocation at = SourceLocation::current());

}  // namespace kiln
