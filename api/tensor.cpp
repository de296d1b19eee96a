// Handles: life, properties, construction from host memory.
#include "kiln/tensor.h"

#include <cstring>

#include "api/internal.h"
#include "tracer/access.h"

namespace kiln {

using detail::Access;
using tracer::Memory;

Tensor::Tensor(const Tensor& other) : impl_(other.impl_) {
  if (impl_) impl_->retain();
}

Tensor::~Tensor() {
  if (impl_) tracer::TensorImpl::release(impl_);
}

Tensor& Tensor::operator=(const Tensor& other) & {
  Tensor copy = other;
  std::swap(impl_, copy.impl_);
  return *this;
}

const Shape& Tensor::shape() const {
  return Access::impl(*this, "shape", SourceLocation()).shape();
}

DType Tensor::dtype() const { return Access::impl(*this, "dtype", SourceLocation()).dtype(); }

int64_t Tensor::size(int64_t axis, SourceLocation at) const {
  const Shape& shape = Access::impl(*this, "size", at).shape();
  return shape[static_cast<size_t>(detail::check_axis("size", axis, shape.size(), at))];
}

Dims Tensor::strides() const {
  return tracer::geometry_of(Access::impl(*this, "strides", SourceLocation())).strides;
}

bool Tensor::is_contiguous() const {
  const tracer::TensorImpl& impl = Access::impl(*this, "is_contiguous", SourceLocation());
  return !impl.geometry || kiln::is_contiguous(impl.geometry->shape, impl.geometry->strides);
}

void Tensor::copy_from(const void* values, size_t count, DType dtype, const Shape& shape,
                       const SourceLocation& at) {
  tracer::check_shape("tensor", shape, at);
  if (static_cast<size_t>(kiln::numel(shape)) != count)
    detail::fail("tensor", std::to_string(count) + " values do not fill shape " + to_string(shape),
                 at);
  const size_t bytes = count * size_of(dtype);
  Memory memory = Memory::allocate(static_cast<int64_t>(bytes), "tensor", at);
  if (bytes) std::memcpy(memory.data(), values, bytes);
  Access::replace(*this, tracer::make_tensor(tracer::leaf(std::move(memory), dtype, shape, at)));
}

Tensor from_blob(void* p, const Shape& shape, DType dtype, std::function<void(void*)> deleter,
                 SourceLocation at) {
  tracer::check_shape("from_blob", shape, at);
  if (!info(dtype).available)
    detail::fail("from_blob", "dtype " + std::string(name(dtype)) + " is not available", at);
  const int64_t n = numel(shape);
  if (!p && n > 0) detail::fail("from_blob", "null pointer for shape " + to_string(shape), at);
  if (reinterpret_cast<uintptr_t>(p) % size_of(dtype) != 0)
    detail::fail("from_blob",
                 "the address is not aligned to " + std::string(name(dtype)) + " elements", at);
  const int64_t bytes = n * static_cast<int64_t>(size_of(dtype));
  if (!deleter) deleter = [](void*) {};
  Memory memory = Memory::borrow(p, bytes, std::move(deleter));
  Tensor t = detail::tensor_of(tracer::leaf(memory, dtype, shape, at));
  tracer::pin(Access::impl(t, "from_blob", at));
  return t;
}

}  // namespace kiln
