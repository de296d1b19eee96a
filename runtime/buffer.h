// Memory of tensors: reference-counted buffers from a caching allocator.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <utility>

namespace kiln::runtime {

inline constexpr int64_t buffer_alignment = 64;

/// A request beyond the memory limit, or one that the system refused.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(int64_t requested, int64_t limit);
  int64_t requested() const { return requested_; }  // bytes
  int64_t limit() const { return limit_; }          // bytes

 private:
  int64_t requested_;
  int64_t limit_;
};

/// A block of memory. Made by allocate() and borrow(); held through BufferRef.
class Buffer {
 public:
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }  // bytes asked for
  bool is_borrowed() const { return kind_ == Kind::Borrowed; }
  /// True if the caller's reference is the only one.
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }

 private:
  friend class BufferRef;
  friend struct BufferAccess;
  enum class Kind : uint8_t { Small, Large, Guarded, Borrowed };

  Buffer() = default;
  Buffer(const Buffer&) = delete;
  static void recycle(Buffer* b);  // the last reference went

  std::atomic<int32_t> refs_{0};
  Kind kind_ = Kind::Small;
  int16_t size_class_ = -1;  // -1: not cached when freed
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
  // In a free list: neighbours, and when it was freed.
  Buffer* next_ = nullptr;
  Buffer* previous_ = nullptr;
  uint64_t freed_at_ = 0;
  std::function<void(void*)> deleter_;
};

/// A counted reference to a Buffer, or null.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& o) : b_(o.b_) {
    if (b_) b_->refs_.fetch_add(1, std::memory_order_relaxed);
  }
  BufferRef(BufferRef&& o) noexcept : b_(std::exchange(o.b_, nullptr)) {}
  BufferRef& operator=(BufferRef o) noexcept {
    std::swap(b_, o.b_);
    return *this;
  }
  ~BufferRef() {
    if (b_ && b_->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Buffer::recycle(b_);
  }

  Buffer* get() const { return b_; }
  Buffer* operator->() const { return b_; }
  Buffer& operator*() const { return *b_; }
  explicit operator bool() const { return b_ != nullptr; }
  friend bool operator==(const BufferRef&, const BufferRef&) = default;

  /// Gives the counted reference up; adopt() takes it back.
  Buffer* detach() { return std::exchange(b_, nullptr); }
  static BufferRef adopt(Buffer* counted) {
    BufferRef r;
    r.b_ = counted;
    return r;
  }

 private:
  friend struct BufferAccess;
  explicit BufferRef(Buffer* fresh) : b_(fresh) { b_->refs_.store(1, std::memory_order_relaxed); }
  Buffer* b_ = nullptr;
};

/// An uninitialised buffer of `bytes` >= 0, aligned to buffer_alignment; blocks of 2 MiB and more
/// to 2 MiB, in large pages where the system has them. Throws OutOfMemory beyond the limit.
BufferRef allocate(int64_t bytes);

/// A buffer over memory of the caller, who keeps it alive until deleter(p) is called, once, when
/// the last reference goes. The deleter must not throw. Any alignment.
BufferRef borrow(void* p, int64_t bytes, std::function<void(void*)> deleter);

/// Bytes that buffers may take, cached ones included.
int64_t memory_limit();
/// 0 takes the limit from the control group and the RAM.
void set_memory_limit(int64_t bytes);

/// Gives the blocks that the central cache and the calling thread's cache hold back to the system.
void release_cached_buffers();

/// For tests: each later allocation lies between inaccessible pages and ends, rounded up to
/// buffer_alignment, where the second begins. It is filled with 0xFB bytes, as are the gaps.
void set_guard_pages(bool on);
/// Guarded buffers so far whose gap after or before the data was found changed when freed.
int64_t guard_violations();

}  // namespace kiln::runtime
