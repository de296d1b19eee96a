// The tree of class R as an object that takes its elements in runs: what the kernel interpreter
// reduces with.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/kernel.h"

namespace kiln::ir {

class Reduction {
 public:
  virtual ~Reduction() = default;

  /// Forgets everything; `columns` independent reductions follow (1 where rows are added).
  virtual void reset(int64_t columns) = 0;
  /// Adds elements [j, j + n) of the current row, which lie in one block of the tree. `index` is
  /// the row-major position of the first among all elements.
  virtual void add_run(const Bits* values, int64_t n, int64_t j, int64_t index) = 0;
  /// Ends the current row.
  virtual void end_row() = 0;
  /// Adds a row of one element, at row-major position `index`, to each of `n` columns from `first`
  /// on.
  virtual void add_columns(const Bits* values, int64_t n, int64_t first, int64_t index) = 0;
  /// Writes the result of each column. Requires at least one element in each.
  virtual void finish(Bits* results) = 0;
};

std::unique_ptr<Reduction> make_reduction(const Reduce& reduce);

}  // namespace kiln::ir
