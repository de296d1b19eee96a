// A storage whose address is fixed: data<T>() gave it away, or the memory is the user's.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>

#include "tracer/node.h"

namespace kiln::tracer {

struct Pin {
  explicit Pin(Memory m) : memory(std::move(m)) {}

  const Memory memory;
  /// Shared while kernels read the memory, exclusive while it is overwritten.
  std::shared_mutex use;
  /// The storage's current value: when evaluated it goes to `memory`.
  std::atomic<Node*> target{nullptr};

  /// The node whose value the memory holds, or null.
  NodeRef holder();
  void set_holder(Node* node);
  /// `node` ends.
  void forget(Node* node);

 private:
  std::mutex mutex_;
  Node* holder_ = nullptr;  // weak: it calls forget() before it ends
  uint32_t generation_ = 0;
};

/// Brings an evaluated value to its storage's fixed address if it is not there yet. A value that
/// lies there and is still needed is moved away first. Raises Error where memory is short.
void settle(Node& node);

/// Gives the node that holds the pin's memory other memory if somebody else refers to it. Call it
/// with `use` locked. Raises Error where memory is short.
void move_away(Pin& pin, const NodeRef& holder);

/// The memory of an evaluated node, with the pin locked for reading if it is at a fixed address.
Memory read_memory(Node& node, std::vector<std::shared_lock<std::shared_mutex>>& held);

/// The node's pin, or null.
std::shared_ptr<Pin> pin_of(Node& node);

}  // namespace kiln::tracer
