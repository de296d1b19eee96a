// After numpy/_core/arrayprint.py (FloatingFormat, IntegerFormat, BoolFormat) with the default
// options: precision 8, floatmode "maxprec", sign "-".
#include "api/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace kiln::detail {

namespace {

constexpr int precision = 8;

/// A decimal number in two parts, as in "-12" "." "5", and its exponent text, as in "e+10".
struct Decimal {
  std::string whole, fraction, exponent;
};

Decimal split(const std::string& text) {
  Decimal d;
  const size_t e = std::min(text.find('e'), text.size());
  const size_t point = std::min(text.find('.'), e);
  d.whole = text.substr(0, point);
  if (point < e) d.fraction = text.substr(point + 1, e - point - 1);
  d.exponent = text.substr(e);
  while (!d.fraction.empty() && d.fraction.back() == '0') d.fraction.pop_back();
  return d;
}

std::string print(const char* format, int digits, double v) {
  char text[512];
  std::snprintf(text, sizeof text, format, digits, v);
  return text;
}

/// The shortest digits that identify v, but at most `digits` after the point.
template <class T>
Decimal shortest(T v, bool scientific, int digits) {
  char text[512];
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(text, text + sizeof text, v, format).ptr;
  Decimal d = split(std::string(text, end));
  if (digits >= 0 && d.fraction.size() > static_cast<size_t>(digits))
    d = split(print(scientific ? "%.*e" : "%.*f", digits, static_cast<double>(v)));
  return d;
}

std::string padded_left(const std::string& s, size_t width) {
  return s.size() < width ? std::string(width - s.size(), ' ') + s : s;
}

template <class T>
bool use_exponent(const std::vector<T>& finite) {
  T highest = 0, lowest = 0;
  for (T v : finite) {
    const T a = std::abs(v);
    if (a == 0) continue;
    highest = std::max(highest, a);
    lowest = lowest == 0 ? a : std::min(lowest, a);
  }
  if (highest == 0) return false;
  return highest >= T(1e8) || lowest < T(0.0001) || highest / lowest > T(1000);
}

template <class T>
std::vector<std::string> format_floats(const std::vector<T>& values) {
  std::vector<T> finite;
  bool negative_infinity = false;
  for (T v : values) {
    if (std::isfinite(v)) finite.push_back(v);
    negative_infinity |= std::isinf(v) && v < 0;
  }
  const bool scientific = use_exponent(finite);
  std::vector<Decimal> parts;
  size_t left = 0, right = 0, exponent = 0;
  for (T v : finite) {
    parts.push_back(shortest(v, scientific, precision));
    left = std::max(left, parts.back().whole.size());
    right = std::max(right, parts.back().fraction.size());
    exponent = std::max(exponent, parts.back().exponent.size());
  }
  const size_t tail = scientific ? right + exponent : right;  // after the point
  if (finite.size() != values.size()) {
    left = std::max(left, 3 - std::min<size_t>(3, tail + 1));
    left =
        std::max(left, 3 + negative_infinity - std::min<size_t>(3 + negative_infinity, tail + 1));
  }

  std::vector<std::string> texts;
  auto next = parts.begin();
  for (T v : values) {
    if (!std::isfinite(v)) {
      texts.push_back(padded_left(std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf", left + tail + 1));
      continue;
    }
    const Decimal& d = *next++;
    std::string text = padded_left(d.whole, left) + "." + d.fraction;
    text += std::string(right - d.fraction.size(), scientific ? '0' : ' ');
    if (!d.exponent.empty()) {
      // "e+05" next to "e+100" is "e+005".
      const std::string digits = d.exponent.substr(2);
      text += d.exponent.substr(0, 2) + std::string(exponent - d.exponent.size(), '0') + digits;
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> align(std::vector<std::string> texts) {
  size_t width = 0;
  for (const std::string& t : texts) width = std::max(width, t.size());
  for (std::string& t : texts) t = padded_left(t, width);
  return texts;
}

/// str(np.float64(v)).
template <class T>
std::string format_float_scalar(T v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const double a = std::abs(static_cast<double>(v));
  // Beyond the digits that a type holds NumPy writes an exponent.
  const double limit = std::is_same_v<T, float> ? 1e6 : 1e16;
  const bool scientific = a != 0 && (a >= limit || a < 1e-4);
  const Decimal d = shortest(v, scientific, -1);
  if (!scientific) return d.whole + "." + (d.fraction.empty() ? "0" : d.fraction);
  return d.whole + (d.fraction.empty() ? "" : ".") + d.fraction + d.exponent;
}

}  // namespace

std::vector<std::string> format_elements(DType dtype, const std::vector<Bits>& elements) {
  return dispatch(dtype, [&]<class T>(T) -> std::vector<std::string> {
    std::vector<std::string> texts;
    if constexpr (std::is_floating_point_v<T>) {
      std::vector<T> values;
      for (Bits b : elements) values.push_back(b.as<T>());
      return format_floats(values);
    } else if constexpr (std::is_same_v<T, bool>) {
      // Always a space before True, even where no False is shown.
      for (Bits b : elements) texts.push_back(b.as<bool>() ? " True" : "False");
      return texts;
    } else {
      for (Bits b : elements) texts.push_back(std::to_string(b.as<T>()));
      return align(std::move(texts));
    }
  });
}

std::string format_scalar(DType dtype, Bits element) {
  return dispatch(dtype, [&]<class T>(T) -> std::string {
    if constexpr (std::is_floating_point_v<T>) {
      return format_float_scalar(element.as<T>());
    } else if constexpr (std::is_same_v<T, bool>) {
      return element.as<bool>() ? "True" : "False";
    } else {
      return std::to_string(element.as<T>());
    }
  });
}

}  // namespace kiln::detail
