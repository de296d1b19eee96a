// Kernels run with the default floating-point mode (round to nearest, no flush to zero, no traps),
// whatever mode the calling thread is in.
#pragma once

#if defined(__SSE__) || defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kiln::runtime {

/// Sets the default mode for its lifetime and restores the caller's after. Costs a register read
/// where the mode is the default already.
class DefaultFloatMode {
 public:
#if defined(__x86_64__)
  DefaultFloatMode() : saved_(_mm_getcsr()) {
    if (differs()) _mm_setcsr(default_csr);
  }
  ~DefaultFloatMode() {
    if (differs()) _mm_setcsr(saved_);
  }
#else
  DefaultFloatMode() {}
#endif
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned default_csr = 0x1f80;
  static constexpr unsigned sticky_flags = 0x3f;
  bool differs() const { return (saved_ & ~sticky_flags) != default_csr; }
  unsigned saved_;
#endif
};

}  // namespace kiln::runtime
