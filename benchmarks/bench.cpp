// Runs the standard workloads and prints how near the machine's limits they come.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "host_copy.h"
#include "overhead.h"
#include "report.h"

namespace {

struct Options {
  std::vector<std::string> only;
  int threads = 0;
  double scale = 0.25;
  double seconds = 1;
  std::string json;
  bool list = false;
};

/// Every row that can be asked for: name and measurement; no measurement for bf16 rows, which are
/// left out, and for copy, which every run has.
struct Entry {
  std::string name;
  std::function<bench::Row(const Options&)> measure;
};

std::vector<Entry> entries() {
  std::vector<Entry> all{{"copy", nullptr}};
  for (const bench::Workload& w : bench::workloads()) {
    Entry entry{w.name, nullptr};
    if (w.record)
      entry.measure = [&w](const Options& o) { return bench::measure(w, o.scale, o.seconds); };
    all.push_back(std::move(entry));
  }
  for (const bench::Overhead& m : bench::overheads())
    all.push_back({m.name, [&m](const Options& o) { return m.measure(o.seconds); }});
  return all;
}

bool wanted(const Options& options, const std::string& name) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

/// A row that fails has its error instead of times; the next ones still run.
bench::Row measure(const Entry& entry, const Options& options) {
  try {
    return entry.measure(options);
  } catch (const std::exception& e) {
    return {.workload = entry.name, .error = e.what()};
  }
}

bench::Report run(const Options& options) {
  kiln::set_num_threads(options.threads);
  const int threads = kiln::num_threads();
  const int64_t elements = bench::workloads().front().shapes(options.scale).front()[0];

  bench::HostCopy copy(elements, threads);
  copy.sample(0.3 * options.seconds);
  std::vector<bench::Row> rows;
  for (const Entry& entry : entries()) {
    if (!wanted(options, entry.name) || entry.name == "copy") continue;
    if (!entry.measure) {
      std::cerr << entry.name << ": left out, its inputs are bf16\n";
      continue;
    }
    rows.push_back(measure(entry, options));
    copy.sample(0.1 * options.seconds);  // a machine that others use changes while we measure
  }
  rows.insert(rows.begin(), copy.row());
  const double limit = rows.front().gb_per_s();
  return {threads, options.scale, limit, std::move(rows)};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the standard workloads of benchmarks/peers.py on Kiln");
  Options options;
  std::vector<std::string> names;
  for (const Entry& entry : entries()) names.push_back(entry.name);
  app.add_option("--only", options.only, "rows to run, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--threads", options.threads, "0: as many as the process may use")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("--scale", options.scale, "of the element counts")
      ->check(CLI::Range(0.001, 16.0))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "of repeated calls, per row")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--json", options.json, "file to write the rows to");
  app.add_flag("--list", options.list, "print the names of the rows");
  CLI11_PARSE(app, argc, argv);

  if (options.list) {
    for (const std::string& name : names) std::cout << name << '\n';
    return 0;
  }
  try {
    const bench::Report report = run(options);
    print(std::cout, report);
    if (!options.json.empty()) write_json(options.json, report);
    const auto failed = [](const bench::Row& row) { return !row.error.empty(); };
    return std::any_of(report.rows.begin(), report.rows.end(), failed) ? 1 : 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
