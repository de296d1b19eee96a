// Reference values of the math from MPFR, and inputs that find its weak places.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace kiln::test {

/// An MPFR number of 200 bits.
class Real {
 public:
  Real() { mpfr_init2(v_, 200); }
  explicit Real(double d) : Real() { mpfr_set_d(v_, d, MPFR_RNDN); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(v_); }
  mpfr_ptr get() { return v_; }
  mpfr_srcptr get() const { return v_; }

 private:
  mpfr_t v_;
};

/// |got - want| in units of the last place of want in T, infinity counting as the power of two
/// after the largest number. Infinite if one is NaN and the other not, or an exact zero, infinity
/// or sign is missed.
template <class T>
double ulp_error(T got, const Real& want) {
  using L = std::numeric_limits<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  mpfr_srcptr w = want.get();
  if (mpfr_nan_p(w) || std::isnan(got)) return mpfr_nan_p(w) && std::isnan(got) ? 0 : wrong;
  if ((mpfr_signbit(w) != 0) != std::signbit(got)) return wrong;
  if (mpfr_inf_p(w)) return std::isinf(got) ? 0 : wrong;
  if (mpfr_zero_p(w)) return got == 0 ? 0 : wrong;
  Real limit, a, b;
  mpfr_set_ui_2exp(limit.get(), 1, L::max_exponent, MPFR_RNDN);
  mpfr_abs(a.get(), w, MPFR_RNDN);
  mpfr_min(a.get(), a.get(), limit.get(), MPFR_RNDN);
  if (std::isinf(got))
    mpfr_set(b.get(), limit.get(), MPFR_RNDN);
  else
    mpfr_set_d(b.get(), std::fabs(static_cast<double>(got)), MPFR_RNDN);
  mpfr_sub(b.get(), b.get(), a.get(), MPFR_RNDN);
  if (mpfr_zero_p(b.get())) return 0;
  long exponent = static_cast<long>(mpfr_get_exp(a.get()));
  if (exponent < L::min_exponent) exponent = L::min_exponent;
  if (exponent > L::max_exponent) exponent = L::max_exponent;
  mpfr_mul_2si(b.get(), b.get(), L::digits - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(b.get(), MPFR_RNDN));
}

template <class T>
bool same_bits(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// `value` with both signs, and `steps` neighbours on either side.
template <class T>
void add_neighbours(std::vector<T>& out, T value, int steps) {
  for (T sign : {T(1), T(-1)}) {
    T up = value, down = value;
    out.push_back(sign * value);
    for (int i = 0; i < steps; ++i) {
      up = std::nextafter(up, std::numeric_limits<T>::infinity());
      down = std::nextafter(down, -std::numeric_limits<T>::infinity());
      out.push_back(sign * up);
      out.push_back(sign * down);
    }
  }
}

/// Special values, every power of two and every threshold of the algorithms with neighbours, then
/// `random` values of each kind: any bits, and uniform in several intervals. A multiple of 16 long.
template <class T>
std::vector<T> math_inputs(int random) {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {T(0),           -T(0),    L::infinity(), -L::infinity(),
                      L::quiet_NaN(), L::max(), -L::max()};
  add_neighbours(v, L::denorm_min(), 3);
  add_neighbours(v, L::min(), 3);
  for (int e = L::min_exponent - L::digits; e < L::max_exponent; ++e)
    add_neighbours(v, std::ldexp(T(1), e), 2);
  for (double x : {1.0,
                   2.0 / 3,
                   4.0 / 3,
                   0.92,
                   3.95,
                   5.95,
                   9.1,
                   20.0,
                   0.34657359,
                   88.72283,
                   89.0,
                   87.33654,
                   103.97208,
                   104.0,
                   709.782712893384,
                   710.0,
                   708.396418532264,
                   745.133219101941,
                   746.0,
                   1e5,
                   1e30})
    add_neighbours(v, static_cast<T>(x), 20);
  for (int i = 0; i < 200; ++i) add_neighbours(v, static_cast<T>((i + 0.5) * std::log(2.0)), 2);
  std::mt19937_64 gen(20260101);
  for (int i = 0; i < random; ++i) {
    const uint64_t word = gen();
    T any;
    std::memcpy(&any, &word, sizeof any);
    v.push_back(any);
    for (double width : {0.1, 1.5, 10.0, 120.0, 760.0})
      v.push_back(static_cast<T>(std::uniform_real_distribution<double>(-width, width)(gen)));
    v.push_back(static_cast<T>(std::uniform_real_distribution<double>(0.5, 2)(gen)));
  }
  while (v.size() % 16) v.push_back(T(1));
  return v;
}

}  // namespace kiln::test
