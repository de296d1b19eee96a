#include "host_copy.h"

#include <cstring>

namespace bench {

HostCopy::HostCopy(int64_t elements, int threads)
    : from_(kiln::randn({elements})),
      to_(kiln::zeros({elements})),
      source_(from_.data<float>()),
      target_(to_.data<float>()),
      elements_(elements),
      threads_(threads),
      gate_(threads) {
  for (int i = 1; i < threads_; ++i)
    workers_.emplace_back([this, i] {
      while (true) {
        gate_.arrive_and_wait();
        if (stop_) return;
        copy_part(i);
        gate_.arrive_and_wait();
      }
    });
  cold_s_ = seconds_of([this] { copy(); });
}

HostCopy::~HostCopy() {
  stop_ = true;
  gate_.arrive_and_wait();
  for (std::thread& worker : workers_) worker.join();
}

void HostCopy::copy_part(int thread) {
  const int64_t begin = elements_ * thread / threads_, end = elements_ * (thread + 1) / threads_;
  std::memcpy(target_ + begin, source_ + begin, sizeof(float) * static_cast<size_t>(end - begin));
}

void HostCopy::copy() {
  gate_.arrive_and_wait();
  copy_part(0);
  gate_.arrive_and_wait();
}

void HostCopy::sample(double seconds) {
  int count = 0;
  for (double spent = 0; spent < seconds || count < 5; spent += times_.back(), ++count)
    times_.push_back(seconds_of([this] { copy(); }));
}

Row HostCopy::row() const {
  Row row{.workload = "copy", .timing = summarize(times_)};
  row.timing.cold_s = cold_s_;
  row.bytes = 2 * elements_ * static_cast<int64_t>(sizeof(float));
  return row;
}

}  // namespace bench
