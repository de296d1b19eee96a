// What synchronous and asynchronous evaluation share.
#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "tracer/trace.h"

namespace kiln {
enum class SyncCause : uint8_t;  // runtime/stats.h
}

namespace kiln::tracer {

/// This thread's trace, whose memory every evaluation uses again.
class ReusedTrace {
 public:
  ReusedTrace();
  ~ReusedTrace();
  Trace& operator*() const { return *trace_; }
  Trace* operator->() const { return trace_.get(); }

 private:
  std::unique_ptr<Trace> trace_;
};

/// Nodes whose computation failed raise `error` from now on: those in flight in `job`, or without
/// one those that are lazy.
void mark_failed(std::span<const NodeRef> nodes, std::exception_ptr error,
                 const std::shared_ptr<Pending>& job);

// In evaluate.cpp.

/// Finds or makes the plan, runs it and publishes the values. Raises Error for a shortage of
/// memory, when all stays as it was, and anything else for good.
void plan_and_execute(Trace& trace, bool fuse);
/// Counts the sync and logs it.
void note_sync(const Trace& trace, SyncCause cause, const SourceLocation& at);
/// Runs `work`, which must not throw, on another thread.
void enqueue(std::function<void()> work);

}  // namespace kiln::tracer
