// The caching allocator: size classes, four to the octave; small blocks in a free list per thread,
// all others in a central list per class, the oldest of which go back to the system first.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "ir/core/error.h"
#include "ir/core/settings.h"
#include "runtime/buffer.h"
#include "runtime/counters.h"
#include "runtime/memory_limit.h"

namespace kiln::runtime {
namespace {

constexpr int64_t large_block = int64_t{2} << 20;  // from here own mappings, in large pages
constexpr int num_classes = 4 + (47 - 8) * 4;
constexpr int num_thread_classes = 4 + (16 - 8) * 4;  // up to 64 KiB
constexpr int64_t thread_class_bytes = 256 << 10;     // most that a thread keeps per class
constexpr int64_t thread_cache_bytes = 4 << 20;       // and in all
constexpr int guard_fill = 0xFB;                      // a NaN in every float format

constexpr int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Class of a request: multiples of 64 up to 256, then quarters of an octave.
constexpr int class_of(int64_t bytes) {
  if (bytes <= 256) return bytes <= 64 ? 0 : static_cast<int>((bytes - 1) / 64);
  const int octave = std::bit_width(static_cast<uint64_t>(bytes - 1)) - 1;
  const int quarter = static_cast<int>((bytes - 1) >> (octave - 2) & 3);
  return 4 + (octave - 8) * 4 + quarter;
}

constexpr int64_t class_bytes(int size_class) {
  if (size_class < 4) return 64 * (size_class + 1);
  const int octave = 8 + (size_class - 4) / 4;
  return int64_t{5 + (size_class - 4) % 4} << (octave - 2);
}

static_assert(class_of(257) == 4 && class_bytes(4) == 320 && class_of(512) == 7);
static_assert(class_bytes(class_of(large_block)) == large_block);
static_assert(class_bytes(num_thread_classes - 1) == 64 << 10);

}  // namespace

/// The allocator's view of Buffer and BufferRef.
struct BufferAccess {
  using Kind = Buffer::Kind;

  /// Freed blocks of one class: newest first.
  struct FreeList {
    std::mutex mutex;
    Buffer* newest = nullptr;
    Buffer* oldest = nullptr;
    std::atomic<int32_t> size{0};
  };

  struct ThreadCache {
    std::array<Buffer*, num_thread_classes> head{};
    std::array<int16_t, num_thread_classes> size{};
    int64_t bytes = 0;
  };

  struct Heap {
    std::array<FreeList, num_classes> free;
    std::atomic<int64_t> system_bytes{0};  // live and cached
    std::atomic<int64_t> cached_bytes{0};  // in `free`
    std::atomic<int64_t> limit{0};
    std::atomic<uint64_t> clock{0};
    std::atomic<bool> guard{false};
    std::atomic<int64_t> violations{0};
    Heap() {
      const int64_t asked = settings().memory_limit;
      limit = asked > 0 ? asked : system_memory_limit();
    }
  };

  static Heap& heap() {
    static Heap& h = *new Heap;  // never destroyed: buffers may outlive main
    return h;
  }

  static BufferRef ref(Buffer* b) { return BufferRef(b); }
  static Buffer* make(Kind kind, int size_class, int64_t capacity) {
    auto* b = new Buffer;
    b->kind_ = kind;
    b->size_class_ = static_cast<int16_t>(size_class);
    b->capacity_ = capacity;
    return b;
  }

  static int64_t capacity(const Buffer* b) { return b->capacity_; }
  static void set_size(Buffer* b, int64_t bytes) { b->size_ = bytes; }
  static void set_borrowed(Buffer* b, void* p, int64_t bytes, std::function<void(void*)> deleter) {
    b->data_ = static_cast<std::byte*>(p);
    b->size_ = bytes;
    b->deleter_ = std::move(deleter);
  }

  // Free lists.
  static Buffer* take_central(int size_class);
  static void give_central(Buffer* b);
  static bool evict_oldest();
  static Buffer* take_thread(int size_class);
  static bool give_thread(Buffer* b);
  static void flush(ThreadCache& cache);

  // Memory from the system and back to it.
  static void reserve(int64_t requested, int64_t bytes);
  static Buffer* fresh(int64_t requested, int size_class);
  static Buffer* fresh_guarded(int64_t requested);
  static void destroy(Buffer* b);
  static void release_guarded(Buffer* b);
};

namespace {

using Access = BufferAccess;

constinit thread_local Access::ThreadCache* thread_cache = nullptr;
constinit thread_local bool thread_ending = false;

struct ThreadCacheOwner {
  Access::ThreadCache cache;
  ThreadCacheOwner() { thread_cache = &cache; }
  ~ThreadCacheOwner() {
    thread_cache = nullptr;
    thread_ending = true;
    Access::flush(cache);
  }
};

/// This thread's cache; null when the thread is ending.
Access::ThreadCache* this_thread_cache() {
  if (thread_cache) [[likely]]
    return thread_cache;
  if (thread_ending) return nullptr;
  thread_local ThreadCacheOwner owner;
  return thread_cache;
}

void count_cached(int64_t buffers, int64_t bytes) {
  count(Counter::BuffersCached, buffers);
  count(Counter::BytesCached, bytes);
}

void count_live(int64_t buffers, int64_t bytes) {
  count(Counter::BuffersLive, buffers);
  add_live_bytes(bytes);
}

/// Maps `bytes` aligned to large_block, in large pages where the system has them; null on failure.
std::byte* map_large(int64_t bytes) {
  const int64_t length = round_up(bytes, 4096);
  const auto total = static_cast<size_t>(length + large_block);
  void* p = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(p);
  const int64_t head = -reinterpret_cast<int64_t>(p) & (large_block - 1);
  if (head > 0) munmap(begin, static_cast<size_t>(head));
  munmap(begin + head + length, static_cast<size_t>(large_block - head));
  madvise(begin + head, static_cast<size_t>(length), MADV_HUGEPAGE);
  return begin + head;
}

int64_t page_bytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

}  // namespace

Buffer* BufferAccess::take_central(int size_class) {
  FreeList& list = heap().free[static_cast<size_t>(size_class)];
  if (list.size.load(std::memory_order_relaxed) == 0) return nullptr;
  std::lock_guard lock(list.mutex);
  Buffer* b = list.newest;
  if (!b) return nullptr;
  list.newest = b->next_;
  (list.newest ? list.newest->previous_ : list.oldest) = nullptr;
  list.size.fetch_sub(1, std::memory_order_relaxed);
  heap().cached_bytes.fetch_sub(b->capacity_, std::memory_order_relaxed);
  return b;
}

void BufferAccess::give_central(Buffer* b) {
  Heap& h = heap();
  // Half the limit may lie idle; beyond that the blocks that were unused for longest go.
  const int64_t bound = h.limit.load(std::memory_order_relaxed) / 2;
  while (h.cached_bytes.load(std::memory_order_relaxed) + b->capacity_ > bound)
    if (!evict_oldest()) break;
  if (h.cached_bytes.load(std::memory_order_relaxed) + b->capacity_ > bound) {
    count_cached(-1, -b->capacity_);
    destroy(b);
    return;
  }
  FreeList& list = h.free[static_cast<size_t>(b->size_class_)];
  std::lock_guard lock(list.mutex);
  b->freed_at_ = h.clock.fetch_add(1, std::memory_order_relaxed);
  b->previous_ = nullptr;
  b->next_ = list.newest;
  (list.newest ? list.newest->previous_ : list.oldest) = b;
  list.newest = b;
  list.size.fetch_add(1, std::memory_order_relaxed);
  h.cached_bytes.fetch_add(b->capacity_, std::memory_order_relaxed);
}

bool BufferAccess::evict_oldest() {
  FreeList* best = nullptr;
  uint64_t best_time = UINT64_MAX;
  for (FreeList& list : heap().free) {
    if (list.size.load(std::memory_order_relaxed) == 0) continue;
    std::lock_guard lock(list.mutex);
    if (list.oldest && list.oldest->freed_at_ < best_time) {
      best = &list;
      best_time = list.oldest->freed_at_;
    }
  }
  if (!best) return false;
  Buffer* b = nullptr;
  {
    std::lock_guard lock(best->mutex);
    b = best->oldest;
    if (!b) return true;  // another thread took it: look again
    best->oldest = b->previous_;
    (best->oldest ? best->oldest->next_ : best->newest) = nullptr;
    best->size.fetch_sub(1, std::memory_order_relaxed);
    heap().cached_bytes.fetch_sub(b->capacity_, std::memory_order_relaxed);
  }
  count_cached(-1, -b->capacity_);
  destroy(b);
  return true;
}

Buffer* BufferAccess::take_thread(int size_class) {
  ThreadCache* cache = this_thread_cache();
  if (!cache) return nullptr;
  const auto c = static_cast<size_t>(size_class);
  Buffer* b = cache->head[c];
  if (!b) return nullptr;
  cache->head[c] = b->next_;
  --cache->size[c];
  cache->bytes -= b->capacity_;
  return b;
}

bool BufferAccess::give_thread(Buffer* b) {
  ThreadCache* cache = this_thread_cache();
  if (!cache) return false;
  const auto c = static_cast<size_t>(b->size_class_);
  if (cache->bytes + b->capacity_ > thread_cache_bytes ||
      (cache->size[c] + 1) * b->capacity_ > thread_class_bytes)
    return false;
  b->next_ = cache->head[c];
  cache->head[c] = b;
  ++cache->size[c];
  cache->bytes += b->capacity_;
  return true;
}

void BufferAccess::flush(ThreadCache& cache) {
  for (Buffer*& head : cache.head)
    while (Buffer* b = head) {
      head = b->next_;
      give_central(b);
    }
  cache.size = {};
  cache.bytes = 0;
}

/// Accounts for `bytes` more from the system; frees cached blocks where that is needed for it.
void BufferAccess::reserve(int64_t requested, int64_t bytes) {
  Heap& h = heap();
  bool flushed = false;
  for (;;) {
    const int64_t limit = h.limit.load(std::memory_order_relaxed);
    const int64_t now = h.system_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (now <= limit) return;
    h.system_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    if (bytes > limit) throw OutOfMemory(requested, limit);
    if (evict_oldest()) continue;
    if (flushed || !thread_cache) throw OutOfMemory(requested, limit);
    flush(*thread_cache);
    flushed = true;
  }
}

Buffer* BufferAccess::fresh(int64_t requested, int size_class) {
  Heap& h = heap();
  const int64_t limit = h.limit.load(std::memory_order_relaxed);
  if (requested > limit) throw OutOfMemory(requested, limit);
  int64_t capacity = class_bytes(size_class);
  if (capacity > limit) {  // the class's slack alone is too much: an exact block, never cached
    capacity = round_up(requested, buffer_alignment);
    size_class = -1;
  }
  reserve(requested, capacity);
  Buffer* b = make(capacity >= large_block ? Kind::Large : Kind::Small, size_class, capacity);
  const auto get = [&] {
    return b->kind_ == Kind::Large ? map_large(capacity)
                                   : static_cast<std::byte*>(std::aligned_alloc(
                                         buffer_alignment, static_cast<size_t>(capacity)));
  };
  b->data_ = get();
  while (!b->data_ && evict_oldest()) b->data_ = get();
  if (!b->data_) {
    delete b;
    h.system_bytes.fetch_sub(capacity, std::memory_order_relaxed);
    throw OutOfMemory(requested, limit);
  }
  return b;
}

Buffer* BufferAccess::fresh_guarded(int64_t requested) {
  const int64_t limit = heap().limit.load(std::memory_order_relaxed);
  if (requested > limit) throw OutOfMemory(requested, limit);
  const int64_t capacity = round_up(requested, buffer_alignment);
  const int64_t inner = round_up(capacity, page_bytes());
  const auto total = static_cast<size_t>(inner + 2 * page_bytes());
  reserve(requested, capacity);
  void* p = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* first = static_cast<std::byte*>(p) + page_bytes();
  if (p == MAP_FAILED ||
      (inner > 0 && mprotect(first, static_cast<size_t>(inner), PROT_READ | PROT_WRITE) != 0)) {
    if (p != MAP_FAILED) munmap(p, total);
    heap().system_bytes.fetch_sub(capacity, std::memory_order_relaxed);
    throw OutOfMemory(requested, limit);
  }
  std::memset(first, guard_fill, static_cast<size_t>(inner));
  Buffer* b = make(Kind::Guarded, -1, capacity);
  b->data_ = first + inner - capacity;
  return b;
}

void BufferAccess::release_guarded(Buffer* b) {
  const int64_t inner = round_up(b->capacity_, page_bytes());
  std::byte* end = b->data_ + b->capacity_;
  std::byte* first = end - inner;
  const auto changed = [](const std::byte* begin, const std::byte* stop) {
    for (; begin != stop; ++begin)
      if (*begin != std::byte{guard_fill}) return true;
    return false;
  };
  if (changed(first, b->data_) || changed(b->data_ + b->size_, end))
    heap().violations.fetch_add(1, std::memory_order_relaxed);
  munmap(first - page_bytes(), static_cast<size_t>(inner + 2 * page_bytes()));
}

void BufferAccess::destroy(Buffer* b) {
  switch (b->kind_) {
    case Kind::Small: std::free(b->data_); break;
    case Kind::Large: munmap(b->data_, static_cast<size_t>(round_up(b->capacity_, 4096))); break;
    case Kind::Guarded: release_guarded(b); break;
    case Kind::Borrowed:
      if (b->deleter_) b->deleter_(b->data_);
      break;
  }
  heap().system_bytes.fetch_sub(b->capacity_, std::memory_order_relaxed);
  delete b;
}

void Buffer::recycle(Buffer* b) {
  count_live(-1, b->kind_ == Kind::Borrowed ? 0 : -b->size_);
  if (b->size_class_ < 0) {
    BufferAccess::destroy(b);
    return;
  }
  count_cached(1, b->capacity_);
  if (b->size_class_ >= num_thread_classes || !BufferAccess::give_thread(b))
    BufferAccess::give_central(b);
}

BufferRef allocate(int64_t bytes) {
  check_internal(bytes >= 0, "allocate: size must not be negative");
  Buffer* b = nullptr;
  if (Access::heap().guard.load(std::memory_order_relaxed)) [[unlikely]] {
    b = Access::fresh_guarded(bytes);
  } else {
    const int size_class = class_of(bytes);
    if (size_class >= num_classes) throw OutOfMemory(bytes, memory_limit());
    if (size_class < num_thread_classes) b = Access::take_thread(size_class);
    if (!b) b = Access::take_central(size_class);
    if (b) {
      count_cached(-1, -Access::capacity(b));
    } else {
      b = Access::fresh(bytes, size_class);
    }
  }
  Access::set_size(b, bytes);
  count_live(1, bytes);
  return Access::ref(b);
}

BufferRef borrow(void* p, int64_t bytes, std::function<void(void*)> deleter) {
  Buffer* b = Access::make(Access::Kind::Borrowed, -1, 0);
  Access::set_borrowed(b, p, bytes, std::move(deleter));
  count_live(1, 0);
  return Access::ref(b);
}

int64_t memory_limit() { return Access::heap().limit.load(std::memory_order_relaxed); }

void set_memory_limit(int64_t bytes) {
  Access::heap().limit = bytes > 0 ? bytes : system_memory_limit();
}

void release_cached_buffers() {
  if (thread_cache) Access::flush(*thread_cache);
  while (Access::evict_oldest()) {
  }
}

void set_guard_pages(bool on) { Access::heap().guard = on; }

int64_t guard_violations() { return Access::heap().violations.load(std::memory_order_relaxed); }

OutOfMemory::OutOfMemory(int64_t requested, int64_t limit)
    : std::runtime_error("out of memory: " + std::to_string(requested) +
                         " bytes asked for, the limit is " + std::to_string(limit)),
      requested_(requested),
      limit_(limit) {}

}  // namespace kiln::runtime
