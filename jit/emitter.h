// Kernel IR to LLVM IR, for one target. Internal to jit/.
//
// Every value belongs to a level: 0 the function's entry, 1 an iteration, 2 ... the loops over
// inner variables, the last level being the vector loop, whose body handles `lanes` elements. A
// value is emitted once per run of its level, in front of the deeper loops, whichever of them asks
// for it first.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"
#include "jit/emit_ops.h"
#include "jit/target.h"

namespace kiln::jit {

/// An element on its way through a reduction; `index` for argmax and argmin alone.
struct Item {
  llvm::Value* value = nullptr;
  llvm::Value* index = nullptr;
};

class Emitter {
 public:
  Emitter(const ir::Kernel& kernel, const Target& target, llvm::Module& module);
  /// Adds the kernel's function to the module. `kernel` passes ir::verify.
  llvm::Function* emit(llvm::StringRef name);

 private:
  using Body = std::function<void(llvm::Value*)>;
  /// Stack slots of an Item.
  struct ItemSlot {
    llvm::Value* value = nullptr;
    llvm::Value* index = nullptr;
  };
  /// The binary counter of ir/core/reduce_tree.h, for all reductions of a stage.
  struct Pairwise {
    std::vector<const ir::Reduce*> reduces;
    std::vector<ItemSlot> stacks, carry;
    llvm::Value* depth;   // entries
    llvm::Value* pushed;  // values so far
  };
  /// The reductions of the current stage, in Rows and Split.
  struct RowReduces {
    std::vector<const ir::Reduce*> reduces;
    std::vector<ItemSlot> next, other;  // the lanes that take the next vector, and the other half
    Pairwise blocks;
  };
  enum class Access : uint8_t { Uniform, Contiguous, Reversed, Strided, General };

  // emitter.cpp: structure
  void assign_levels();
  void emit_iterations();
  void emit_iteration();
  /// Number of positions of an outer variable: its extent, or the tiles of the last one.
  llvm::Value* steps(int32_t var) const;
  /// The positions of the outer variables in iteration `p`.
  std::vector<llvm::Value*> decompose(llvm::Value* p);
  void place(const std::vector<llvm::Value*>& index);
  void emit_stage(const ir::Stage& stage);
  void emit_once(const ir::Stage& stage);
  void emit_tile_stage(const ir::Stage& stage);
  void emit_stores(const ir::Stage& stage);
  void emit_fills(const ir::Stage& stage);
  void compute_roots(const ir::Stage& stage);
  void open_level(int level);
  void close_level(int level);
  void for_loop(llvm::Value* begin, llvm::Value* end, llvm::Value* step, const Body& body);
  void if_then(llvm::Value* condition, const std::function<void()>& body);
  void while_loop(const std::function<llvm::Value*()>& condition,
                  const std::function<void()>& body);
  /// Runs `body` at the vector level over [begin, end): whole vectors, then a masked rest.
  /// `paired`: the main loop takes two vectors at a time, `body` being called for each.
  void vector_loop(llvm::Value* begin, llvm::Value* end, const std::function<void()>& body,
                   bool paired = false);
  void vector_pair(llvm::Value* position, const std::function<void()>& body);
  /// Whether long chains of operations leave the units idle, so that two vectors at a time pay.
  bool waits_on_latency(const ir::Stage& stage) const;
  void select_phase(int phase);
  void vector_body(llvm::Value* position, llvm::Value* count, const std::function<void()>& body);
  /// Loops over inner variables [0, count), opening their levels.
  void inner_loops(int32_t count, const std::function<void()>& body);

  // emit_blocked.cpp
  bool crosses_rows() const;
  bool crosses_rows(int32_t linear) const;
  void emit_blocked();
  void pack_blocks(llvm::Value* row, llvm::Value* rows, llvm::Value* column, llvm::Value* end);
  void transpose(std::vector<llvm::Value*>& square);
  llvm::Value* load_packed(const ir::Value& v);
  void emit_block_stage(const ir::Stage& stage, llvm::Value* row, llvm::Value* rows);

  // emit_values.cpp: expressions
  void mark(int32_t value, std::vector<uint8_t>& needed) const;
  void compute(const std::vector<uint8_t>& needed);
  llvm::Value* emit_value(int32_t id);
  /// Value `id` for use at `level`: broadcast where that is the vector level.
  llvm::Value* use(int32_t id, int level);
  llvm::Value* broadcast(llvm::Value* v);

  // emit_access.cpp: memory and indices
  llvm::Value* emit_load(const ir::Value& v, int level);
  llvm::Value* load_vector(llvm::Type* element, llvm::Value* base, int32_t linear,
                           llvm::Value* guard);
  llvm::Value* load_contiguous(llvm::Type* element, llvm::Value* address, llvm::Value* guard);
  llvm::Value* load_reversed(llvm::Type* element, llvm::Value* address, llvm::Value* guard);
  llvm::Value* load_strided(llvm::Type* element, llvm::Value* address, llvm::Value* stride,
                            llvm::Value* guard);
  llvm::Value* load_general(llvm::Type* element, llvm::Value* base, llvm::Value* index,
                            llvm::Value* guard);
  llvm::Value* load_scalar(llvm::Type* element, llvm::Value* address, llvm::Value* guard);
  void emit_store(const ir::Store& store);
  void store_vector(llvm::Value* v, llvm::Value* base, int32_t linear);
  void store_contiguous(llvm::Value* v, llvm::Value* address);
  /// Stores lane l at address(l) for every active lane.
  void store_lanes(llvm::Value* v, const std::function<llvm::Value*(llvm::Value*)>& address);
  llvm::Value* to_memory(llvm::Value* v, DType t);
  llvm::Value* from_memory(llvm::Value* v, DType t);
  Access access(int32_t linear, ir::Stride* stride) const;
  /// Terms of `linear` below `level` plus its offset, at the level where it is known.
  llvm::Value* linear_below(int32_t linear, int level);
  llvm::Value* linear_scalar(int32_t linear);
  /// Without the part that linear_below(linear, vector level) holds.
  llvm::Value* linear_lanes(int32_t linear);
  llvm::Value* linear_vector(int32_t linear);
  llvm::Value* row_address(int32_t ptr, int32_t linear);
  llvm::Value* atom_scalar(int32_t atom);
  llvm::Value* atom_vector(int32_t atom);
  /// Floor division of every lane, 0 <= a < 2^52.
  std::pair<llvm::Value*, llvm::Value*> divide_vector(llvm::Value* a, llvm::Value* divisor);
  llvm::Value* stride_value(const ir::Stride& stride);
  llvm::Value* scratch_address(int32_t slot);
  /// 0, 1, 2 ... in lanes of `bits` bits.
  llvm::Value* iota(unsigned bits);
  bool native_mask(llvm::Type* element) const;
  /// Lane numbers as i64, those of inactive lanes replaced by that of the last active one.
  llvm::Value* clamped_lane(int lane);

  // emit_reduce.cpp: combining
  Item identity(const ir::Reduce& r, int lanes);
  Item combine(const ir::Reduce& r, const Item& older, const Item& newer);
  Item select(llvm::Value* condition, const Item& a, const Item& b);
  Item shuffle(const Item& item, llvm::ArrayRef<int> mask);
  Item combine_lanes(const ir::Reduce& r, const Item& a, const Item& b);
  /// `count` > 0 makes arrays.
  ItemSlot make_slot(const ir::Reduce& r, int lanes, uint64_t count = 0);
  Item load(const ir::Reduce& r, const ItemSlot& slot, int lanes, llvm::Value* entry = nullptr);
  void store(const ir::Reduce& r, const ItemSlot& slot, const Item& item,
             llvm::Value* entry = nullptr);
  Pairwise make_pairwise(const std::vector<const ir::Reduce*>& reduces);
  void reset(const Pairwise& p);
  void push(const Pairwise& p, const std::vector<Item>& items);
  std::vector<Item> fold(const Pairwise& p);

  // emit_rows.cpp, emit_columns.cpp: the schedules that reduce
  void emit_rows_stage(const ir::Stage& stage);
  void emit_many_rows(const ir::Stage& stage, RowReduces& row);
  std::vector<Item> emit_row(const ir::Stage& stage, RowReduces& row);
  std::vector<Item> emit_block(const ir::Stage& stage, RowReduces& row, llvm::Value* begin,
                               llvm::Value* end);
  void emit_pairwise_row(const ir::Stage& stage, RowReduces& row);
  void accumulate(RowReduces& row);
  std::vector<Item> current_items(const std::vector<const ir::Reduce*>& reduces);
  std::pair<llvm::Value*, llvm::Value*> row_range();
  void emit_columns_stage(const ir::Stage& stage);
  void accumulate_columns(const std::vector<const ir::Reduce*>& reduces, llvm::Value* array);
  void clear_columns(const std::vector<const ir::Reduce*>& reduces, llvm::Value* array);
  /// Combines array `older` with the one after it.
  void merge_columns(const std::vector<const ir::Reduce*>& reduces, llvm::Value* older);
  llvm::Value* column_address(const ir::Reduce& r, bool index, llvm::Value* array);
  Item load_column(const ir::Reduce& r, llvm::Value* array);
  void store_column(const ir::Reduce& r, llvm::Value* array, const Item& item);

  // Short forms.
  llvm::Value* i64(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  llvm::Value* num(ir::Num n) const { return entry_.nums[static_cast<size_t>(n)]; }
  llvm::Value* extent(int32_t var) const { return num(k_.extents[static_cast<size_t>(var)]); }
  llvm::Value* variable(const char* name, llvm::Type* type = nullptr);
  llvm::Value* load64(llvm::Value* slot) { return b_.CreateLoad(b_.getInt64Ty(), slot); }
  llvm::Value* minimum(llvm::Value* a, llvm::Value* b);
  /// Row-major number of the current position over inner variables [0, count).
  llvm::Value* flat_inner(int32_t count);
  llvm::Value* inner_positions(int32_t count);
  const ir::Value& value(int32_t id) const { return k_.values[static_cast<size_t>(id)]; }
  bool reduces_rows() const {
    return k_.schedule == ir::Schedule::Rows || k_.schedule == ir::Schedule::Split;
  }
  int32_t vector_var() const { return reduces_rows() ? k_.rank() - 1 : k_.outer - 1; }

  const ir::Kernel& k_;
  const Target& target_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  OpEmitter ops_;
  Entry entry_;
  llvm::Function* function_ = nullptr;

  int vector_level_ = 2;
  int lanes_ = 1;
  std::vector<int> atom_level_, linear_level_, value_level_;
  std::vector<llvm::Value*> var_;       // current value of each variable (scalar)
  std::vector<llvm::Instruction*> at_;  // per level: new values go in front of it

  // What has been emitted in the levels that are open. With two vectors at a time the values of the
  // vector level exist once per phase.
  std::vector<llvm::Value*> value_memo_[2], broadcast_memo_, atom_memo_[2];
  llvm::Value*& value_memo(size_t i) {
    return value_memo_[value_level_[i] == vector_level_ ? phase_ : 0][i];
  }
  llvm::Value*& atom_memo(size_t i) {
    return atom_memo_[atom_level_[i] == vector_level_ ? phase_ : 0][i];
  }
  std::map<std::pair<int32_t, int>, llvm::Value*> linear_memo_;  // (linear, level)
  std::map<std::pair<int32_t, int32_t>, std::pair<int, llvm::Value*>> address_memo_;
  std::vector<Item> acc_;  // results of finished reductions

  // The vector loop: first element, active elements (null: all), their mask.
  llvm::Value* position_ = nullptr;
  llvm::Value* pair_position_[2] = {};  // of both phases
  int phase_ = 0;
  bool paired_ = false;
  llvm::Value* count_ = nullptr;
  llvm::Value* mask_ = nullptr;
  // The block of a kernel that crosses rows: its packed operands by (ptr, linear), the current row.
  std::map<std::pair<int32_t, int32_t>, llvm::Value*> packed_;
  llvm::Value* block_row_ = nullptr;
  llvm::Value* block_column_ = nullptr;

  llvm::Value* tile_begin_ = nullptr;
  llvm::Value* tile_end_ = nullptr;
  llvm::Value* tiles_ = nullptr;
};

}  // namespace kiln::jit
