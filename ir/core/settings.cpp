#include "ir/core/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>

namespace kiln {
namespace {

constexpr std::array<std::string_view, 4> log_names = {"sync", "compile", "plan", "fallback"};
constexpr std::array<std::string_view, 7> dump_names = {"trace", "graph", "fusion", "kernel",
                                                        "llvm",  "asm",   "plan"};
constexpr std::array<std::string_view, 4> cpu_names = {"native", "avx512", "avx2", "baseline"};

bool parse_number(std::string_view text, int64_t lowest, int64_t& into) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || v < lowest) return false;
  into = v;
  return true;
}

bool parse_flag(std::string_view text, bool& into) {
  if (text != "0" && text != "1") return false;
  into = text == "1";
  return true;
}

std::optional<size_t> find_name(std::span<const std::string_view> names, std::string_view word) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return i;
  return std::nullopt;
}

/// A comma list of `names`, or "all".
bool parse_mask(std::string_view text, std::span<const std::string_view> names, uint32_t& into) {
  uint32_t mask = 0;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (word == "all") {
      mask |= (1u << names.size()) - 1;
    } else if (const auto i = find_name(names, word)) {
      mask |= 1u << *i;
    } else if (!word.empty()) {
      return false;
    }
  }
  into = mask;
  return true;
}

struct Row {
  SettingInfo info;
  bool (*parse)(Settings&, std::string_view);
};

const Row rows[] = {
    {{"KILN_NUM_THREADS", "0",
      "Threads that run kernels; 0 means as many as the process may use, 1 runs all on the caller"},
     [](Settings& s, std::string_view text) {
       int64_t v = 0;
       if (!parse_number(text, 0, v) || v > 4096) return false;
       s.num_threads = static_cast<int>(v);
       return true;
     }},
    {{"KILN_LOG", "",
      "Comma list of subjects to log on stderr: sync, compile, plan, fallback, or all"},
     [](Settings& s, std::string_view text) { return parse_mask(text, log_names, s.log); }},
    {{"KILN_DUMP", "",
      "Comma list of stages to write to files: trace, graph, fusion, kernel, llvm, asm, plan, or "
      "all"},
     [](Settings& s, std::string_view text) { return parse_mask(text, dump_names, s.dump); }},
    {{"KILN_DUMP_DIR", "kiln-dump", "Folder of the dumped files; created when needed"},
     [](Settings& s, std::string_view text) {
       s.dump_dir = text;
       return !text.empty();
     }},
    {{"KILN_MEMORY_LIMIT", "0",
      "Bytes that buffers may take, cached ones included; 0 means nine tenths of the control "
      "group's limit or the RAM, whichever is less"},
     [](Settings& s, std::string_view text) { return parse_number(text, 0, s.memory_limit); }},
    {{"KILN_TRACE_LIMIT", "4096", "Recorded nodes after which a trace is cut and evaluated"},
     [](Settings& s, std::string_view text) { return parse_number(text, 1, s.trace_limit); }},
    {{"KILN_CPU", "native",
      "Widest instruction set of the kernels: avx512, avx2, baseline, or native for the host's"},
     [](Settings& s, std::string_view text) {
       const auto i = find_name(cpu_names, text);
       if (i) s.cpu = static_cast<CpuLevel>(*i);
       return i.has_value();
     }},
    {{"KILN_VERIFY", "0", "1 runs the verifiers after each pass"},
     [](Settings& s, std::string_view text) { return parse_flag(text, s.verify); }},
    {{"KILN_FUSE", "1", "0 runs each operation as its own kernel"},
     [](Settings& s, std::string_view text) { return parse_flag(text, s.fuse); }},
    {{"KILN_JIT", "1", "0 runs the kernel interpreter instead of compiled code"},
     [](Settings& s, std::string_view text) { return parse_flag(text, s.jit); }},
};

void warn(std::string_view name, const char* problem) {
  std::fprintf(stderr, "kiln: %.*s: %s\n", static_cast<int>(name.size()), name.data(), problem);
}

Settings read_environment() {
  Settings s = default_settings();
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("KILN_")) continue;
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    bool known = false;
    for (const Row& row : rows) known |= row.info.name == name;
    if (!known) {
      warn(name, "no such setting");
    } else if (!value.empty() && !parse_setting(s, name, value)) {
      warn(name, "value not understood; the default is used");
    }
  }
  return s;
}

}  // namespace

const std::vector<SettingInfo>& settings_table() {
  static const std::vector<SettingInfo> table = [] {
    std::vector<SettingInfo> t;
    for (const Row& row : rows) t.push_back(row.info);
    return t;
  }();
  return table;
}

bool parse_setting(Settings& into, std::string_view name, std::string_view text) {
  for (const Row& row : rows) {
    if (row.info.name != name) continue;
    Settings changed = into;
    if (!row.parse(changed, text)) return false;
    into = std::move(changed);
    return true;
  }
  return false;
}

Settings default_settings() {
  Settings s;
  for (const Row& row : rows) row.parse(s, row.info.default_value);
  return s;
}

Settings& settings() {
  // Never destroyed: buffers that outlive main still ask for it.
  static Settings& s = *new Settings(read_environment());
  return s;
}

void log_line(Log subject, std::string_view message) {
  const std::string_view name = log_names[static_cast<size_t>(subject)];
  std::string line = "kiln ";
  line.append(name).append(": ").append(message).append("\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace kiln
