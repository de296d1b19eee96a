// Runs kernels given as text on buffers between guard pages, through the interpreter or as machine
// code.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kiln::testing {

/// Memory whose first or last byte is next to an inaccessible page: any stray access faults.
class GuardedBuffer {
 public:
  enum class Flush { Start, End };
  GuardedBuffer(size_t bytes, Flush flush) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inside = (bytes + page - 1) / page * page;
    size_ = inside + 2 * page;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_, page, PROT_NONE);
    mprotect(base_ + page + inside, page, PROT_NONE);
    data_ = base_ + page + (flush == Flush::Start ? 0 : inside - bytes);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  ~GuardedBuffer() { munmap(base_, size_); }
  std::byte* data() const { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  size_t size_;
};

/// One argument buffer. Kernels see its address plus `origin` elements.
struct Array {
  DType dtype;
  std::vector<std::byte> bytes;
  int64_t origin = 0;

  int64_t size() const { return static_cast<int64_t>(bytes.size() / size_of(dtype)); }
};

/// Ten elements at the corners of the dtype's arithmetic.
template <class T>
T corner(size_t i) {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return i % 2 != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T all[] = {
        0,        T(-0.0), L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
        L::max(), T(2.5),  T(-3),         L::min()};
    return all[i % 10];
  } else {
    const T all[] = {0, 1, -1, L::max(), L::min(), 2, 3, -7, 31, 64};
    return all[i % 10];
  }
}

/// A quarter of the elements are corners.
inline Array random_array(DType t, int64_t n, uint32_t seed) {
  Array a{t, std::vector<std::byte>(static_cast<size_t>(n) * size_of(t)), 0};
  std::mt19937 gen(seed);
  dispatch(t, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i) {
      T v;
      if (gen() % 4 == 0) {
        v = corner<T>(gen());
      } else if constexpr (std::is_same_v<T, bool>) {
        v = gen() & 1;
      } else if constexpr (std::is_floating_point_v<T>) {
        v = std::ldexp(static_cast<T>(static_cast<int32_t>(gen())),
                       -static_cast<int>(gen() % 40) - 10);
      } else {
        const uint64_t bits = static_cast<uint64_t>(gen()) << 32 | gen();
        v = static_cast<T>(static_cast<int64_t>(bits) >> (gen() % 63));
      }
      std::memcpy(a.bytes.data() + static_cast<size_t>(i) * sizeof(T), &v, sizeof v);
    }
  });
  return a;
}

/// Operand `k` of arrays that begin with every combination of three corners.
inline Array corner_array(DType t, int64_t n, int k, uint32_t seed) {
  Array a = random_array(t, n, seed);
  size_t period = 1;
  for (int i = 0; i < k; ++i) period *= 10;
  dispatch(t, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < 1000 && i < static_cast<size_t>(n); ++i) {
      const T v = corner<T>(i / period);
      std::memcpy(a.bytes.data() + i * sizeof(T), &v, sizeof v);
    }
  });
  return a;
}

/// Without NaN and infinities, small: sums of it have many different roundings.
inline Array tame_array(DType t, int64_t n, uint32_t seed) {
  Array a = random_array(t, n, seed);
  std::mt19937 gen(seed);
  dispatch(t, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t i = 0; i < n; ++i) {
        const T v = static_cast<T>(static_cast<int32_t>(gen())) * static_cast<T>(0x1p-31);
        std::memcpy(a.bytes.data() + static_cast<size_t>(i) * sizeof(T), &v, sizeof v);
      }
  });
  return a;
}

inline Array zeros(DType t, int64_t n) {
  return {t, std::vector<std::byte>(static_cast<size_t>(n) * size_of(t)), 0};
}

/// A launch: a kernel, its nums (ScratchOffset ones are set here) and its buffers.
struct Launch {
  ir::Kernel kernel;
  std::vector<int64_t> nums;
  std::vector<Array> arrays;
};

inline Launch make_launch(const std::string& text, std::vector<int64_t> nums,
                          std::vector<Array> arrays) {
  Launch l{ir::parse_kernel(text), std::move(nums), std::move(arrays)};
  ir::verify(l.kernel);
  l.nums.resize(l.kernel.nums.size());
  return l;
}

/// Runs all iterations with fn(ptrs, nums, scratch, begin, end), `grain` at a time; gives the
/// buffers' contents afterwards.
template <class Fn>
std::vector<Array> run(const Launch& launch, Fn fn,
                       GuardedBuffer::Flush flush = GuardedBuffer::Flush::End, int64_t grain = 3) {
  std::vector<int64_t> nums = launch.nums;
  const int64_t scratch_bytes = ir::layout_scratch(launch.kernel, nums);
  const GuardedBuffer scratch(static_cast<size_t>(scratch_bytes), GuardedBuffer::Flush::End);
  std::memset(scratch.data(), 0x7f, static_cast<size_t>(scratch_bytes));
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<void*> ptrs;
  for (const Array& a : launch.arrays) {
    buffers.push_back(std::make_unique<GuardedBuffer>(a.bytes.size(), flush));
    std::copy(a.bytes.begin(), a.bytes.end(), buffers.back()->data());
    ptrs.push_back(buffers.back()->data() + a.origin * static_cast<int64_t>(size_of(a.dtype)));
  }
  const int64_t n = ir::iterations(launch.kernel, nums);
  for (int64_t i = 0; i < n; i += grain)
    fn(ptrs.data(), nums.data(), scratch.data(), i, std::min(n, i + grain));
  std::vector<Array> result = launch.arrays;
  for (size_t i = 0; i < result.size(); ++i)
    std::copy_n(buffers[i]->data(), result[i].bytes.size(), result[i].bytes.begin());
  return result;
}

/// "" if the arrays are equal, NaNs all alike; else where they differ.
inline std::string difference(const Array& a, const Array& b) {
  std::string text;
  dispatch(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < a.size() && text.empty(); ++i) {
      T x, y;
      std::memcpy(&x, a.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
      std::memcpy(&y, b.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
      if ((x != x && y != y) || std::memcmp(&x, &y, sizeof x) == 0) continue;
      text = "element " + std::to_string(i) + ": " + std::to_string(x) + " is not " +
             std::to_string(y);
    }
  });
  return text;
}

/// Replaces every `from` in the text.
inline std::string replace(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace kiln::testing
