#include "tracer/tensor_impl.h"

#include <optional>

#include "tracer/pin.h"
#include "tracer/record.h"

namespace kiln::tracer {

using ir::Op;

TensorImpl* make_tensor(NodeRef value) {
  TensorImpl* t = Pool<TensorImpl>::take();
  t->root = t;
  t->value = std::move(value);
  t->refs_.store(1, std::memory_order_relaxed);
  return t;
}

void TensorImpl::recycle(TensorImpl* impl) {
  if (impl->is_view()) {
    TensorImpl* root = impl->root;
    impl->geometry.reset();
    impl->cached = NodeRef();
    impl->cached_version = 0;
    impl->root = impl;
    Pool<TensorImpl>::give(impl);
    release(root);
    return;
  }
  if (impl->pin) {
    impl->pin->target.store(nullptr);
    impl->pin.reset();
  }
  impl->value = NodeRef();
  impl->version.store(0, std::memory_order_relaxed);
  Pool<TensorImpl>::give(impl);
}

Geometry geometry_of(const TensorImpl& t) {
  if (t.geometry) return *t.geometry;
  Geometry g;
  g.shape = t.shape();
  g.strides = contiguous_strides(g.shape);
  return g;
}

// ---- Steps -------------------------------------------------------------------------------------

namespace {

/// Appends a step, joining it with the last where both are of one kind.
void append(std::vector<ViewStep>& steps, ViewStep step) {
  if (steps.empty() || steps.back().op != step.op) {
    steps.push_back(std::move(step));
    return;
  }
  ViewStep& last = steps.back();
  const size_t rank = step.attrs.size();
  switch (step.op) {
    case Op::Permute:
      for (size_t i = 0; i < rank; ++i)
        step.attrs[i] = last.attrs[static_cast<size_t>(step.attrs[i])];
      break;
    case Op::Slice:
      for (size_t i = 0; i < rank; ++i) {
        step.starts[i] = last.starts[i] + last.attrs[i] * step.starts[i];
        step.attrs[i] *= last.attrs[i];
      }
      break;
    default: break;  // the later reshape or expand alone gives the same
  }
  last = std::move(step);
}

TensorImpl* make_view(TensorImpl& of, Geometry g) {
  TensorImpl* v = make_tensor(NodeRef());
  of.root->retain();
  v->root = of.root;
  v->geometry = std::make_unique<Geometry>(std::move(g));
  return v;
}

NodeRef record_step(Node* a, const ViewStep& step, const SourceLocation& at) {
  switch (step.op) {
    case Op::Permute: return permute(a, step.attrs, at);
    case Op::Slice: return slice(a, step.shape, step.attrs, step.starts, at);
    case Op::Expand: return expand(a, step.shape, at);
    default: return reshape(a, step.shape, at);
  }
}

/// Strides of a view of other shape, by the rule of ATen: an axis of the new shape may split an old
/// one or join old ones that lie in memory as one.
std::optional<Dims> reshape_strides(const Geometry& g, const Shape& shape) {
  if (numel(g.shape) == 0) return contiguous_strides(shape);
  Dims strides(shape.size());
  size_t to = shape.size();
  int64_t old_elements = 1, new_elements = 1;
  int64_t base = g.shape.empty() ? 1 : g.strides.back();
  for (size_t from = g.shape.size(); from-- > 0;) {
    old_elements *= g.shape[from];
    const bool run_ends =
        from == 0 || (g.shape[from - 1] != 1 && g.strides[from - 1] != old_elements * base);
    if (!run_ends) continue;
    while (to > 0 && (new_elements < old_elements || shape[to - 1] == 1)) {
      strides[to - 1] = new_elements * base;
      new_elements *= shape[--to];
    }
    if (new_elements != old_elements) return std::nullopt;
    if (from > 0) {
      base = g.strides[from - 1];
      old_elements = new_elements = 1;
    }
  }
  while (to > 0) strides[--to] = new_elements * base;  // leading axes of a rank-0 tensor
  return strides;
}

}  // namespace

NodeRef read(TensorImpl& t, const SourceLocation& at) {
  if (!t.is_view()) return t.value;
  const uint64_t version = t.root->version.load(std::memory_order_acquire);
  {
    std::lock_guard lock(t.cache_lock);
    if (t.cached && t.cached_version == version) return t.cached;
  }
  NodeRef node = t.root->value;
  for (const ViewStep& step : t.geometry->steps) node = record_step(node.get(), step, at);
  NodeRef old;  // released after the lock
  std::lock_guard lock(t.cache_lock);
  old = std::move(t.cached);
  t.cached = node;
  t.cached_version = version;
  return node;
}

NodeRef value_to_evaluate(TensorImpl& t, const SourceLocation& at) {
  const TensorImpl& root = *t.root;
  const bool sees_less = t.is_view() && numel(t.shape()) < numel(root.value->shape);
  // What has a fixed address must arrive there.
  if (!sees_less || root.pin || root.value->state() == State::Evaluated) return root.value;
  return read(t, at);
}

// ---- Views -------------------------------------------------------------------------------------

TensorImpl* permute_view(TensorImpl& t, const Dims& axes) {
  Geometry g = geometry_of(t);
  const Geometry old = g;
  for (size_t i = 0; i < axes.size(); ++i) {
    g.shape[i] = old.shape[static_cast<size_t>(axes[i])];
    g.strides[i] = old.strides[static_cast<size_t>(axes[i])];
  }
  append(g.steps, {Op::Permute, g.shape, axes, {}});
  return make_view(t, std::move(g));
}

TensorImpl* slice_view(TensorImpl& t, const Shape& shape, const Dims& steps, const Dims& starts) {
  Geometry g = geometry_of(t);
  for (size_t i = 0; i < shape.size(); ++i) {
    g.offset += starts[i] * g.strides[i];
    g.strides[i] *= steps[i];
  }
  g.shape = shape;
  append(g.steps, {Op::Slice, shape, steps, starts});
  return make_view(t, std::move(g));
}

TensorImpl* expand_view(TensorImpl& t, const Shape& shape) {
  Geometry g = geometry_of(t);
  const size_t added = shape.size() - g.shape.size();
  Dims strides(shape.size(), 0);
  for (size_t i = 0; i < g.shape.size(); ++i)
    strides[added + i] = g.shape[i] == shape[added + i] ? g.strides[i] : 0;
  g.shape = shape;
  g.strides = strides;
  append(g.steps, {Op::Expand, shape, {}, {}});
  return make_view(t, std::move(g));
}

TensorImpl* reshape_view(TensorImpl& t, const Shape& shape) {
  Geometry g = geometry_of(t);
  const std::optional<Dims> strides = reshape_strides(g, shape);
  if (!strides) return nullptr;
  g.shape = shape;
  g.strides = *strides;
  append(g.steps, {Op::Reshape, shape, {}, {}});
  return make_view(t, std::move(g));
}

// ---- Writes ------------------------------------------------------------------------------------

namespace {

/// Whether a slice of `in` takes every element once.
bool covers(const Shape& in, const ViewStep& step) { return in == step.shape; }

Dims inverse_permutation(const Dims& axes) {
  Dims inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    inverse[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return inverse;
}

/// Refuses an expanded axis: its elements are one in memory.
void check_no_overlap(const std::vector<ViewStep>& steps, const Shape& base, std::string_view op,
                      const SourceLocation& at) {
  const Shape* in = &base;
  for (const ViewStep& step : steps) {
    if (step.op == Op::Expand && numel(*in) != numel(step.shape))
      fail(op,
           "cannot write through a view expanded from " + to_string(*in) + " to " +
               to_string(step.shape) + ": its elements share memory",
           at);
    in = &step.shape;
  }
}

/// The storage's value with `value` written through the steps.
NodeRef write_back(const NodeRef& base, const std::vector<ViewStep>& steps, NodeRef value,
                   const SourceLocation& at) {
  // before[i]: the old value that step i reads; only slices that leave something need it.
  size_t needed = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i].op == Op::Slice && !covers(i ? steps[i - 1].shape : base->shape, steps[i]))
      needed = i + 1;
  std::vector<NodeRef> before;
  for (size_t i = 0; i < needed; ++i)
    before.push_back(i ? record_step(before.back().get(), steps[i - 1], at) : base);

  for (size_t i = steps.size(); i-- > 0;) {
    const ViewStep& step = steps[i];
    const Shape& in = i ? steps[i - 1].shape : base->shape;
    if (step.op == Op::Permute) {
      value = permute(value.get(), inverse_permutation(step.attrs), at);
    } else if (step.op != Op::Slice) {
      value = reshape(value.get(), in, at);  // an expand that adds axes of extent 1 only, too
    } else if (covers(in, step)) {
      value = slice(value.get(), in, step.attrs, step.starts, at);  // a flip undoes itself
    } else {
      value = slice_scatter(before[i].get(), value.get(), step.attrs, step.starts, at);
    }
  }
  return value;
}

}  // namespace

void write(TensorImpl& t, Node* value, std::string_view op, const SourceLocation& at) {
  if (!t.is_view()) return set_value(t, expand(value, t.shape(), at), at);
  check_no_overlap(t.geometry->steps, t.root->value->shape, op, at);
  set_value(*t.root, write_back(t.root->value, t.geometry->steps, expand(value, t.shape(), at), at),
            at);
}

void set_value(TensorImpl& root, NodeRef value, const SourceLocation& at) {
  if (root.pin) {
    // The fixed address needs a node of its own.
    if (value->refs() != 1 || value->state() != State::Lazy)
      value = reshape(value.get(), value->shape, at);
    value->more().pin = root.pin;
    root.pin->target.store(value.get());
  }
  NodeRef old = std::exchange(root.value, std::move(value));
  root.version.fetch_add(1, std::memory_order_release);
}

}  // namespace kiln::tracer
