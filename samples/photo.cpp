// Develops a photograph: colour, unsharp mask, tone curve, vignette, in plain tensor code; then
// compares the fused kernels with one kernel per operation.
#include <kiln/kiln.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>

#include "image.h"

using kiln::Slice, kiln::Tensor;

namespace {

Tensor to_linear(const Tensor& srgb) {
  return kiln::where(srgb <= 0.04045, srgb / 12.92, kiln::pow((srgb + 0.055) / 1.055, 2.4));
}

Tensor to_srgb(const Tensor& linear) {
  return kiln::where(linear <= 0.0031308, 12.92 * linear,
                     1.055 * kiln::pow(linear, 1 / 2.4) - 0.055);
}

/// Rec. 709 luminance of [3, height, width].
Tensor luminance(const Tensor& rgb) {
  return 0.2126 * rgb.select(0, 0) + 0.7152 * rgb.select(0, 1) + 0.0722 * rgb.select(0, 2);
}

/// A cooler white balance and a little more saturation.
Tensor colour(const Tensor& rgb) {
  const Tensor gains = kiln::Tensor(std::vector<float>{0.94f, 1.0f, 1.10f}, {3, 1, 1});
  const Tensor balanced = rgb * gains;
  const Tensor grey = luminance(balanced).unsqueeze(0);
  return grey + 1.2 * (balanced - grey);
}

/// The binomial filter 1 4 6 4 1 along `axis`; the border row is repeated outwards.
Tensor blur(const Tensor& x, int64_t axis) {
  const int64_t n = x.size(axis);
  const Tensor first = x.slice(axis, 0, 1), last = x.slice(axis, n - 1, n);
  const Tensor padded = kiln::cat({first, first, x, last, last}, axis);
  const auto shifted = [&](int64_t by) { return padded.slice(axis, by, by + n); };
  return (shifted(0) + shifted(4) + 4 * (shifted(1) + shifted(3)) + 6 * shifted(2)) / 16;
}

/// Adds back what a blur of the luminance loses.
Tensor unsharp_mask(const Tensor& rgb, double amount) {
  const Tensor y = luminance(rgb);
  return rgb + amount * (y - blur(blur(y, 0), 1)).unsqueeze(0);
}

/// A filmic curve: toe, straight part, shoulder.
Tensor tone_curve(const Tensor& rgb) {
  const Tensor x = kiln::maximum(rgb, 0.0f);
  return (x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)).clamp(0, 1);
}

/// Darkens towards the corners.
Tensor vignette(const Tensor& rgb, double strength) {
  const int64_t height = rgb.size(1), width = rgb.size(2);
  const auto centred = [](int64_t n) {
    return (kiln::arange(n).to(kiln::f32) + 0.5) * (2.0 / static_cast<double>(n)) - 1;
  };
  const Tensor v = centred(height).reshape({height, 1}), u = centred(width);
  const Tensor fall = 1 + strength * (u * u + v * v);
  return rgb / (fall * fall);
}

Tensor develop(const Tensor& photo) {
  const Tensor sharp = unsharp_mask(colour(to_linear(photo)), 1.2);
  return to_srgb(tone_curve(vignette(sharp, 0.2)));
}

struct Run {
  Tensor result;
  double best_ms = 0;
  int64_t ops = 0, kernels = 0, bytes = 0;
};

/// Develops `repeats` times after a first, compiling run; counts are of one run.
Run measure(const Tensor& photo, bool fused, int repeats) {
  kiln::set_fusion(fused);
  Run run;
  kiln::eval(develop(photo));
  run.best_ms = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const kiln::Stats before = kiln::stats();
    const auto start = std::chrono::steady_clock::now();
    run.result = develop(photo);
    kiln::eval(run.result);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    const kiln::Stats after = kiln::stats();
    run.best_ms = std::min(run.best_ms, took.count());
    run.ops = after.ops_recorded - before.ops_recorded;
    run.kernels = after.kernels_launched - before.kernels_launched;
    run.bytes = after.bytes_read + after.bytes_written - before.bytes_read - before.bytes_written;
  }
  kiln::set_fusion(true);
  return run;
}

void print_row(const char* name, const Run& run) {
  std::cout << std::left << std::setw(14) << name << std::right << std::setw(8) << run.kernels
            << std::setw(12) << std::fixed << std::setprecision(1)
            << static_cast<double>(run.bytes) / 1e6 << std::setw(10) << std::setprecision(2)
            << run.best_ms << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Develops a photograph");
  std::string input = KILN_SAMPLE_PHOTO, output = "photo.png";
  int repeats = 10;
  app.add_option("image", input, "PNG or JPEG file")->capture_default_str();
  app.add_option("--output", output, "PNG file")->capture_default_str();
  app.add_option("--repeats", repeats)->check(CLI::Range(1, 10000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  try {
    const Tensor photo = image::to_tensor(image::load(input));
    const Run fused = measure(photo, true, repeats);
    const Run unfused = measure(photo, false, repeats);
    image::save(image::to_pixels(fused.result), output);

    std::cout << input << ": " << photo.size(2) << " x " << photo.size(1) << ", " << fused.ops
              << " operations\n"
              << "               kernels  MB moved   best ms\n";
    print_row("fused", fused);
    print_row("op by op", unfused);
    const bool same = kiln::all(fused.result == unfused.result).item<bool>();
    std::cout << (same ? "same bits both ways" : "the results DIFFER") << "; wrote " << output
              << '\n';
    return same ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
