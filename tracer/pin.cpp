#include "tracer/pin.h"

#include <cstring>

namespace kiln::tracer {

NodeRef Pin::holder() {
  std::lock_guard lock(mutex_);
  return holder_ ? Node::try_retain(holder_, generation_) : NodeRef();
}

void Pin::set_holder(Node* node) {
  std::lock_guard lock(mutex_);
  holder_ = node;
  generation_ = node ? node->generation() : 0;
}

void Pin::forget(Node* node) {
  std::lock_guard lock(mutex_);
  if (holder_ == node) holder_ = nullptr;
}

std::shared_ptr<Pin> pin_of(Node& node) {
  std::lock_guard lock(node.lock);
  return node.extra ? node.extra->pin : nullptr;
}

void move_away(Pin& pin, const NodeRef& holder) {
  Memory copy;
  if (holder->refs() > 1) {
    copy = Memory::allocate(holder->bytes(), ir::name(holder->op), holder->at);
    std::memcpy(copy.data(), pin.memory.data(), static_cast<size_t>(holder->bytes()));
  }
  std::lock_guard lock(holder->lock);
  std::swap(holder->memory, copy);  // the old reference goes after the lock
  holder->extra->pin.reset();
}

void settle(Node& node) {
  const std::shared_ptr<Pin> pin = pin_of(node);
  if (!pin || pin->target.load() != &node) return;
  std::unique_lock exclusive(pin->use);
  Memory fresh;
  {
    std::lock_guard lock(node.lock);
    if (node.state() != State::Evaluated || node.memory == pin->memory) return;
    fresh = node.memory;
  }
  if (const NodeRef holder = pin->holder()) move_away(*pin, holder);
  std::memcpy(pin->memory.data(), fresh.data(), static_cast<size_t>(node.bytes()));
  pin->set_holder(&node);
  Memory old = pin->memory;
  std::lock_guard lock(node.lock);
  std::swap(node.memory, old);
}

Memory read_memory(Node& node, std::vector<std::shared_lock<std::shared_mutex>>& held) {
  const std::shared_ptr<Pin> pin = pin_of(node);
  std::shared_lock<std::shared_mutex> shared;
  if (pin) shared = std::shared_lock(pin->use);
  std::lock_guard lock(node.lock);
  if (pin && node.memory == pin->memory) held.push_back(std::move(shared));
  return node.memory;
}

}  // namespace kiln::tracer
