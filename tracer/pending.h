// An evaluation under way on another thread: what waits for it, what follows it, how it failed.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace kiln::tracer {

class Pending {
 public:
  /// Why it failed, where that is for good. Set before finish().
  std::exception_ptr error;

  void wait() {
    std::unique_lock lock(mutex_);
    done_changed_.wait(lock, [&] { return done_; });
  }

  /// Calls `next` when done: later, on the thread that finishes, or now if it is done already.
  void then(std::function<void()> next) {
    {
      std::lock_guard lock(mutex_);
      if (!done_) {
        next_.push_back(std::move(next));
        return;
      }
    }
    next();
  }

  void finish() {
    std::vector<std::function<void()>> next;
    {
      std::lock_guard lock(mutex_);
      done_ = true;
      next.swap(next_);
    }
    done_changed_.notify_all();
    for (const auto& f : next) f();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;
  std::vector<std::function<void()>> next_;
};

}  // namespace kiln::tracer
