#include "jit/emitter.h"

#include <algorithm>

#include "ir/core/error.h"
#include "ir/core/reduce_tree.h"

namespace kiln::jit {

using ir::IndexAtom;
using ir::Schedule;
using LValue = llvm::Value;

Emitter::Emitter(const ir::Kernel& kernel, const Target& target, llvm::Module& module)
    : k_(kernel),
      target_(target),
      module_(module),
      context_(module.getContext()),
      b_(context_),
      ops_(b_, module, target),
      lanes_(target.lanes) {
  check_internal(k_.templates.empty(), "jit: templates have no emitter");
  assign_levels();
}

void Emitter::assign_levels() {
  const bool columns = k_.schedule == Schedule::Columns;
  vector_level_ = reduces_rows() ? 1 + std::max(k_.inner, 1) : columns ? 2 + k_.inner : 2;
  const size_t rank = static_cast<size_t>(k_.rank());
  atom_level_.assign(k_.atoms.size(), 1);
  linear_level_.assign(k_.linears.size(), 1);
  value_level_.assign(k_.values.size(), 1);
  for (size_t v = static_cast<size_t>(k_.outer); v < rank; ++v)
    atom_level_[v] = 2 + static_cast<int>(v) - k_.outer;
  if (!reduces_rows() && k_.outer > 0)
    atom_level_[static_cast<size_t>(k_.outer) - 1] = vector_level_;

  // Atoms and linears refer to each other, each only to earlier atoms.
  const auto linear_level = [&](int32_t l) {
    int level = 1;
    for (const ir::IndexTerm& t : k_.linears[static_cast<size_t>(l)].terms)
      level = std::max(level, atom_level_[static_cast<size_t>(t.atom)]);
    return level;
  };
  for (size_t i = rank; i < k_.atoms.size(); ++i) atom_level_[i] = linear_level(k_.atoms[i].linear);
  for (size_t i = 0; i < k_.linears.size(); ++i)
    linear_level_[i] = linear_level(static_cast<int32_t>(i));

  for (size_t i = 0; i < k_.values.size(); ++i) {
    const ir::Value& v = k_.values[i];
    int level = 0;
    const auto at_least = [&](int l) { level = std::max(level, l); };
    for (int32_t in : v.inputs) at_least(value_level_[static_cast<size_t>(in)]);
    if (v.linear >= 0) at_least(linear_level_[static_cast<size_t>(v.linear)]);
    if (v.guard >= 0) at_least(value_level_[static_cast<size_t>(v.guard)]);
    if (v.kind == ir::Value::Kind::Acc) at_least(columns ? vector_level_ : 1);
    if (v.kind == ir::Value::Kind::Scratch) at_least(vector_level_);
    value_level_[i] = level;
  }
}

llvm::Function* Emitter::emit(llvm::StringRef name) {
  function_ = target_.create_function(module_, k_, name);
  at_.assign(static_cast<size_t>(vector_level_) + 1, nullptr);
  for (auto& memo : value_memo_) memo.assign(k_.values.size(), nullptr);
  broadcast_memo_.assign(k_.values.size(), nullptr);
  for (auto& memo : atom_memo_) memo.assign(k_.atoms.size(), nullptr);
  acc_.assign(k_.reduces.size(), Item());
  var_.assign(static_cast<size_t>(k_.rank()), nullptr);

  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  entry_ = target_.emit_entry(b_, function_, k_);
  // Without an iteration extents may be 0: nothing may divide by them.
  if_then(b_.CreateICmpSLT(entry_.first, entry_.end), [&] { emit_iterations(); });
  if (function_->getReturnType()->isVoidTy())
    b_.CreateRetVoid();
  else
    b_.CreateRet(b_.getInt32(0));
  return function_;
}

void Emitter::emit_iterations() {
  if (k_.tile >= 0) {
    LValue* tile = num(k_.tile);
    tiles_ = b_.CreateUDiv(b_.CreateAdd(extent(k_.outer - 1), b_.CreateSub(tile, i64(1))), tile);
  }
  open_level(0);
  if (crosses_rows()) return emit_blocked();
  if (entry_.step) {
    for_loop(entry_.first, entry_.end, entry_.step, [&](LValue* p) {
      place(decompose(p));
      emit_iteration();
    });
    return;
  }
  // Iterations in sequence: variables count up with carries, only the first is found by division.
  std::vector<LValue*> slots;
  for (LValue* i : decompose(entry_.first)) {
    slots.push_back(variable("outer"));
    b_.CreateStore(i, slots.back());
  }
  for_loop(entry_.first, entry_.end, i64(1), [&](LValue*) {
    std::vector<LValue*> index;
    for (LValue* slot : slots) index.push_back(load64(slot));
    place(index);
    emit_iteration();
    LValue* carry = b_.getTrue();
    for (size_t v = slots.size(); v-- > 0;) {
      LValue* next = b_.CreateAdd(index[v], b_.CreateZExt(carry, b_.getInt64Ty()));
      carry = b_.CreateICmpEQ(next, steps(static_cast<int32_t>(v)));
      b_.CreateStore(v > 0 ? b_.CreateSelect(carry, i64(0), next) : next, slots[v]);
    }
  });
}

LValue* Emitter::steps(int32_t var) const {
  return k_.tile >= 0 && var == k_.outer - 1 ? tiles_ : extent(var);
}

std::vector<LValue*> Emitter::decompose(LValue* p) {
  std::vector<LValue*> index(static_cast<size_t>(k_.outer));
  for (int32_t v = k_.outer - 1; v > 0; --v) {
    index[static_cast<size_t>(v)] = b_.CreateURem(p, steps(v));
    p = b_.CreateUDiv(p, steps(v));
  }
  if (k_.outer > 0) index[0] = p;
  return index;
}

void Emitter::place(const std::vector<LValue*>& index) {
  std::copy(index.begin(), index.end(), var_.begin());
  if (k_.tile < 0) return;
  tile_begin_ = b_.CreateMul(index.back(), num(k_.tile));
  tile_end_ = minimum(b_.CreateAdd(tile_begin_, num(k_.tile)), extent(k_.outer - 1));
}

void Emitter::emit_iteration() {
  for (const ir::Stage& stage : k_.stages) emit_stage(stage);
  close_level(1);
}

void Emitter::emit_stage(const ir::Stage& stage) {
  open_level(1);
  if (reduces_rows())
    stage.loop ? emit_rows_stage(stage) : emit_once(stage);
  else if (k_.schedule == Schedule::Columns && stage.loop)
    emit_columns_stage(stage);
  else
    emit_tile_stage(stage);
}

/// Marks and emits all that the stage stores, fills and reduces at the current position.
void Emitter::compute_roots(const ir::Stage& stage) {
  std::vector<uint8_t> needed(k_.values.size());
  for (const ir::Store& s : stage.stores) mark(s.value, needed);
  for (const ir::Fill& f : stage.fills) mark(f.value, needed);
  for (int32_t r : stage.reduces) mark(k_.reduces[static_cast<size_t>(r)].value, needed);
  compute(needed);
}

void Emitter::emit_stores(const ir::Stage& stage) {
  for (const ir::Store& s : stage.stores) emit_store(s);
}

void Emitter::emit_fills(const ir::Stage& stage) {
  for (const ir::Fill& f : stage.fills)
    store_contiguous(to_memory(use(f.value, vector_level_), value(f.value).dtype),
                     scratch_address(f.slot));
}

/// Rows, Split: a stage without a loop works on the scalars of the iteration.
void Emitter::emit_once(const ir::Stage& stage) {
  compute_roots(stage);
  for (const ir::Store& s : stage.stores) {
    check_internal(value_level_[static_cast<size_t>(s.value)] <= 1,
                   "jit: a value of the loop is stored outside it");
    const DType t = value(s.value).dtype;
    LValue* address = b_.CreateGEP(
        memory_type(context_, t), entry_.ptrs[static_cast<size_t>(s.ptr)], linear_scalar(s.linear));
    b_.CreateAlignedStore(to_memory(use(s.value, 1), t), address, llvm::Align(size_of(t)));
  }
}

/// Pointwise, and Columns without a loop: one pass over the elements of the tile.
void Emitter::emit_tile_stage(const ir::Stage& stage) {
  vector_loop(
      tile_begin_, tile_end_,
      [&] {
        compute_roots(stage);
        emit_stores(stage);
      },
      waits_on_latency(stage));
}

bool Emitter::waits_on_latency(const ir::Stage& stage) const {
  if (k_.schedule != Schedule::Pointwise || stage.stores.empty()) return false;
  int calls = 0;  // of math functions
  for (const ir::Value& v : k_.values) calls += v.kind == ir::Value::Kind::Op && ops_.calls(v.op);
  return calls > 0 && calls <= 12;  // beyond, code size counts more
}

void Emitter::open_level(int level) {
  llvm::BasicBlock* next = llvm::BasicBlock::Create(context_, "", function_);
  at_[static_cast<size_t>(level)] = b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

void Emitter::close_level(int level) {
  for (size_t i = 0; i < value_level_.size(); ++i)
    if (value_level_[i] >= level)
      value_memo_[0][i] = value_memo_[1][i] = broadcast_memo_[i] = nullptr;
  for (size_t i = 0; i < atom_level_.size(); ++i)
    if (atom_level_[i] >= level) atom_memo_[0][i] = atom_memo_[1][i] = nullptr;
  std::erase_if(linear_memo_, [&](const auto& e) { return e.first.second >= level; });
  std::erase_if(address_memo_, [&](const auto& e) { return e.second.first >= level; });
}

void Emitter::for_loop(LValue* begin, LValue* end, LValue* step, const Body& body) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context_, "loop", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), head, after);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  body(i);
  LValue* next = b_.CreateNSWAdd(i, step);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), head, after);
  b_.SetInsertPoint(after);
}

void Emitter::if_then(LValue* condition, const std::function<void()>& body) {
  llvm::BasicBlock* then = llvm::BasicBlock::Create(context_, "then", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  body();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Emitter::while_loop(const std::function<LValue*()>& condition,
                         const std::function<void()>& body) {
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context_, "while", function_);
  llvm::BasicBlock* inside = llvm::BasicBlock::Create(context_, "do", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  b_.CreateCondBr(condition(), inside, after);
  b_.SetInsertPoint(inside);
  body();
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
}

void Emitter::vector_loop(LValue* begin, LValue* end, const std::function<void()>& body,
                          bool paired) {
  if (lanes_ == 1) {
    for_loop(begin, end, i64(1), [&](LValue* i) { vector_body(i, nullptr, body); });
    return;
  }
  const int64_t width = paired ? 2 * lanes_ : lanes_;
  LValue* whole = b_.CreateAnd(b_.CreateSub(end, begin), i64(-width));
  LValue* rest = b_.CreateAdd(begin, whole);
  if (!paired) {
    for_loop(begin, rest, i64(width), [&](LValue* i) { vector_body(i, nullptr, body); });
    if_then(b_.CreateICmpSLT(rest, end), [&] { vector_body(rest, b_.CreateSub(end, rest), body); });
    return;
  }
  for_loop(begin, rest, i64(width), [&](LValue* i) { vector_pair(i, body); });
  for_loop(rest, end, i64(lanes_),
           [&](LValue* i) { vector_body(i, minimum(b_.CreateSub(end, i), i64(lanes_)), body); });
}

void Emitter::vector_pair(LValue* position, const std::function<void()>& body) {
  pair_position_[0] = position;
  pair_position_[1] = b_.CreateAdd(position, i64(lanes_));
  paired_ = true;
  select_phase(0);
  open_level(vector_level_);
  for (int phase : {0, 1}) {
    select_phase(phase);
    body();
  }
  close_level(vector_level_);
  select_phase(0);
  paired_ = false;
}

void Emitter::select_phase(int phase) {
  phase_ = phase;
  position_ = pair_position_[phase];
  var_[static_cast<size_t>(vector_var())] = position_;
}

void Emitter::vector_body(LValue* position, LValue* count, const std::function<void()>& body) {
  position_ = position;
  count_ = count;
  mask_ = nullptr;
  if (count) {
    LValue* limit =
        b_.CreateVectorSplat(static_cast<unsigned>(lanes_), b_.CreateTrunc(count, b_.getInt32Ty()));
    mask_ = b_.CreateICmpULT(iota(32), limit);
  }
  var_[static_cast<size_t>(vector_var())] = position;
  open_level(vector_level_);
  body();
  close_level(vector_level_);
  mask_ = count_ = nullptr;
}

void Emitter::inner_loops(int32_t count, const std::function<void()>& body) {
  const std::function<void(int32_t)> nest = [&](int32_t i) {
    if (i == count) return body();
    for_loop(i64(0), extent(k_.outer + i), i64(1), [&](LValue* index) {
      var_[static_cast<size_t>(k_.outer + i)] = index;
      open_level(2 + i);
      nest(i + 1);
      close_level(2 + i);
    });
  };
  nest(0);
}

LValue* Emitter::variable(const char* name, llvm::Type* type) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.begin());
  return b.CreateAlloca(type ? type : b.getInt64Ty(), nullptr, name);
}

LValue* Emitter::minimum(LValue* a, LValue* b) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
}

LValue* Emitter::flat_inner(int32_t count) {
  LValue* flat = i64(0);
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) flat = b_.CreateMul(flat, extent(k_.outer + i));
    flat = b_.CreateAdd(flat, var_[static_cast<size_t>(k_.outer + i)]);
  }
  return flat;
}

LValue* Emitter::inner_positions(int32_t count) {
  LValue* n = i64(1);
  for (int32_t i = 0; i < count; ++i) n = b_.CreateMul(n, extent(k_.outer + i));
  return n;
}

}  // namespace kiln::jit
