// Counters of what Kiln did. Public: the API re-exports this header.
#pragma once

#include <array>
#include <cstdint>

#include "ir/core/export.h"

namespace kiln {

/// Why a trace was fired.
enum class SyncCause : uint8_t { Eval, Item, Data, Print, ToVector, Cut, Copy };
inline constexpr int num_sync_causes = 7;

/// A snapshot of the process's counters. The gauges (live, cached, peak) describe the moment; all
/// others count since the start or the last reset_stats().
struct Stats {
  int64_t ops_recorded = 0;
  std::array<int64_t, num_sync_causes> syncs{};  // by SyncCause
  int64_t plan_hits = 0;
  int64_t plan_misses = 0;
  int64_t skeleton_hits = 0;
  int64_t skeleton_misses = 0;
  int64_t kernels_compiled = 0;
  int64_t kernel_cache_hits = 0;
  int64_t kernels_launched = 0;
  int64_t external_calls = 0;
  int64_t bytes_read = 0;     // distinct bytes that kernels and external calls read
  int64_t bytes_written = 0;  // and wrote
  int64_t compile_ns = 0;     // time inside the code generator, summed over threads
  int64_t plan_ns = 0;        // time from a trace to a plan, compilation excluded
  int64_t fallbacks = 0;      // kernels that the interpreter ran because compilation failed
  int64_t buffers_live = 0;
  int64_t bytes_live = 0;
  int64_t buffers_cached = 0;  // freed blocks kept for reuse
  int64_t bytes_cached = 0;
  int64_t bytes_peak = 0;  // highest bytes_live since the start or the last reset_stats()

  int64_t sync_count(SyncCause cause) const { return syncs[static_cast<size_t>(cause)]; }
  int64_t sync_total() const {
    int64_t n = 0;
    for (int64_t s : syncs) n += s;
    return n;
  }
};

/// The counters now, over all threads.
KILN_API Stats stats();

/// Sets the counters to zero and the peak to what is live; the gauges stay.
KILN_API void reset_stats();

}  // namespace kiln
