// Pointwise kernels that read or write across rows, as a transpose does: walked in blocks of rows
// and columns, so that a cache line is used by all rows that need it while it is near.
#include "jit/emitter.h"

namespace kiln::jit {

using ir::Stride;
using LValue = llvm::Value;

namespace {
constexpr int64_t block_rows = 64, block_columns = 128;
/// Elements between the rows of a packed block: no multiple of a cache's sets.
constexpr int64_t packed_pitch = block_columns + 16;
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
    pack_blocks(row, rows, column, end);
    for_loop(i64(0), rows, i64(1), [&](LValue* r) {
      var_[static_cast<size_t>(k_.outer) - 2] = b_.CreateAdd(row, r);
      block_row_ = r;
      open_level(1);
      vector_loop(column, end, [&] {
        compute_roots(stage);
        emit_stores(stage);
      });
      close_level(1);
    });
  });
}

/// Transposes what the block reads across rows into a buffer of its rows, a square of vectors at a
/// time, so that memory is read as it lies.
void Emitter::pack_blocks(LValue* row, LValue* rows, LValue* column, LValue* end) {
  packed_.clear();
  block_column_ = column;
  for (const ir::Value& v : k_.values) {
    if (v.kind != ir::Value::Kind::Load || v.guard >= 0 || !crosses_rows(v.linear)) continue;
    LValue*& buffer = packed_[{v.ptr, v.linear}];
    if (buffer) continue;
    llvm::Type* element = memory_type(context_, v.dtype);
    buffer = variable(
        "block", llvm::ArrayType::get(element, static_cast<uint64_t>(block_rows * packed_pitch)));
    ir::Stride stride;
    access(v.linear, &stride);
    var_[static_cast<size_t>(k_.outer) - 2] = row;
    open_level(1);
    LValue* base = row_address(v.ptr, v.linear);
    for_loop(column, end, i64(lanes_), [&](LValue* c) {
      vector_loop(i64(0), rows, [&] {
        std::vector<LValue*> square;
        for (int64_t l = 0; l < lanes_; ++l) {
          LValue* at = minimum(b_.CreateAdd(c, i64(l)), b_.CreateSub(end, i64(1)));
          LValue* from = b_.CreateGEP(element, base, b_.CreateMul(at, stride_value(stride)));
          square.push_back(
              load_contiguous(element, b_.CreateGEP(element, from, position_), nullptr));
        }
        transpose(square);
        LValue* to = b_.CreateGEP(element, buffer, b_.CreateSub(c, column));
        for (int64_t l = 0; l < lanes_; ++l) {
          LValue* r = b_.CreateMul(b_.CreateAdd(position_, i64(l)), i64(packed_pitch));
          b_.CreateAlignedStore(square[static_cast<size_t>(l)], b_.CreateGEP(element, to, r),
                                llvm::Align(size_of(v.dtype)));
        }
      });
    });
    close_level(1);
  }
}

/// Of as many vectors as they have lanes (a power of two): each step exchanges halves of width w.
void Emitter::transpose(std::vector<LValue*>& square) {
  const size_t n = square.size();
  for (size_t w = n / 2; w > 0; w /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (size_t l = 0; l < n; ++l) {
      const size_t own = l & ~w;
      low.push_back(static_cast<int>(l & w ? n + own : own));
      high.push_back(static_cast<int>(l & w ? n + (own | w) : own | w));
    }
    for (size_t i = 0; i < n; ++i) {
      if (i & w) continue;
      LValue *a = square[i], *b = square[i | w];
      square[i] = b_.CreateShuffleVector(a, b, low);
      square[i | w] = b_.CreateShuffleVector(a, b, high);
    }
  }
}

/// The vector of the current row of the block, if the load's block was packed.
LValue* Emitter::load_packed(const ir::Value& v) {
  const auto block = packed_.find({v.ptr, v.linear});
  if (block == packed_.end() || v.guard >= 0) return nullptr;
  llvm::Type* element = memory_type(context_, v.dtype);
  LValue* at = b_.CreateAdd(b_.CreateMul(block_row_, i64(packed_pitch)),
                            b_.CreateSub(position_, block_column_));
  return b_.CreateAlignedLoad(with_lanes(element, lanes_), b_.CreateGEP(element, block->second, at),
                              llvm::Align(size_of(v.dtype)));
}

}  // namespace kiln::jit
