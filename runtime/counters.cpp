#include "runtime/counters.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace kiln::runtime {

constinit thread_local CounterShard* counter_shard = nullptr;

namespace {

constexpr size_t num_counters = static_cast<size_t>(Counter::Count);
using Totals = std::array<int64_t, num_counters>;

struct Registry {
  std::mutex mutex;
  std::vector<CounterShard*> shards;
  CounterShard ended;  // sums of ended threads, and of threads that are ending
  Totals baseline{};   // sums at the last reset
  std::atomic<int64_t> live_bytes{0};
  std::atomic<int64_t> peak_bytes{0};
};

Registry& registry() {
  static Registry& r = *new Registry;  // never destroyed: threads may end after main
  return r;
}

thread_local bool thread_ending = false;

/// Owns this thread's shard; at the thread's end folds it into `ended`.
struct ShardOwner {
  CounterShard shard;
  ShardOwner() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    r.shards.push_back(&shard);
    counter_shard = &shard;
  }
  ~ShardOwner() {
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    for (size_t i = 0; i < num_counters; ++i) r.ended.values[i] += shard.values[i];
    std::erase(r.shards, &shard);
    counter_shard = nullptr;
    thread_ending = true;
  }
};

/// Requires the registry's mutex.
Totals sum(Registry& r) {
  Totals t{};
  for (size_t i = 0; i < num_counters; ++i) {
    t[i] = r.ended.values[i].load(std::memory_order_relaxed);
    for (const CounterShard* s : r.shards) t[i] += s->values[i].load(std::memory_order_relaxed);
  }
  return t;
}

}  // namespace

void count_slow(Counter counter, int64_t n) {
  if (thread_ending) {
    registry().ended.values[static_cast<size_t>(counter)].fetch_add(n, std::memory_order_relaxed);
    return;
  }
  thread_local ShardOwner owner;
  owner.shard.values[static_cast<size_t>(counter)].fetch_add(n, std::memory_order_relaxed);
}

void add_live_bytes(int64_t bytes) {
  static Registry& r = registry();
  const int64_t now = r.live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = r.peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !r.peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

}  // namespace kiln::runtime

namespace kiln {

using runtime::Counter;

Stats stats() {
  runtime::Registry& r = runtime::registry();
  std::lock_guard lock(r.mutex);
  const runtime::Totals t = runtime::sum(r);
  const auto gauge = [&](Counter c) { return t[static_cast<size_t>(c)]; };
  const auto since = [&](Counter c) { return gauge(c) - r.baseline[static_cast<size_t>(c)]; };
  Stats s;
  s.ops_recorded = since(Counter::OpsRecorded);
  for (int i = 0; i < num_sync_causes; ++i)
    s.syncs[static_cast<size_t>(i)] =
        since(static_cast<Counter>(static_cast<int>(Counter::Syncs) + i));
  s.plan_hits = since(Counter::PlanHits);
  s.plan_misses = since(Counter::PlanMisses);
  s.skeleton_hits = since(Counter::SkeletonHits);
  s.skeleton_misses = since(Counter::SkeletonMisses);
  s.kernels_compiled = since(Counter::KernelsCompiled);
  s.kernel_cache_hits = since(Counter::KernelCacheHits);
  s.kernels_launched = since(Counter::KernelsLaunched);
  s.external_calls = since(Counter::ExternalCalls);
  s.bytes_read = since(Counter::BytesRead);
  s.bytes_written = since(Counter::BytesWritten);
  s.compile_ns = since(Counter::CompileNs);
  s.plan_ns = since(Counter::PlanNs);
  s.fallbacks = since(Counter::Fallbacks);
  s.buffers_live = gauge(Counter::BuffersLive);
  s.buffers_cached = gauge(Counter::BuffersCached);
  s.bytes_cached = gauge(Counter::BytesCached);
  s.bytes_live = r.live_bytes.load(std::memory_order_relaxed);
  s.bytes_peak = r.peak_bytes.load(std::memory_order_relaxed);
  return s;
}

void reset_stats() {
  runtime::Registry& r = runtime::registry();
  std::lock_guard lock(r.mutex);
  r.baseline = runtime::sum(r);
  r.peak_bytes.store(r.live_bytes.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace kiln
