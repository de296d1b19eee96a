// Pointwise kernels that read or write across rows, as a transpose does: walked in blocks of rows
// and columns, so that a cache line is used by all rows that need it while it is near.
#include "jit/emitter.h"

namespace kiln::jit {

using ir::Stride;
using LValue = llvm::Value;

namespace {
constexpr int64_t block_rows = 128;
constexpr int64_t block_columns = 16;  // lines in use at once: few, they may share a cache set
}  // namespace

/// Strided along the last outer variable, neighbours along the one before.
bool Emitter::crosses_rows(int32_t linear) const {
  Stride stride;
  if (access(linear, &stride) != Access::Strided) return false;
  for (const ir::IndexTerm& t : k_.linears[static_cast<size_t>(linear)].terms)
    if (t.atom == k_.outer - 2) return t.stride.kind == Stride::Kind::One;
  return false;
}

bool Emitter::crosses_rows() const {
  if (lanes_ == 1 || k_.schedule != ir::Schedule::Pointwise || k_.outer < 2) return false;
  for (const ir::Value& v : k_.values)
    if (v.kind == ir::Value::Kind::Load && crosses_rows(v.linear)) return true;
  for (const ir::Stage& stage : k_.stages)
    for (const ir::Store& s : stage.stores)
      if (crosses_rows(s.linear)) return true;
  return false;
}

void Emitter::emit_blocked() {
  const size_t row_var = static_cast<size_t>(k_.outer) - 2;
  LValue* next = variable("next");
  b_.CreateStore(entry_.first, next);
  while_loop([&] { return b_.CreateICmpSLT(load64(next), entry_.end); },
             [&] {
               LValue* p = load64(next);
               place(decompose(p));
               LValue* row = var_[row_var];
               // Consecutive iterations are consecutive rows of one tile.
               LValue* rows =
                   minimum(b_.CreateSub(extent(k_.outer - 2), row), b_.CreateSub(entry_.end, p));
               rows = minimum(rows, i64(block_rows));
               rows = b_.CreateSelect(b_.CreateICmpEQ(tiles_, i64(1)), rows, i64(1));
               for (const ir::Stage& stage : k_.stages) emit_block_stage(stage, row, rows);
               b_.CreateStore(b_.CreateAdd(p, rows), next);
             });
}

void Emitter::emit_block_stage(const ir::Stage& stage, LValue* row, LValue* rows) {
  for_loop(tile_begin_, tile_end_, i64(block_columns), [&](LValue* column) {
    LValue* end = minimum(b_.CreateAdd(column, i64(block_columns)), tile_end_);
    for_loop(i64(0), rows, i64(1), [&](LValue* r) {
      var_[static_cast<size_t>(k_.outer) - 2] = b_.CreateAdd(row, r);
      open_level(1);
      vector_loop(column, end, [&] {
        compute_roots(stage);
        emit_stores(stage);
      });
      close_level(1);
    });
  });
}

}  // namespace kiln::jit
