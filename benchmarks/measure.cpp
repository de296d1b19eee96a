#include "measure.h"

#include <algorithm>
#include <chrono>

namespace bench {

double Row::gb_per_s() const {
  return timing.median_us > 0 ? static_cast<double>(bytes) / timing.median_us / 1e3 : 0;
}

double seconds_of(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Timing summarize(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  const double median = (times[(n - 1) / 2] + times[n / 2]) / 2;
  return {0, times.front() * 1e6, median * 1e6};
}

Timing clock(const std::function<void()>& call, double seconds) {
  const double cold = seconds_of(call);
  for (int i = 0; i < 3; ++i) call();
  std::vector<double> times;
  for (double spent = 0; spent < seconds || times.size() < 5; spent += times.back())
    times.push_back(seconds_of(call));
  Timing timing = summarize(std::move(times));
  timing.cold_s = cold;
  return timing;
}

void evaluate_and_drop(Tensors results) { kiln::eval(results); }

Row measure(const Workload& workload, double scale, double seconds) {
  const Tensors inputs = make_inputs(workload, scale);
  const auto call = [&] { evaluate_and_drop(workload.record(inputs)); };
  Row row{.workload = workload.name, .timing = clock(call, seconds)};

  const kiln::Stats before = kiln::stats();
  call();
  const kiln::Stats after = kiln::stats();
  row.kernels = after.kernels_launched - before.kernels_launched;
  row.external_calls = after.external_calls - before.external_calls;
  row.bytes = after.bytes_read + after.bytes_written - before.bytes_read - before.bytes_written;
  return row;
}

}  // namespace bench
