#include "tracer/access.h"

#include <cstring>

#include "tracer/pin.h"
#include "tracer/record.h"

namespace kiln::tracer {

HostView::HostView(TensorImpl& t, SyncCause cause, const SourceLocation& at)
    : shape_(t.shape()), strides_(contiguous_strides(shape_)), dtype_(t.dtype()) {
  const NodeRef node = value_to_evaluate(t, at);
  Node* wanted = node.get();
  evaluate({&wanted, 1}, cause, at);
  memory_ = read_memory(*node, held_);
  if (t.is_view() && wanted == t.root->value.get()) {
    strides_ = t.geometry->strides;
    offset_ = t.geometry->offset;
  }
}

const std::byte* HostView::element(const Dims& index) const {
  int64_t position = offset_;
  for (size_t i = 0; i < index.size(); ++i) position += index[i] * strides_[i];
  return memory_.data() + position * static_cast<int64_t>(size_of(dtype_));
}

void HostView::copy_to(std::byte* out) const {
  const int64_t n = numel(shape_);
  if (n == 0) return;
  const size_t size = size_of(dtype_);
  if (is_contiguous(shape_, strides_)) {
    std::memcpy(out, memory_.data() + offset_ * static_cast<int64_t>(size),
                static_cast<size_t>(n) * size);
    return;
  }
  Dims index(shape_.size(), 0);
  const int64_t row = shape_.back(), stride = strides_.back() * static_cast<int64_t>(size);
  for (int64_t done = 0; done < n; done += row) {
    const std::byte* from = element(index);
    for (int64_t i = 0; i < row; ++i, from += stride, out += size) std::memcpy(out, from, size);
    for (size_t axis = shape_.size() - 1; axis-- > 0;) {
      if (++index[axis] < shape_[axis]) break;
      index[axis] = 0;
    }
  }
}

void pin(TensorImpl& root) {
  const auto pin = std::make_shared<Pin>(root.value->memory);
  pin->set_holder(root.value.get());
  pin->target.store(root.value.get());
  root.value->more().pin = pin;
  root.pin = pin;
}

namespace {

void set_leaf(TensorImpl& root, NodeRef leaf) {
  leaf->origin = root.value->origin;
  root.value = std::move(leaf);
  root.version.fetch_add(1, std::memory_order_release);  // views read the new node
}

/// Gives the storage's value a node and memory that nothing else refers to.
void unshare(TensorImpl& root, const SourceLocation& at) {
  Node& value = *root.value;
  if (value.refs() == 1 && value.memory.unique()) return;
  Memory copy = Memory::allocate(value.bytes(), "data", at);
  {
    std::vector<std::shared_lock<std::shared_mutex>> held;
    const Memory from = read_memory(value, held);
    std::memcpy(copy.data(), from.data(), static_cast<size_t>(value.bytes()));
  }
  set_leaf(root, leaf(std::move(copy), value.dtype, value.shape, value.at));
}

/// Moves what refers to the value at the fixed address to other memory.
void keep_earlier_reads(TensorImpl& root) {
  const NodeRef old = root.value;
  if (old->refs() == 2) return;  // the storage and `old`
  NodeRef fresh = leaf(root.pin->memory, old->dtype, old->shape, old->at);
  fresh->more().pin = root.pin;
  {
    std::unique_lock exclusive(root.pin->use);
    move_away(*root.pin, old);
    root.pin->set_holder(fresh.get());
    root.pin->target.store(fresh.get());
  }
  set_leaf(root, std::move(fresh));
}

}  // namespace

std::byte* fixed_address(TensorImpl& t, SyncCause cause, const SourceLocation& at) {
  TensorImpl& root = *t.root;
  std::lock_guard lock(root.pinning);
  Node* value = root.value.get();
  evaluate({&value, 1}, cause, at);
  if (!root.pin) {
    unshare(root, at);
    pin(root);
  } else {
    settle(*value);
    keep_earlier_reads(root);
  }
  const int64_t offset = t.geometry ? t.geometry->offset : 0;
  return root.pin->memory.data() + offset * static_cast<int64_t>(size_of(root.value->dtype));
}

}  // namespace kiln::tracer
