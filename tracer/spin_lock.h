// A one-byte lock for critical sections of a few instructions.
#pragma once

#include <atomic>
#include <thread>

namespace kiln::tracer {

class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) {
      for (int i = 0; locked_.load(std::memory_order_relaxed); ++i)
        if (i >= 64) std::this_thread::yield();
    }
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace kiln::tracer
