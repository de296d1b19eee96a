// Rows as a table and as JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "measure.h"

namespace bench {

struct Report {
  int threads;
  double scale;
  double limit_gb_per_s;  // of the copy
  std::vector<Row> rows;
};

void print(std::ostream& out, const Report& report);

/// The keys of peers.py, and kernels, external_calls, bytes, gb_per_s, of_limit. Throws
/// std::runtime_error if the file cannot be written.
void write_json(const std::string& path, const Report& report);

}  // namespace bench
