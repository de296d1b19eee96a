// Assembles PTX with the CUDA toolkit's ptxas, where there is one.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace kiln::testing {

/// Path of ptxas, or "" if there is none.
inline std::string find_ptxas() {
  std::string folders = std::getenv("PATH") ? std::getenv("PATH") : "";
  folders += ":/usr/local/cuda/bin";
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string path = folders.substr(at, end - at) + "/ptxas";
    if (access(path.c_str(), X_OK) == 0) return path;
    at = end + 1;
  }
  return "";
}

/// "" if ptxas accepts the text, else its messages; nothing if there is no ptxas.
inline std::optional<std::string> assemble_ptx(const std::string& text) {
  static const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return std::nullopt;
  char path[] = "/tmp/kiln_ptx_XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) return "no temporary file";
  close(fd);
  std::ofstream(path) << text;
  const std::string command = ptxas + " -arch=sm_90 -o /dev/null " + path + " 2>&1";
  std::string messages;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "ptxas did not start";
  std::array<char, 4096> part;
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) messages.append(part.data(), n);
  const int status = pclose(pipe);
  unlink(path);
  if (status == 0) return "";
  return "ptxas failed: " + messages + "\n" + text;
}

}  // namespace kiln::testing
