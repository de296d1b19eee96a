// Tensor: a cheap handle on a view of a storage. Copies of a handle and views alias, as in ATen.
// Operations are recorded; values are computed when something needs them.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/core/dtype.h"
#include "ir/core/shape.h"
#include "kiln/export.h"
#include "kiln/operand.h"
#include "kiln/slice.h"

namespace kiln::tracer {
class TensorImpl;
}

namespace kiln {

/// C++ types of tensor elements.
template <class T>
concept Element = std::same_as<T, bool> || std::same_as<T, int32_t> || std::same_as<T, int64_t> ||
                  std::same_as<T, float> || std::same_as<T, double>;

inline constexpr DType f32 = DType::F32;
inline constexpr DType f64 = DType::F64;
inline constexpr DType i32 = DType::I32;
inline constexpr DType i64 = DType::I64;
inline constexpr DType bool_ = DType::Bool;

/// Axes of a reduction; negative ones count from the end. None given: all axes.
class Axes {
 public:
  Axes() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Axes(T axis) : axes_{static_cast<int64_t>(axis)}, all_(false) {}
  Axes(std::initializer_list<int64_t> axes) : axes_(axes), all_(axes.size() == 0) {}
  explicit Axes(const Dims& axes) : axes_(axes), all_(false) {}

  bool all() const { return all_; }
  const Dims& list() const { return axes_; }

 private:
  Dims axes_;
  bool all_ = true;
};

namespace detail {
struct Access;

/// The line of a call, where `{}` must not mean one.
struct CallSite {
  CallSite(SourceLocation at) : at(at) {}
  SourceLocation at;
};
}  // namespace detail

class KILN_API Tensor {
 public:
  /// No tensor: every use but assignment and defined() raises Error.
  Tensor() = default;
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  ~Tensor();

  /// A copy of the elements, of rank 1 or of `shape` (row-major). Raises Error if the count and
  /// the shape differ.
  template <Element T>
  explicit Tensor(const std::vector<T>& values, detail::CallSite site = SourceLocation::current())
      : Tensor(values, Shape{static_cast<int64_t>(values.size())}, site.at) {}
  template <Element T>
  Tensor(const std::vector<T>& values, const Shape& shape,
         SourceLocation at = SourceLocation::current()) {
    if constexpr (std::same_as<T, bool>) {
      const std::unique_ptr<bool[]> copy(new bool[values.size()]);
      for (size_t i = 0; i < values.size(); ++i) copy[i] = values[i];
      copy_from(copy.get(), values.size(), bool_, shape, at);
    } else {
      copy_from(values.data(), values.size(), dtype_of<T>, shape, at);
    }
  }
  template <class T, size_t N>
    requires Element<std::remove_const_t<T>>
  explicit Tensor(std::span<T, N> values, detail::CallSite site = SourceLocation::current())
      : Tensor(values, Shape{static_cast<int64_t>(values.size())}, site.at) {}
  template <class T, size_t N>
    requires Element<std::remove_const_t<T>>
  Tensor(std::span<T, N> values, const Shape& shape,
         SourceLocation at = SourceLocation::current()) {
    copy_from(values.data(), values.size(), dtype_of<T>, shape, at);
  }
  /// {1.0f, 2.0f}: rank 1; {{1, 2}, {3, 4}}: rank 2, rows of equal length.
  template <Element T>
  Tensor(std::initializer_list<T> values, SourceLocation at = SourceLocation::current()) {
    copy_from(values.begin(), values.size(), dtype_of<T>,
              Shape{static_cast<int64_t>(values.size())}, at);
  }
  template <Element T>
  Tensor(std::initializer_list<std::initializer_list<T>> rows,
         SourceLocation at = SourceLocation::current()) {
    const size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
    const std::unique_ptr<T[]> copy(new T[rows.size() * width]);
    T* to = copy.get();
    for (const auto& row : rows) {
      if (row.size() != width) throw Error("tensor: rows of different lengths", at);
      for (T v : row) *to++ = v;
    }
    copy_from(copy.get(), rows.size() * width, dtype_of<T>,
              Shape{static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)}, at);
  }
  /// A 0-d tensor.
  template <Element T>
  explicit Tensor(T value, SourceLocation at = SourceLocation::current()) {
    copy_from(&value, 1, dtype_of<T>, Shape{}, at);
  }

  /// Makes the handle refer to what `other` refers to.
  Tensor& operator=(const Tensor& other) &;
  Tensor& operator=(Tensor&& other) & noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  /// x[{...}] = v writes through the view: v is broadcast to its shape and converted to its dtype.
  /// Raises Error where v does not broadcast, where it is of a higher kind (float into integer,
  /// integer into bool), or where elements of the view share memory; nothing changes then.
  void operator=(const Operand& value) &&;

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  /// Extent of an axis, negative counts from the end. Raises Error if there is no such axis.
  int64_t size(int64_t axis, SourceLocation at = SourceLocation::current()) const;
  int64_t dim() const { return static_cast<int64_t>(shape().size()); }
  int64_t numel() const { return kiln::numel(shape()); }
  DType dtype() const;
  /// In elements, over the storage.
  Dims strides() const;
  bool is_contiguous() const;

  // ---- Elementwise: shapes broadcast, dtypes promote; see ops.h.
#define KILN_UNARY(name, Op, doc) Tensor name(SourceLocation at = SourceLocation::current()) const;
#define KILN_BINARY(name, Op, doc) Tensor name(const Operand& other) const;
#include "kiln/elementwise.def"
#undef KILN_UNARY
#undef KILN_BINARY
  Tensor relu(SourceLocation at = SourceLocation::current()) const;
  Tensor square(SourceLocation at = SourceLocation::current()) const;
  Tensor clamp(const Operand& low, const Operand& high) const;
  /// The same values as `dtype`; this tensor itself if it has it. Float to integer truncates and
  /// saturates, NaN gives 0.
  Tensor to(DType dtype, SourceLocation at = SourceLocation::current()) const;

  // ---- In place, seen through all aliases. Shape and dtype stay; the result must not be of a
  // higher kind (float into integer, integer into bool).
  Tensor& operator+=(const Operand& other);
  Tensor& operator-=(const Operand& other);
  Tensor& operator*=(const Operand& other);
  Tensor& operator/=(const Operand& other);
  /// Overwrites every element, as x[{...}] = v does.
  Tensor& copy_(const Operand& value);

  // ---- Reductions; see ops.h.
  Tensor sum(const Axes& axes = {}, bool keepdim = false,
             SourceLocation at = SourceLocation::current()) const;
  Tensor prod(const Axes& axes = {}, bool keepdim = false,
              SourceLocation at = SourceLocation::current()) const;
  Tensor mean(const Axes& axes = {}, bool keepdim = false,
              SourceLocation at = SourceLocation::current()) const;
  Tensor amax(const Axes& axes = {}, bool keepdim = false,
              SourceLocation at = SourceLocation::current()) const;
  Tensor amin(const Axes& axes = {}, bool keepdim = false,
              SourceLocation at = SourceLocation::current()) const;
  Tensor var(const Axes& axes = {}, int64_t correction = 1, bool keepdim = false,
             SourceLocation at = SourceLocation::current()) const;
  Tensor std(const Axes& axes = {}, int64_t correction = 1, bool keepdim = false,
             SourceLocation at = SourceLocation::current()) const;
  Tensor argmax(std::optional<int64_t> axis = {}, bool keepdim = false,
                SourceLocation at = SourceLocation::current()) const;
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false,
                SourceLocation at = SourceLocation::current()) const;
  Tensor all(const Axes& axes = {}, bool keepdim = false,
             SourceLocation at = SourceLocation::current()) const;
  Tensor any(const Axes& axes = {}, bool keepdim = false,
             SourceLocation at = SourceLocation::current()) const;
  Tensor softmax(int64_t axis, SourceLocation at = SourceLocation::current()) const;
  Tensor matmul(const Tensor& other, SourceLocation at = SourceLocation::current()) const;

  // ---- Views: they alias this tensor.
  /// x[{Slice(1, -1), 3, NewAxis, Ellipsis}]. A position outside its axis raises Error.
  Tensor operator[](std::initializer_list<Index> indices) const;
  Tensor operator[](const Index& index) const;
  Tensor slice(int64_t axis, std::optional<int64_t> start, std::optional<int64_t> stop,
               int64_t step = 1, SourceLocation at = SourceLocation::current()) const;
  Tensor select(int64_t axis, int64_t position,
                SourceLocation at = SourceLocation::current()) const;
  /// Same elements in row-major order; one extent may be -1. A copy where strides allow no view.
  Tensor reshape(const Shape& shape, SourceLocation at = SourceLocation::current()) const;
  Tensor flatten(SourceLocation at = SourceLocation::current()) const;
  Tensor permute(const Dims& axes, SourceLocation at = SourceLocation::current()) const;
  Tensor transpose(int64_t a, int64_t b, SourceLocation at = SourceLocation::current()) const;
  /// Transpose of a matrix; a vector or scalar is itself.
  Tensor t(SourceLocation at = SourceLocation::current()) const;
  /// Drops an axis of extent 1, or all of them.
  Tensor squeeze(std::optional<int64_t> axis = {},
                 SourceLocation at = SourceLocation::current()) const;
  Tensor unsqueeze(int64_t axis, SourceLocation at = SourceLocation::current()) const;
  /// Repeats axes of extent 1 and adds leading ones; -1 keeps an extent.
  Tensor expand(const Shape& shape, SourceLocation at = SourceLocation::current()) const;
  Tensor flip(const Axes& axes, SourceLocation at = SourceLocation::current()) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t axis = 0,
                            SourceLocation at = SourceLocation::current()) const;

  /// A new storage with the same values.
  Tensor clone(SourceLocation at = SourceLocation::current()) const;
  /// Itself if its elements lie in row-major order without gaps, else a clone.
  Tensor contiguous(SourceLocation at = SourceLocation::current()) const;

  // ---- Values: these compute what is needed.
  /// The element of a one-element tensor. Raises Error if there are more, or if T cannot hold it.
  template <Element T>
  T item(SourceLocation at = SourceLocation::current()) const {
    if constexpr (std::floating_point<T>) return static_cast<T>(item_float(at));
    if constexpr (std::same_as<T, bool>) return item_float(at) != 0;
    if constexpr (std::integral<T> && !std::same_as<T, bool>)
      return static_cast<T>(item_int(sizeof(T), at));
  }
  /// All elements in row-major order. Raises Error unless T is the element type.
  template <Element T>
  std::vector<T> to_vector(SourceLocation at = SourceLocation::current()) const {
    if constexpr (std::same_as<T, bool>) {
      const std::unique_ptr<bool[]> copy(new bool[static_cast<size_t>(numel())]);
      copy_to(copy.get(), bool_, at);
      return std::vector<bool>(copy.get(), copy.get() + numel());
    } else {
      std::vector<T> values(static_cast<size_t>(numel()));
      copy_to(values.data(), dtype_of<T>, at);
      return values;
    }
  }
  /// The address of the first element; the tensor must be contiguous and T its element type. The
  /// storage stays at that address: later writes arrive there when they are evaluated. What was
  /// recorded before keeps the values of now, whatever the caller writes there.
  template <Element T>
  T* data(SourceLocation at = SourceLocation::current()) const {
    return static_cast<T*>(data_pointer(dtype_of<T>, at));
  }
  /// The same without a static type.
  void* data_pointer(DType dtype, SourceLocation at = SourceLocation::current()) const;
  /// Whether the one element is not zero, so that a value can be branched on.
  explicit operator bool() const;

 private:
  friend struct detail::Access;
  void copy_from(const void* values, size_t count, DType dtype, const Shape& shape,
                 const SourceLocation& at);
  void copy_to(void* values, DType dtype, const SourceLocation& at) const;
  double item_float(const SourceLocation& at) const;
  int64_t item_int(size_t bytes, const SourceLocation& at) const;

  tracer::TensorImpl* impl_ = nullptr;
};

/// A tensor over memory of the caller, not copied: contiguous, aligned to its elements, alive until
/// deleter(p) is called. Writes to the tensor arrive there when they are evaluated.
KILN_API Tensor from_blob(void* p, const Shape& shape, DType dtype,
                          std::function<void(void*)> deleter = {},
                          SourceLocation at = SourceLocation::current());
template <Element T>
Tensor from_blob(T* p, const Shape& shape, std::function<void(void*)> deleter = {},
                 SourceLocation at = SourceLocation::current()) {
  return from_blob(static_cast<void*>(p), shape, dtype_of<T>, std::move(deleter), at);
}

}  // namespace kiln
