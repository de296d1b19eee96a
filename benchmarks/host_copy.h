// The machine's limit for memory-bound work: copying one large buffer to another on all threads.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

#include "measure.h"

namespace bench {

/// Two buffers that stay (of Kiln's allocator, so that both sides have the same pages), and threads
/// that wait between the copies.
class HostCopy {
 public:
  HostCopy(int64_t elements, int threads);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;

  /// Copies for `seconds` and at least five times.
  void sample(double seconds);

  /// Of all samples so far; bytes are those read and written.
  Row row() const;

 private:
  void copy();
  void copy_part(int thread);

  kiln::Tensor from_, to_;
  const float* source_;
  float* target_;
  int64_t elements_;
  int threads_;
  std::barrier<> gate_;  // passed at the start and at the end of each copy
  bool stop_ = false;    // written only while the workers wait at the gate
  std::vector<std::thread> workers_;
  std::vector<double> times_;
  double cold_s_ = 0;
};

}  // namespace bench
