// Draws the Mandelbrot set: an iteration with masks over a whole image.
#include <kiln/kiln.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <iostream>

#include "image.h"

using kiln::Tensor;

namespace {

struct View {
  double re = -0.6, im = 0;  // centre
  double width = 3.2;        // of the real axis
};

/// Smooth escape time in [height, width]; 0 inside the set.
Tensor escape_time(const View& view, int64_t height, int64_t width, int iterations) {
  const double step = view.width / static_cast<double>(width);
  const Tensor columns = kiln::arange(width).to(kiln::f32) - 0.5 * static_cast<double>(width);
  const Tensor rows = kiln::arange(height).to(kiln::f32) - 0.5 * static_cast<double>(height);
  const Tensor re = (view.re + step * columns).reshape({1, width}).expand({height, width});
  const Tensor im = (view.im + step * rows).reshape({height, 1}).expand({height, width});

  Tensor x = kiln::zeros({height, width}), y = x, count = x;
  for (int i = 1; i <= iterations; ++i) {
    // A large bailout radius makes the fraction of the last step smooth. Points beyond it stay.
    const Tensor bounded = x * x + y * y < 1e4;
    const Tensor next_y = 2 * x * y + im;
    x = kiln::where(bounded, x * x - y * y + re, x);
    y = kiln::where(bounded, next_y, y);
    count += kiln::where(bounded, 1.0f, 0.0f);
    // Every tenth step runs what was recorded: one kernel, compiled the first time only.
    if (i % 10 == 0) kiln::eval(x, y, count);
  }
  const Tensor radius2 = x * x + y * y;
  const Tensor escaped = radius2 >= 1e4;
  const Tensor fraction = kiln::log(kiln::log(kiln::maximum(radius2, 1e4)) / std::log(1e4));
  return kiln::where(escaped, count - fraction / std::log(2.0), 0.0f);
}

/// [3, height, width] in 0..1: dark blue over white to orange, black inside the set.
Tensor palette(const Tensor& time, int iterations) {
  const Tensor t = kiln::sqrt(kiln::maximum(time, 0.0f) / static_cast<double>(iterations));
  const Tensor u = 1 - t;
  const Tensor red = 9 * u * t * t * t, green = 15 * u * u * t * t, blue = 8.5 * u * u * u * t;
  return kiln::cat({red.unsqueeze(0), green.unsqueeze(0), blue.unsqueeze(0)}, 0);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Draws the Mandelbrot set");
  View view;
  int64_t width = 960, height = 720;
  int iterations = 200;
  std::string output = "mandelbrot.png";
  app.add_option("--re", view.re, "centre, real part")->capture_default_str();
  app.add_option("--im", view.im, "centre, imaginary part")->capture_default_str();
  app.add_option("--span", view.width, "width on the real axis")->capture_default_str();
  app.add_option("--width", width, "pixels")->check(CLI::Range(1, 16384))->capture_default_str();
  app.add_option("--height", height, "pixels")->check(CLI::Range(1, 16384))->capture_default_str();
  app.add_option("--iterations", iterations)->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--output", output, "PNG file")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  try {
    const auto start = std::chrono::steady_clock::now();
    const Tensor rgb = palette(escape_time(view, height, width, iterations), iterations);
    const image::Pixels pixels = image::to_pixels(rgb);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    image::save(pixels, output);

    const kiln::Stats stats = kiln::stats();
    std::cout << width << " x " << height << ", " << iterations
              << " iterations: " << stats.ops_recorded << " operations recorded, "
              << stats.kernels_compiled << " kernels compiled, " << stats.kernels_launched
              << " launched, " << took.count() << " ms\n"
              << "wrote " << output << '\n';
  } catch (const kiln::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
