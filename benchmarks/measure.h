// Times of repeated calls and what Kiln's counters say about one call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "workloads.h"

namespace bench {

struct Timing {
  double cold_s = 0;  // first call: trace, plan, compile, run
  double best_us = 0;
  double median_us = 0;
};

/// One line of the report. Kernels, external calls (matrix products) and bytes are per call.
struct Row {
  std::string workload;
  Timing timing{};
  int64_t kernels = 0;
  int64_t external_calls = 0;
  int64_t bytes = 0;  // read and written by kernels and external calls
  std::vector<std::pair<std::string, double>> more{};  // what only this row has
  std::string error{};

  double gb_per_s() const;
};

/// Seconds that `call` takes.
double seconds_of(const std::function<void()>& call);

/// Best and median of seconds per call, in microseconds. Needs at least one.
Timing summarize(std::vector<double> times);

/// Calls once cold, three times warm, then for `seconds` and at least five times.
Timing clock(const std::function<void()>& call, double seconds);

/// Computes what `record` recorded, and drops it.
void evaluate_and_drop(Tensors results);

/// The workload's row: each call records, evaluates and drops its results; the inputs stay.
Row measure(const Workload& workload, double scale, double seconds);

}  // namespace bench
