// Photographs as tensors: reads PNG and JPEG, writes PNG. Every error is a kiln::Error that names
// the file and the caller's line.
#pragma once

#include <kiln/kiln.h>
#include <png.h>
#include <turbojpeg.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace image {

using Bytes = std::vector<unsigned char>;

/// Interleaved 8-bit RGB rows.
struct Pixels {
  int64_t height = 0;
  int64_t width = 0;
  Bytes rgb;
};

[[noreturn]] inline void fail(const char* function, const std::string& path,
                              const std::string& problem, const std::source_location& at) {
  throw kiln::Error(std::string(function) + ": " + path + ": " + problem, at);
}

inline Pixels decode_png(const Bytes& file, const std::string& path,
                         const std::source_location& at) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> cleanup(&png, png_image_free);
  if (!png_image_begin_read_from_memory(&png, file.data(), file.size()))
    fail("load", path, png.message, at);
  png.format = PNG_FORMAT_RGB;
  Pixels out{png.height, png.width, Bytes(PNG_IMAGE_SIZE(png))};
  const png_color black{};
  if (!png_image_finish_read(&png, &black, out.rgb.data(), 0, nullptr))
    fail("load", path, png.message, at);
  return out;
}

inline Pixels decode_jpeg(const Bytes& file, const std::string& path,
                          const std::source_location& at) {
  const std::unique_ptr<void, int (*)(void*)> jpeg(tjInitDecompress(), tjDestroy);
  if (!jpeg) fail("load", path, "no JPEG decoder", at);
  int width = 0, height = 0, sampling = 0, colours = 0;
  const auto size = static_cast<unsigned long>(file.size());
  if (tjDecompressHeader3(jpeg.get(), file.data(), size, &width, &height, &sampling, &colours))
    fail("load", path, tjGetErrorStr2(jpeg.get()), at);
  if (width < 1 || height < 1) fail("load", path, "the JPEG file ends early", at);
  Pixels out{height, width, Bytes(size_t{3} * width * height)};
  if (tjDecompress2(jpeg.get(), file.data(), size, out.rgb.data(), width, 0, height, TJPF_RGB, 0))
    fail("load", path, tjGetErrorStr2(jpeg.get()), at);
  return out;
}

/// The pixels of a PNG or JPEG file; transparent ones lie on black.
inline Pixels load(const std::string& path,
                   const std::source_location& at = std::source_location::current()) {
  if (!std::filesystem::is_regular_file(path)) fail("load", path, "no such file", at);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("load", path, "cannot be opened", at);
  const Bytes file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const bool png = file.size() >= 8 && png_sig_cmp(file.data(), 0, 8) == 0;
  const bool jpeg = file.size() >= 3 && file[0] == 0xff && file[1] == 0xd8 && file[2] == 0xff;
  if (!png && !jpeg) fail("load", path, "neither PNG nor JPEG", at);
  return png ? decode_png(file, path, at) : decode_jpeg(file, path, at);
}

/// Writes a PNG file.
inline void save(const Pixels& pixels, const std::string& path,
                 const std::source_location& at = std::source_location::current()) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(pixels.width);
  png.height = static_cast<png_uint_32>(pixels.height);
  png.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&png, path.c_str(), 0, pixels.rgb.data(), 0, nullptr))
    fail("save", path, png.message, at);
}

/// f32 [3, height, width], values in 0..1.
inline kiln::Tensor to_tensor(const Pixels& pixels) {
  const int64_t plane = pixels.height * pixels.width;
  std::vector<float> values(pixels.rgb.size());
  for (int64_t i = 0; i < plane; ++i)
    for (int64_t c = 0; c < 3; ++c)
      values[c * plane + i] = static_cast<float>(pixels.rgb[3 * i + c]) / 255;
  return kiln::Tensor(values, {3, pixels.height, pixels.width});
}

/// From f32 [3, height, width]; values outside 0..1 saturate.
inline Pixels to_pixels(const kiln::Tensor& rgb) {
  const std::vector<float> levels = kiln::round(rgb.clamp(0, 1) * 255).to_vector<float>();
  Pixels out{rgb.size(1), rgb.size(2), Bytes(levels.size())};
  const int64_t plane = out.height * out.width;
  for (int64_t i = 0; i < plane; ++i)
    for (int64_t c = 0; c < 3; ++c)
      out.rgb[3 * i + c] = static_cast<unsigned char>(levels[c * plane + i]);
  return out;
}

}  // namespace image
