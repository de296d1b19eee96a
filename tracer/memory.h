// A counted block of memory: runtime::BufferRef for code that does not include the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "ir/core/error.h"

namespace kiln::runtime {
class Buffer;
}

namespace kiln::tracer {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory& o) : block_(o.block_ ? retain(o.block_) : nullptr) {}
  Memory(Memory&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  Memory& operator=(Memory o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~Memory() {
    if (block_) release(block_);
  }

  /// An uninitialised block for a result of `op`. Raises Error where memory is short.
  static Memory allocate(int64_t bytes, std::string_view op, const SourceLocation& at);
  /// A block over memory of the caller; deleter(p) is called once, when the last reference goes.
  static Memory borrow(void* p, int64_t bytes, std::function<void(void*)> deleter);

  explicit operator bool() const { return block_ != nullptr; }
  friend bool operator==(const Memory& a, const Memory& b) { return a.block_ == b.block_; }
  std::byte* data() const;
  /// True if this is the only reference.
  bool unique() const;

 private:
  friend struct MemoryAccess;
  static runtime::Buffer* retain(runtime::Buffer* block);
  static void release(runtime::Buffer* block);

  runtime::Buffer* block_ = nullptr;
};

}  // namespace kiln::tracer
