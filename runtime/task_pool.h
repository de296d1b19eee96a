// Threads for kernels and for asynchronous work. oneTBB behind it; no TBB type here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace kiln::runtime {

template <class F>
class FunctionRef;

/// A reference to a callable that outlives the call it is passed to.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

/// Calls body(begin, end) over disjoint ranges that cover [0, n). Each begin is a multiple of
/// `grain` (>= 1). Runs in the caller's TBB arena, on the calling thread if n <= grain or
/// num_threads() is 1. A waiting thread takes no work from outside this loop. The first exception
/// that a body throws is rethrown here.
void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

/// Threads that parallel_for may use now.
int num_threads();
/// 0: as many as the process may use. Holds for the whole process.
void set_num_threads(int n);

/// Runs `work` on the one thread of asynchronous work, in the order of the calls, so work may wait
/// for what was enqueued before it. It must not throw. Work still queued when the process exits is
/// finished first.
void enqueue(std::function<void()> work);

}  // namespace kiln::runtime
