// Tensors: storages and the views on them. A storage has a current value, a node; a write makes a
// new value of the whole storage; a read takes the value at the time of recording.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tracer/node.h"

namespace kiln::tracer {

/// One step from a storage's value to a view's.
struct ViewStep {
  ir::Op op;    // Reshape, Permute, Slice or Expand
  Shape shape;  // after the step
  Dims attrs;   // as in ir::Node
  Dims starts;  // Slice
};

/// Which elements a view sees, as steps (how reads and writes are recorded) and as strides over the
/// contiguous storage (which reshapes are views, where the elements lie in memory).
struct Geometry {
  Shape shape;
  Dims strides;        // in elements
  int64_t offset = 0;  // in elements
  std::vector<ViewStep> steps;
};

class TensorImpl {
 public:
  // A root is its own storage; a view refers to its root.
  TensorImpl* root = this;

  // Of roots.
  std::atomic<uint64_t> version{0};
  NodeRef value;
  std::shared_ptr<Pin> pin;
  std::mutex pinning;  // one data<T>() at a time

  // Of views.
  std::unique_ptr<Geometry> geometry;
  SpinLock cache_lock;
  uint64_t cached_version = 0;
  NodeRef cached;

  bool is_view() const { return root != this; }
  const Shape& shape() const { return geometry ? geometry->shape : value->shape; }
  DType dtype() const { return root->value->dtype; }

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  static void release(TensorImpl* impl) {
    if (impl->refs_.load(std::memory_order_acquire) == 1 ||
        impl->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      recycle(impl);
  }

  // For the pool.
  TensorImpl* next_free = nullptr;

 private:
  friend TensorImpl* make_tensor(NodeRef value);
  static void recycle(TensorImpl* impl);
  std::atomic<int32_t> refs_{0};
};

/// A new storage with this value; the caller owns one reference. (So do all functions here that
/// return a TensorImpl*.)
TensorImpl* make_tensor(NodeRef value);

/// The tensor's value now.
NodeRef read(TensorImpl& t, const SourceLocation& at);

/// The node to evaluate so that the tensor's elements are there: the storage's value, or for a view
/// that sees less than that, what it sees.
NodeRef value_to_evaluate(TensorImpl& t, const SourceLocation& at);

/// How the tensor lies in its storage.
Geometry geometry_of(const TensorImpl& t);

/// Views. The arguments are right: callers have checked them.
TensorImpl* permute_view(TensorImpl& t, const Dims& axes);
/// Every steps[i]-th element from starts[i] on; `shape` tells how many.
TensorImpl* slice_view(TensorImpl& t, const Shape& shape, const Dims& steps, const Dims& starts);
TensorImpl* expand_view(TensorImpl& t, const Shape& shape);
/// Null if the strides do not allow a view of that shape.
TensorImpl* reshape_view(TensorImpl& t, const Shape& shape);

/// Writes `value` (the tensor's dtype, a shape that broadcasts to the tensor's) through the tensor
/// to its storage. Raises Error, and changes nothing, where elements of the view overlap.
void write(TensorImpl& t, Node* value, std::string_view op, const SourceLocation& at);

/// Makes `value` the storage's whole value.
void set_value(TensorImpl& root, NodeRef value, const SourceLocation& at);

}  // namespace kiln::tracer
