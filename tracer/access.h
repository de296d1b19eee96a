// Host access to the elements of tensors: reading them, and giving their address away.
#pragma once

#include <shared_mutex>
#include <vector>

#include "tracer/evaluate.h"
#include "tracer/tensor_impl.h"

namespace kiln::tracer {

/// The computed elements of a tensor where they lie. While it exists nobody overwrites them.
class HostView {
 public:
  /// Computes what is needed.
  HostView(TensorImpl& t, SyncCause cause, const SourceLocation& at);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  /// Address of the element at `index`, one entry per axis.
  const std::byte* element(const Dims& index) const;
  /// Copies all elements in row-major order.
  void copy_to(std::byte* out) const;

 private:
  Memory memory_;
  std::vector<std::shared_lock<std::shared_mutex>> held_;
  Shape shape_;
  Dims strides_;
  int64_t offset_ = 0;
  DType dtype_;
};

/// Fixes the storage of a root whose value is evaluated and nobody else's at its address.
void pin(TensorImpl& root);

/// The address of the tensor's first element, which stays: computes the value, and gives values
/// that share the memory, or that were recorded before, memory of their own.
std::byte* fixed_address(TensorImpl& t, SyncCause cause, const SourceLocation& at);

}  // namespace kiln::tracer
