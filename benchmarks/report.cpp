#include "report.h"

#include <cmath>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace bench {

namespace {

double rounded(double value, int digits) {
  const double unit = std::pow(10.0, digits);
  return std::round(value * unit) / unit;
}

void print_row(std::ostream& out, const Row& row, double limit) {
  out << std::left << std::setw(17) << row.workload << std::right;
  if (!row.error.empty()) {
    out << " " << row.error << '\n';
    return;
  }
  const auto column = [&](int width, int digits, double value) {
    out << std::setw(width) << std::fixed << std::setprecision(digits) << value;
  };
  const auto micros = [&](double us) { column(13, us < 1 ? 4 : us < 1000 ? 2 : 0, us); };
  column(9, 4, row.timing.cold_s);
  micros(row.timing.best_us);
  micros(row.timing.median_us);
  out << std::setw(9) << row.kernels << std::setw(10) << row.external_calls << std::setw(13)
      << row.bytes;
  if (row.bytes > 0) {
    column(9, 2, row.gb_per_s());
    column(9, 2, row.gb_per_s() / limit);
  }
  out << '\n';
}

}  // namespace

void print(std::ostream& out, const Report& report) {
  out << "device=cpu threads=" << report.threads << " scale=" << report.scale << '\n'
      << "workload           cold_s      best_us    median_us  kernels  external        bytes"
         "     GB/s of_limit\n";
  for (const Row& row : report.rows) print_row(out, row, report.limit_gb_per_s);
  for (const Row& row : report.rows) {
    if (row.more.empty()) continue;
    out << row.workload << ':';
    for (const auto& [name, value] : row.more) out << ' ' << name << '=' << rounded(value, 2);
    out << '\n';
  }
}

void write_json(const std::string& path, const Report& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : report.rows) {
    nlohmann::ordered_json r{{"workload", row.workload},
                             {"peer", "kiln"},
                             {"device", "cpu"},
                             {"threads", report.threads},
                             {"scale", report.scale}};
    if (!row.error.empty()) {
      r["error"] = row.error;
    } else {
      r["cold_s"] = rounded(row.timing.cold_s, 6);
      r["best_us"] = rounded(row.timing.best_us, 4);
      r["median_us"] = rounded(row.timing.median_us, 4);
      r["kernels"] = row.kernels;
      r["external_calls"] = row.external_calls;
      r["bytes"] = row.bytes;
      r["gb_per_s"] = rounded(row.gb_per_s(), 3);
      r["of_limit"] = rounded(row.gb_per_s() / report.limit_gb_per_s, 4);
    }
    for (const auto& [name, value] : row.more) r[name] = rounded(value, 3);
    rows.push_back(std::move(r));
  }
  std::ofstream file(path);
  file << rows.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace bench
