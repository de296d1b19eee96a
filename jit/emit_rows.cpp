// Rows and Split: lanes run along the last inner variable, in the lane tree of
// ir/core/reduce_tree.h.
#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"
#include "jit/emitter.h"

namespace kiln::jit {

using LValue = llvm::Value;

std::pair<LValue*, LValue*> Emitter::row_range() {
  LValue* n = extent(k_.rank() - 1);
  if (k_.schedule != ir::Schedule::Split) return {i64(0), n};
  LValue* group = i64(ir::split_group());
  LValue* begin = b_.CreateMul(var_[static_cast<size_t>(k_.outer) - 1], group);
  return {begin, minimum(b_.CreateAdd(begin, group), n)};
}

void Emitter::emit_rows_stage(const ir::Stage& stage) {
  if (stage.reduces.empty()) {
    inner_loops(k_.inner - 1, [&] {
      const auto [begin, end] = row_range();
      vector_loop(begin, end, [&] {
        compute_roots(stage);
        emit_fills(stage);
        emit_stores(stage);
      });
    });
    return;
  }
  RowReduces row;
  for (int32_t r : stage.reduces) row.reduces.push_back(&k_.reduces[static_cast<size_t>(r)]);
  for (const ir::Reduce* r : row.reduces) {
    row.next.push_back(make_slot(*r, lanes_));
    row.other.push_back(make_slot(*r, lanes_));
  }
  row.blocks = make_pairwise(row.reduces);

  std::vector<Item> results;
  if (k_.inner == 1) {
    results = emit_row(stage, row);
  } else {
    Pairwise chunks = make_pairwise(row.reduces);
    std::vector<ItemSlot> chunk;
    for (const ir::Reduce* r : row.reduces) chunk.push_back(make_slot(*r, 1));
    const auto clear = [&] {
      for (size_t i = 0; i < chunk.size(); ++i)
        store(*row.reduces[i], chunk[i], identity(*row.reduces[i], 1));
    };
    const auto read = [&] {
      std::vector<Item> items;
      for (size_t i = 0; i < chunk.size(); ++i) items.push_back(load(*row.reduces[i], chunk[i], 1));
      return items;
    };
    reset(chunks);
    clear();
    LValue* rows = inner_positions(k_.inner - 1);
    inner_loops(k_.inner - 1, [&] {
      const std::vector<Item> items = emit_row(stage, row);
      const std::vector<Item> before = read();
      for (size_t i = 0; i < chunk.size(); ++i)
        store(*row.reduces[i], chunk[i], combine(*row.reduces[i], before[i], items[i]));
      LValue* done = b_.CreateAdd(flat_inner(k_.inner - 1), i64(1));
      LValue* full = b_.CreateICmpEQ(b_.CreateAnd(done, i64(reduce_chunk - 1)), i64(0));
      if_then(b_.CreateOr(full, b_.CreateICmpEQ(done, rows)), [&] {
        push(chunks, read());
        clear();
      });
    });
    results = fold(chunks);
  }
  for (size_t i = 0; i < results.size(); ++i)
    acc_[static_cast<size_t>(stage.reduces[i])] = results[i];
}

std::vector<Item> Emitter::emit_row(const ir::Stage& stage, RowReduces& row) {
  reset(row.blocks);
  if (row.reduces[0]->tree == ir::Reduce::Tree::Pairwise) {
    emit_pairwise_row(stage, row);
  } else {
    const auto [begin, end] = row_range();
    LValue* limit = end;
    for_loop(begin, end, i64(reduce_block), [&](LValue* block) {
      LValue* block_end = minimum(b_.CreateAdd(block, i64(reduce_block)), limit);
      push(row.blocks, emit_block(stage, row, block, block_end));
    });
  }
  return fold(row.blocks);
}

/// The elements are results of blocks already: no lanes, only the counter.
void Emitter::emit_pairwise_row(const ir::Stage& stage, RowReduces& row) {
  for (const ir::Reduce* r : row.reduces)
    check_internal(r->tree == ir::Reduce::Tree::Pairwise, "jit: a stage mixes reduction trees");
  const int lanes = lanes_;
  lanes_ = 1;
  const auto [begin, end] = row_range();
  vector_loop(begin, end, [&] {
    compute_roots(stage);
    push(row.blocks, current_items(row.reduces));
    emit_fills(stage);
    emit_stores(stage);
  });
  lanes_ = lanes;
}

std::vector<Item> Emitter::emit_block(const ir::Stage& stage, RowReduces& row, LValue* begin,
                                      LValue* end) {
  for (size_t i = 0; i < row.reduces.size(); ++i) {
    store(*row.reduces[i], row.next[i], identity(*row.reduces[i], lanes_));
    store(*row.reduces[i], row.other[i], identity(*row.reduces[i], lanes_));
  }
  vector_loop(begin, end, [&] {
    compute_roots(stage);
    accumulate(row);
    emit_fills(stage);
    emit_stores(stage);
  });
  // Which half came to hold the even vectors does not matter: combining two values commutes.
  std::vector<Item> result;
  for (size_t i = 0; i < row.reduces.size(); ++i) {
    const ir::Reduce& r = *row.reduces[i];
    result.push_back(combine_lanes(r, load(r, row.next[i], lanes_), load(r, row.other[i], lanes_)));
  }
  return result;
}

std::vector<Item> Emitter::current_items(const std::vector<const ir::Reduce*>& reduces) {
  std::vector<Item> items;
  for (const ir::Reduce* r : reduces) {
    Item item{use(r->value, vector_level_)};
    if (identity(*r, 1).index) {
      LValue* first = b_.CreateMul(flat_inner(k_.inner - 1), extent(k_.rank() - 1));
      item.index = b_.CreateAdd(broadcast(b_.CreateAdd(first, position_)), iota(64));
    }
    items.push_back(item);
  }
  return items;
}

/// The halves change places after each vector, so that one body serves both.
void Emitter::accumulate(RowReduces& row) {
  const std::vector<Item> items = current_items(row.reduces);
  for (size_t i = 0; i < items.size(); ++i) {
    const ir::Reduce& r = *row.reduces[i];
    const Item before = load(r, row.next[i], lanes_);
    Item after = combine(r, before, items[i]);
    if (mask_) after = select(mask_, after, before);
    if (lanes_ == 1) {
      store(r, row.next[i], after);
    } else {
      store(r, row.next[i], load(r, row.other[i], lanes_));
      store(r, row.other[i], after);
    }
  }
}

}  // namespace kiln::jit
