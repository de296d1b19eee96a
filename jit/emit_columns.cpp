// Columns: every lane reduces its own column. The accumulators of a tile are arrays in scratch: the
// entries of the pairwise counter, the top one taking the current chunk of rows.
#include "ir/core/reduce_tree.h"
#include "jit/emitter.h"

namespace kiln::jit {

using LValue = llvm::Value;

void Emitter::emit_columns_stage(const ir::Stage& stage) {
  std::vector<const ir::Reduce*> reduces;
  for (int32_t r : stage.reduces) reduces.push_back(&k_.reduces[static_cast<size_t>(r)]);
  LValue* rows = inner_positions(k_.inner);
  LValue* depth = variable("depth");
  LValue* pushed = variable("pushed");
  LValue* bits = variable("bits");
  b_.CreateStore(i64(0), depth);
  b_.CreateStore(i64(0), pushed);
  if (!reduces.empty())
    if_then(b_.CreateICmpEQ(rows, i64(0)), [&] { clear_columns(reduces, i64(0)); });

  inner_loops(k_.inner, [&] {
    LValue* row = flat_inner(k_.inner);
    LValue* array = load64(depth);
    if (!reduces.empty())
      if_then(b_.CreateICmpEQ(b_.CreateAnd(row, i64(reduce_chunk - 1)), i64(0)),
              [&] { clear_columns(reduces, array); });
    vector_loop(tile_begin_, tile_end_, [&] {
      compute_roots(stage);
      accumulate_columns(reduces, array);
      emit_fills(stage);
      emit_stores(stage);
    });
    if (reduces.empty()) return;
    LValue* done = b_.CreateAdd(row, i64(1));
    LValue* full = b_.CreateICmpEQ(b_.CreateAnd(done, i64(reduce_chunk - 1)), i64(0));
    if_then(b_.CreateOr(full, b_.CreateICmpEQ(done, rows)), [&] {
      b_.CreateStore(load64(pushed), bits);
      b_.CreateStore(b_.CreateAdd(load64(pushed), i64(1)), pushed);
      while_loop([&] { return b_.CreateTrunc(load64(bits), b_.getInt1Ty()); },
                 [&] {
                   b_.CreateStore(b_.CreateLShr(load64(bits), i64(1)), bits);
                   LValue* older = b_.CreateSub(load64(depth), i64(1));
                   merge_columns(reduces, older);
                   b_.CreateStore(older, depth);
                 });
      b_.CreateStore(b_.CreateAdd(load64(depth), i64(1)), depth);
    });
  });
  if (reduces.empty()) return;
  while_loop([&] { return b_.CreateICmpSGT(load64(depth), i64(1)); },
             [&] {
               LValue* top = b_.CreateSub(load64(depth), i64(1));
               merge_columns(reduces, b_.CreateSub(top, i64(1)));
               b_.CreateStore(top, depth);
             });
}

void Emitter::accumulate_columns(const std::vector<const ir::Reduce*>& reduces, LValue* array) {
  for (const ir::Reduce* r : reduces) {
    Item item{use(r->value, vector_level_)};
    const Item before = load_column(*r, array);
    if (before.index) item.index = broadcast(flat_inner(k_.inner));
    store_column(*r, array, combine(*r, before, item));
  }
}

void Emitter::clear_columns(const std::vector<const ir::Reduce*>& reduces, LValue* array) {
  vector_loop(tile_begin_, tile_end_, [&] {
    for (const ir::Reduce* r : reduces) store_column(*r, array, identity(*r, lanes_));
  });
}

void Emitter::merge_columns(const std::vector<const ir::Reduce*>& reduces, LValue* older) {
  vector_loop(tile_begin_, tile_end_, [&] {
    for (const ir::Reduce* r : reduces) {
      const Item newer = load_column(*r, b_.CreateAdd(older, i64(1)));
      store_column(*r, older, combine(*r, load_column(*r, older), newer));
    }
  });
}

/// Indices come first, so that both kinds of array are aligned to their elements.
LValue* Emitter::column_address(const ir::Reduce& r, bool index, LValue* array) {
  LValue* base = b_.CreateGEP(b_.getInt8Ty(), entry_.scratch, num(r.scratch));
  if (identity(r, 1).index && !index) {
    // As many arrays as ir::layout_scratch reserves: bit_width(chunks) + 1.
    LValue* rows = inner_positions(k_.inner);
    LValue* chunks = b_.CreateUDiv(b_.CreateAdd(rows, i64(reduce_chunk - 1)), i64(reduce_chunk));
    LValue* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, chunks, b_.getFalse());
    LValue* arrays = b_.CreateSub(i64(65), zeros);
    base = b_.CreateGEP(b_.getInt64Ty(), base, b_.CreateMul(arrays, num(k_.tile)));
  }
  LValue* element =
      b_.CreateAdd(b_.CreateMul(array, num(k_.tile)), b_.CreateSub(position_, tile_begin_));
  return b_.CreateGEP(index ? b_.getInt64Ty() : memory_type(context_, r.dtype), base, element);
}

Item Emitter::load_column(const ir::Reduce& r, LValue* array) {
  Item item{from_memory(
      load_contiguous(memory_type(context_, r.dtype), column_address(r, false, array), nullptr),
      r.dtype)};
  if (identity(r, 1).index)
    item.index = load_contiguous(b_.getInt64Ty(), column_address(r, true, array), nullptr);
  return item;
}

void Emitter::store_column(const ir::Reduce& r, LValue* array, const Item& item) {
  store_contiguous(to_memory(item.value, r.dtype), column_address(r, false, array));
  if (item.index) store_contiguous(item.index, column_address(r, true, array));
}

}  // namespace kiln::jit
