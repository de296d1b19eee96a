// Every environment variable that Kiln reads: one table, read once at the first use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// Subjects of KILN_LOG; lines go to stderr.
enum class Log : uint8_t { Sync, Compile, Plan, Fallback };
/// Stages of KILN_DUMP, in the order of the pipeline.
enum class DumpStage : uint8_t { Trace, Graph, Fusion, Kernel, Llvm, Asm, Plan };
/// Instruction sets that kernels may use, widest first; Native is the widest that the host has.
enum class CpuLevel : uint8_t { Native, Avx512, Avx2, Baseline };

/// The values of the settings. Tests may change them before the part that reads them first runs.
struct Settings {
  int num_threads = 0;       // 0: as many as the process may use
  uint32_t log = 0;          // bit per Log
  uint32_t dump = 0;         // bit per DumpStage
  std::string dump_dir;      // created when something is dumped
  int64_t memory_limit = 0;  // bytes; 0: from the control group and the RAM
  int64_t trace_limit = 0;   // nodes
  CpuLevel cpu = CpuLevel::Native;
  bool verify = false;
  bool fuse = true;
  bool jit = true;
};

/// One row of the table: what docs/settings.md shows.
struct SettingInfo {
  std::string_view name;
  std::string_view default_value;
  std::string_view doc;
};

/// The process's settings. The first call reads the environment, and warns on stderr of unknown
/// KILN_* names and of values that do not parse (which leave the default).
Settings& settings();

const std::vector<SettingInfo>& settings_table();

/// Sets `name` to `text` in `into`; false if there is no such setting or the text does not parse.
bool parse_setting(Settings& into, std::string_view name, std::string_view text);

/// All settings at their defaults, whatever the environment says.
Settings default_settings();

inline bool log_enabled(Log subject) {
  return (settings().log >> static_cast<int>(subject) & 1) != 0;
}
inline bool dump_enabled(DumpStage stage) {
  return (settings().dump >> static_cast<int>(stage) & 1) != 0;
}

/// Writes "kiln sync: message" to stderr as one line. Call it only where log_enabled.
void log_line(Log subject, std::string_view message);

}  // namespace kiln
