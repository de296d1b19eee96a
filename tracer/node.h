// Lazy nodes: one recorded operation each, immutable but for how far it has been evaluated.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/scalar.h"
#include "ir/op.h"
#include "tracer/memory.h"
#include "tracer/pool.h"
#include "tracer/spin_lock.h"

namespace kiln::tracer {

class Node;
class NodeRef;
class Pending;
struct Pin;
struct Origin;

/// How far a node is. Lazy nodes have operands; InFlight ones too, and somebody computes them;
/// Evaluated ones have memory; Failed ones have an error.
enum class State : uint8_t { Lazy, InFlight, Evaluated, Failed };

/// An operand is a node or the bits of a host scalar.
union NodeOperand {
  Node* node;
  uint64_t bits;
};

/// What only some nodes have.
struct NodeExtra {
  Dims attrs;                // as in ir::Node
  Dims starts;               // Slice, SliceScatter: the start per axis
  std::vector<Node*> more;   // operands of Cat
  std::shared_ptr<Pin> pin;  // its storage has a fixed address
};

class Node {
 public:
  static constexpr int max_operands = 3;

  // Fixed when recorded.
  ir::Op op{};
  DType dtype{};
  DType scalar_dtype{};      // of all scalar operands
  uint8_t num_operands = 0;  // in `operands`
  uint8_t scalar_mask = 0;   // operands that are scalars
  uint8_t const_mask = 0;    // scalars that are part of the program, not arguments
  Shape shape;
  SourceLocation at;

  /// Fired before, live, but not stored: the next firing stores it.
  std::atomic<bool> fired{false};

  State state() const { return state_.load(std::memory_order_acquire); }
  /// Requires lock() where others may know the node.
  void set_state(State s) { state_.store(s, std::memory_order_release); }

  // Guarded by `lock` once others know the node. Operands go when it is evaluated.
  SpinLock lock;
  NodeOperand operands[max_operands]{};
  Memory memory;
  std::shared_ptr<Pending> job;      // InFlight: who computes it; Failed: the error
  std::unique_ptr<NodeExtra> extra;  // fixed when recorded, but for the operands in it
  std::shared_ptr<const Origin> origin;

  bool is_scalar(int i) const { return (scalar_mask >> i & 1) != 0; }
  int64_t numel() const { return kiln::numel(shape); }
  int64_t bytes() const { return numel() * static_cast<int64_t>(size_of(dtype)); }
  NodeExtra& more() {
    if (!extra) extra = std::make_unique<NodeExtra>();
    return *extra;
  }
  const Dims& attrs() const { return extra ? extra->attrs : no_dims; }
  const Dims& starts() const { return extra ? extra->starts : no_dims; }

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Also frees, without recursion, the operands that nobody else refers to.
  static void release(Node* node) {
    if (node->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node);
  }
  int32_t refs() const { return refs_.load(std::memory_order_relaxed); }

  /// A reference to the node that had this generation, or null if it is gone.
  static NodeRef try_retain(Node* node, uint32_t generation);
  uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }

  /// A node with no operands yet; the caller fills it in before others see it.
  static NodeRef make(ir::Op op, DType dtype, const Shape& shape, const SourceLocation& at);

  // For the pool.
  Node* next_free = nullptr;

 private:
  static void destroy(Node* node);
  static const Dims no_dims;

  std::atomic<State> state_{State::Lazy};
  std::atomic<int32_t> refs_{0};
  std::atomic<uint32_t> generation_{0};
};

/// A counted reference to a node, or null.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* node) : node_(node) {
    if (node_) node_->retain();
  }
  static NodeRef adopt(Node* counted) {
    NodeRef r;
    r.node_ = counted;
    return r;
  }
  NodeRef(const NodeRef& o) : NodeRef(o.node_) {}
  NodeRef(NodeRef&& o) noexcept : node_(std::exchange(o.node_, nullptr)) {}
  NodeRef& operator=(NodeRef o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_) Node::release(node_);
  }
  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  Node* detach() { return std::exchange(node_, nullptr); }

 private:
  Node* node_ = nullptr;
};

inline NodeRef Node::make(ir::Op op, DType dtype, const Shape& shape, const SourceLocation& at) {
  Node* n = Pool<Node>::take();
  n->op = op;
  n->dtype = dtype;
  n->scalar_dtype = dtype;
  n->num_operands = n->scalar_mask = n->const_mask = 0;
  n->shape = shape;
  n->at = at;
  n->state_.store(State::Lazy, std::memory_order_relaxed);
  n->fired.store(false, std::memory_order_relaxed);
  n->generation_.store(n->generation() + 1, std::memory_order_relaxed);
  n->refs_.store(1, std::memory_order_release);
  return NodeRef::adopt(n);
}

/// Takes the operands off an evaluated node, under its lock; the caller releases them after.
void take_operands(Node& node, std::vector<Node*>& into);

}  // namespace kiln::tracer
