#include "runtime/task_pool.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "ir/core/settings.h"

namespace kiln::runtime {
namespace {

/// The process's bound on threads; 0 is none.
struct ThreadLimit {
  std::atomic<int> limit{0};
  std::mutex mutex;
  std::unique_ptr<tbb::global_control> control;

  ThreadLimit() { set(settings().num_threads); }
  void set(int n) {
    std::lock_guard lock(mutex);
    control.reset();
    if (n > 1)
      control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      static_cast<size_t>(n));
    limit.store(n, std::memory_order_relaxed);
  }
};

ThreadLimit& thread_limit() {
  static ThreadLimit& t = *new ThreadLimit;  // never destroyed: TBB may be gone by then
  return t;
}

/// One thread that runs queued work in order.
class AsyncQueue {
 public:
  ~AsyncQueue() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  void push(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
      work_.push_back(std::move(work));
    }
    wake_.notify_one();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || !work_.empty(); });
      if (work_.empty()) return;
      std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      work();
      work = nullptr;  // what it holds goes before the lock is taken
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  if (n <= grain || num_threads() == 1) {
    body(0, n);
    return;
  }
  const int64_t chunks = (n - 1) / grain + 1;
  // Isolated: a thread that waits here must not pick up another evaluation, which could wait for
  // this one.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, chunks, 1),
                      [&](const tbb::blocked_range<int64_t>& r) {
                        body(r.begin() * grain, std::min(n, r.end() * grain));
                      });
  });
}

int num_threads() {
  const int limit = thread_limit().limit.load(std::memory_order_relaxed);
  if (limit == 1) return 1;
  const int arena = tbb::this_task_arena::max_concurrency();
  return limit == 0 ? arena : std::min(limit, arena);
}

void set_num_threads(int n) { thread_limit().set(std::max(n, 0)); }

void enqueue(std::function<void()> work) {
  static AsyncQueue queue;
  queue.push(std::move(work));
}

}  // namespace kiln::runtime
