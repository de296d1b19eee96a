// Elements of tensors for the host: item, to_vector, data, copies.
#include <cmath>
#include <cstring>
#include <limits>

#include "api/internal.h"
#include "runtime/stats.h"
#include "tracer/access.h"

namespace kiln {

using detail::Access;
using detail::fail;
using tracer::HostView;

namespace {

void check_type(std::string_view op, DType asked, DType has, const SourceLocation& at) {
  if (asked != has)
    fail(op, "the tensor is " + std::string(name(has)) + ", not " + std::string(name(asked)), at);
}

/// Calls f with the one element.
template <class F>
auto with_item(const Tensor& t, const SourceLocation& at, F f) {
  tracer::TensorImpl& impl = Access::impl(t, "item", at);
  if (numel(impl.shape()) != 1)
    fail("item", "the tensor has shape " + to_string(impl.shape()) + ", not one element", at);
  const HostView view(impl, SyncCause::Item, at);
  const std::byte* element = view.element(Dims(impl.shape().size(), 0));
  return dispatch(impl.dtype(), [&]<class T>(T) {
    T v;
    std::memcpy(&v, element, sizeof v);
    return f(v);
  });
}

}  // namespace

double Tensor::item_float(const SourceLocation& at) const {
  return with_item(*this, at, [](auto v) { return static_cast<double>(v); });
}

int64_t Tensor::item_int(size_t bytes, const SourceLocation& at) const {
  const int64_t highest =
      bytes == 8 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
  return with_item(*this, at, [&]<class T>(T v) -> int64_t {
    bool fits = true;
    if constexpr (std::is_floating_point_v<T>) {
      const double d = static_cast<double>(v), limit = bytes == 8 ? 0x1p63 : 0x1p31;
      fits = std::trunc(d) >= -limit && std::trunc(d) < limit;  // false for NaN
    } else {
      const int64_t i = static_cast<int64_t>(v);
      fits = i <= highest && i >= -highest - 1;
    }
    if (!fits)
      fail("item",
           std::to_string(v) + " does not fit an integer of " + std::to_string(bytes) + " bytes",
           at);
    return static_cast<int64_t>(v);
  });
}

Tensor::operator bool() const {
  return with_item(*this, SourceLocation(), [](auto v) { return v != 0; });
}

void Tensor::copy_to(void* values, DType dtype, const SourceLocation& at) const {
  tracer::TensorImpl& impl = Access::impl(*this, "to_vector", at);
  check_type("to_vector", dtype, impl.dtype(), at);
  HostView(impl, SyncCause::ToVector, at).copy_to(static_cast<std::byte*>(values));
}

void* Tensor::data_pointer(DType dtype, SourceLocation at) const {
  tracer::TensorImpl& impl = Access::impl(*this, "data", at);
  check_type("data", dtype, impl.dtype(), at);
  if (!is_contiguous())
    fail("data",
         "shape " + to_string(impl.shape()) + " with strides " + to_string(strides()) +
             " is not contiguous; take contiguous() first",
         at);
  return tracer::fixed_address(impl, SyncCause::Data, at);
}

Tensor Tensor::clone(SourceLocation at) const {
  tracer::TensorImpl& impl = Access::impl(*this, "clone", at);
  if (!impl.root->pin) return detail::tensor_of(tracer::read(impl, at));
  // The caller may write at the fixed address at any time: copy now.
  const HostView view(impl, SyncCause::Copy, at);
  const int64_t bytes = kiln::numel(impl.shape()) * static_cast<int64_t>(size_of(impl.dtype()));
  tracer::Memory copy = tracer::Memory::allocate(bytes, "clone", at);
  view.copy_to(copy.data());
  return detail::tensor_of(tracer::leaf(std::move(copy), impl.dtype(), impl.shape(), at));
}

Tensor Tensor::contiguous(SourceLocation at) const { return is_contiguous() ? *this : clone(at); }

}  // namespace kiln
