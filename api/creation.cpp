// full, arange, random numbers and their kin.
#include <atomic>
#include <cmath>

#include "api/internal.h"
#include "kiln/random.h"

namespace kiln {

using detail::fail;
using detail::tensor_of;

namespace {

void check_available(std::string_view op, DType dtype, const SourceLocation& at) {
  if (!info(dtype).available)
    fail(op, "dtype " + std::string(name(dtype)) + " is not available", at);
}

DType dtype_of_number(const Scalar& s) {
  if (s.is_float()) return f32;
  return s.kind() == Scalar::Kind::Bool ? bool_ : i64;
}

Tensor make_full(std::string_view op, const Shape& shape, const Scalar& value, DType dtype,
                 const SourceLocation& at) {
  tracer::check_shape(op, shape, at);
  check_available(op, dtype, at);
  return tensor_of(tracer::full(shape, dtype, tracer::scalar_bits(op, value, dtype, at), at));
}

/// 0 or 1 as a number that fits any dtype.
Scalar number(bool one, DType dtype) { return is_bool(dtype) ? Scalar(one) : Scalar(one ? 1 : 0); }

}  // namespace

Tensor full(const Shape& shape, Scalar value, std::optional<DType> dtype, SourceLocation at) {
  return make_full("full", shape, value, dtype.value_or(dtype_of_number(value)), at);
}
Tensor zeros(const Shape& shape, DType dtype, SourceLocation at) {
  return make_full("zeros", shape, number(false, dtype), dtype, at);
}
Tensor ones(const Shape& shape, DType dtype, SourceLocation at) {
  return make_full("ones", shape, number(true, dtype), dtype, at);
}
Tensor full_like(const Tensor& a, Scalar value, std::optional<DType> dtype, SourceLocation at) {
  const auto& impl = detail::Access::impl(a, "full_like", at);
  return make_full("full_like", impl.shape(), value, dtype.value_or(impl.dtype()), at);
}
Tensor zeros_like(const Tensor& a, std::optional<DType> dtype, SourceLocation at) {
  const DType t = dtype.value_or(detail::Access::impl(a, "zeros_like", at).dtype());
  return make_full("zeros_like", a.shape(), number(false, t), t, at);
}
Tensor ones_like(const Tensor& a, std::optional<DType> dtype, SourceLocation at) {
  const DType t = dtype.value_or(detail::Access::impl(a, "ones_like", at).dtype());
  return make_full("ones_like", a.shape(), number(true, t), t, at);
}

// ---- arange ------------------------------------------------------------------------------------

namespace {

constexpr double most_elements = 0x1p58;

int64_t count_floats(double start, double stop, double step, const SourceLocation& at) {
  const double n = std::ceil((stop - start) / step);
  if (!(n < most_elements)) fail("arange", "the number of elements is out of range", at);
  return n > 0 ? static_cast<int64_t>(n) : 0;
}

int64_t count_integers(int64_t start, int64_t stop, int64_t step, const SourceLocation& at) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto span = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                             : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t n = (span - 1) / stride + 1;
  if (n > static_cast<uint64_t>(most_elements))
    fail("arange", "the number of elements is out of range", at);
  return static_cast<int64_t>(n);
}

}  // namespace

Tensor arange(Scalar start, Scalar stop, Scalar step, std::optional<DType> dtype,
              SourceLocation at) {
  const bool floats = start.is_float() || stop.is_float() || step.is_float();
  const DType t = dtype.value_or(floats ? f32 : i64);
  check_available("arange", t, at);
  if (is_bool(t)) fail("arange", "does not make bool", at);
  if (step.to_double() == 0) fail("arange", "the step is zero", at);
  if (!is_float(t)) {
    for (const Scalar& s : {start, step}) tracer::scalar_bits("arange", s, t, at);
    tracer::scalar_bits("arange", stop, i64, at);
    const int64_t n = count_integers(start.to_int(), stop.to_int(), step.to_int(), at);
    return tensor_of(tracer::arange(n, t, to_bits(start, t), to_bits(step, t), at));
  }
  const int64_t n = count_floats(start.to_double(), stop.to_double(), step.to_double(), at);
  // Made in f64, so that a step such as 0.1 is not rounded to f32 before it is multiplied.
  const tracer::NodeRef values =
      tracer::arange(n, f64, to_bits(start, f64), to_bits(step, f64), at);
  return tensor_of(tracer::cast(values.get(), t, at));
}

Tensor arange(Scalar stop, std::optional<DType> dtype, SourceLocation at) {
  return arange(Scalar(0), stop, Scalar(1), dtype, at);
}

// ---- Random numbers ----------------------------------------------------------------------------

namespace {

Tensor make_random(ir::Op op, const Shape& shape, Generator& generator, DType dtype,
                   const SourceLocation& at) {
  tracer::check_shape(ir::name(op), shape, at);
  check_available(ir::name(op), dtype, at);
  if (!ir::accepts(op, dtype)) fail(ir::name(op), "does not make " + std::string(name(dtype)), at);
  return tensor_of(tracer::random(op, shape, dtype, static_cast<int64_t>(generator.seed()),
                                  generator.next_stream(), at));
}

/// Seeds of threads in the order in which they first ask: far apart, the same in every run.
uint64_t thread_seed() {
  static std::atomic<uint64_t> threads{0};
  return threads.fetch_add(1) * 0x9e3779b97f4a7c15u;
}

}  // namespace

Generator& default_generator() {
  thread_local Generator generator(thread_seed());
  return generator;
}

void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

Tensor rand(const Shape& shape, DType dtype, SourceLocation at) {
  return make_random(ir::Op::Rand, shape, default_generator(), dtype, at);
}
Tensor rand(const Shape& shape, Generator& generator, DType dtype, SourceLocation at) {
  return make_random(ir::Op::Rand, shape, generator, dtype, at);
}
Tensor randn(const Shape& shape, DType dtype, SourceLocation at) {
  return make_random(ir::Op::Randn, shape, default_generator(), dtype, at);
}
Tensor randn(const Shape& shape, Generator& generator, DType dtype, SourceLocation at) {
  return make_random(ir::Op::Randn, shape, generator, dtype, at);
}

}  // namespace kiln
