// The writing side of stats.h: one shard of counters per thread, summed when someone asks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "runtime/stats.h"

namespace kiln::runtime {

enum class Counter : uint8_t {
  OpsRecorded,
  PlanHits,
  PlanMisses,
  SkeletonHits,
  SkeletonMisses,
  KernelsCompiled,
  KernelCacheHits,
  KernelsLaunched,
  ExternalCalls,
  BytesRead,
  BytesWritten,
  CompileNs,
  PlanNs,
  Fallbacks,
  BuffersLive,    // signed: one thread may free what another allocated
  BuffersCached,  // in thread caches and the central one
  BytesCached,
  Syncs,  // first of num_sync_causes
  Count = Syncs + num_sync_causes
};

/// Written by its own thread alone; others read.
struct CounterShard {
  std::array<std::atomic<int64_t>, static_cast<size_t>(Counter::Count)> values{};
};

extern constinit thread_local CounterShard* counter_shard;

/// Makes this thread's shard, or gives the shared one when the thread is ending.
void count_slow(Counter counter, int64_t n);

/// Adds `n`; about a nanosecond.
inline void count(Counter counter, int64_t n = 1) {
  if (CounterShard* shard = counter_shard) [[likely]] {
    std::atomic<int64_t>& v = shard->values[static_cast<size_t>(counter)];
    v.store(v.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  } else {
    count_slow(counter, n);
  }
}

inline void count_sync(SyncCause cause) {
  count(static_cast<Counter>(static_cast<int>(Counter::Syncs) + static_cast<int>(cause)));
}

/// Bytes of live buffers, exact at each moment so that the peak is.
void add_live_bytes(int64_t bytes);

}  // namespace kiln::runtime
