#include "tracer/node.h"

#include "tracer/pending.h"
#include "tracer/pin.h"

namespace kiln::tracer {

const Dims Node::no_dims{};

NodeRef Node::try_retain(Node* node, uint32_t generation) {
  int32_t refs = node->refs_.load(std::memory_order_acquire);
  do {
    if (refs == 0 || node->generation() != generation) return {};
  } while (!node->refs_.compare_exchange_weak(refs, refs + 1, std::memory_order_acq_rel));
  NodeRef held = NodeRef::adopt(node);
  // It may have been recycled between the two looks.
  return node->generation() == generation ? held : NodeRef();
}

void take_operands(Node& node, std::vector<Node*>& into) {
  for (int i = 0; i < node.num_operands; ++i) {
    if (node.is_scalar(i) || !node.operands[i].node) continue;
    into.push_back(std::exchange(node.operands[i].node, nullptr));
  }
  if (!node.extra) return;
  for (Node*& n : node.extra->more)
    if (n) into.push_back(std::exchange(n, nullptr));
}

/// Ends a node that nobody refers to. Its operands are left to the caller.
static void recycle(Node* node) {
  if (node->extra) {
    if (node->extra->pin) node->extra->pin->forget(node);
    node->extra.reset();
  }
  node->memory = Memory();
  node->origin.reset();
  node->job.reset();
  Pool<Node>::give(node);
}

void Node::destroy(Node* node) {
  // The nodes that wait to be ended are linked through next_free: no recursion, no allocation.
  node->next_free = nullptr;
  Node* pending = node;
  const auto drop = [&](Node*& operand) {
    Node* n = std::exchange(operand, nullptr);
    if (n && n->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      n->next_free = pending;
      pending = n;
    }
  };
  while (pending) {
    Node* n = pending;
    pending = n->next_free;
    for (int i = 0; i < n->num_operands; ++i)
      if (!n->is_scalar(i)) drop(n->operands[i].node);
    if (n->extra)
      for (Node*& operand : n->extra->more) drop(operand);
    recycle(n);
  }
}

}  // namespace kiln::tracer
