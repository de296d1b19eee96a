#include "runtime/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace kiln::runtime {
namespace {

/// The number in a limit file; `none` if it is absent, "max" or negative.
int64_t read_limit(const std::string& path, int64_t none) {
  std::ifstream file(path);
  int64_t v = 0;
  return file >> v && v > 0 ? v : none;
}

/// The least limit from `group` up to the root of the hierarchy at `mount`.
int64_t hierarchy_limit(const std::string& mount, std::string group, const char* file,
                        int64_t limit) {
  for (;;) {
    limit = std::min(limit, read_limit(mount + group + "/" + file, limit));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return limit;
    group.resize(slash);
  }
}

}  // namespace

int64_t system_memory_limit() {
  int64_t limit = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  const auto lower = [&](const char* mount, const std::string& group, const char* file) {
    limit = hierarchy_limit(mount, group, file, limit);
  };
  // Inside a container the mounts show the own group at the root.
  lower("/sys/fs/cgroup", "", "memory.max");
  lower("/sys/fs/cgroup/memory", "", "memory.limit_in_bytes");
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (line.starts_with("0::")) lower("/sys/fs/cgroup", group, "memory.max");
    if (controllers.find(",memory,") != std::string::npos)
      lower("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
  }
  return limit / 10 * 9;
}

}  // namespace kiln::runtime
