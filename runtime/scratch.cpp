#include "runtime/scratch.h"

#include <new>

#include "runtime/buffer.h"

namespace kiln::runtime {
namespace {

class Scratch {
 public:
  ~Scratch() { release(); }
  std::byte* get(int64_t bytes) {
    if (bytes > size_) [[unlikely]] {
      release();
      data_ = static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), alignment));
      size_ = bytes;
    }
    return data_;
  }

 private:
  static constexpr std::align_val_t alignment{buffer_alignment};
  void release() {
    ::operator delete(data_, alignment);
    data_ = nullptr;
    size_ = 0;
  }
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace

std::byte* thread_scratch(int64_t bytes) {
  if (bytes == 0) return nullptr;
  thread_local Scratch scratch;
  return scratch.get(bytes);
}

}  // namespace kiln::runtime
