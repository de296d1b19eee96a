// Random numbers: Philox, a function of seed, stream and position, the same on every machine and
// however they are fused. Each call takes the next stream of its generator.
#pragma once

#include "kiln/tensor.h"

namespace kiln {

class Generator {
 public:
  explicit Generator(uint64_t seed) : seed_(seed) {}
  uint64_t seed() const { return seed_; }
  /// Number of the next call's stream.
  int64_t stream() const { return stream_; }
  int64_t next_stream() { return stream_++; }

 private:
  uint64_t seed_;
  int64_t stream_ = 0;
};

/// The calling thread's generator. Threads have different seeds, the same in every run.
KILN_API Generator& default_generator();
/// Starts the calling thread's generator anew.
KILN_API void manual_seed(uint64_t seed);

/// Uniform in [0, 1); f32 or f64, Error for others.
KILN_API Tensor rand(const Shape& shape, DType dtype = f32,
                     SourceLocation at = SourceLocation::current());
KILN_API Tensor rand(const Shape& shape, Generator& generator, DType dtype = f32,
                     SourceLocation at = SourceLocation::current());
/// Standard normal; f32 or f64, Error for others.
KILN_API Tensor randn(const Shape& shape, DType dtype = f32,
                      SourceLocation at = SourceLocation::current());
KILN_API Tensor randn(const Shape& shape, Generator& generator, DType dtype = f32,
                      SourceLocation at = SourceLocation::current());

}  // namespace kiln
