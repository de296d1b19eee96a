// Builds a kernel and the values of its arguments side by side. Sizes become nums, each use its
// own, so that sizes which happen to be equal do not change the kernel's text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/plan.h"

namespace kiln::fusion {

/// A loop of the kernel under construction, outer ones first.
struct Loop {
  ir::Expr var;  // 0 where the extent is 1
  ir::Expr extent;
  int64_t size;  // its present value
  bool inner = false;
};

class KernelBuilder {
 public:
  KernelBuilder(ir::ExprPool& pool, ir::Schedule schedule, const std::vector<Loop>& loops);

  int32_t load(int32_t slot, DType dtype, const ir::Expr& index, int32_t guard);
  int32_t index_value(const ir::Expr& e);
  int32_t bound(const ir::Expr& e);  // an i64 value that depends on no loop
  int32_t scalar(int32_t param, DType dtype);
  int32_t constant(Bits bits, DType dtype);
  int32_t op(ir::Op op, DType dtype, std::initializer_list<int32_t> inputs) {
    return this->op(op, dtype, SmallVector<int32_t, 3>(inputs));
  }
  int32_t op(ir::Op op, DType dtype, SmallVector<int32_t, 3> inputs);
  /// The result of a new reduction of `value`.
  int32_t reduce(ir::Op op, DType result, int32_t value, ir::Reduce::Tree tree);
  void store(int32_t slot, DType dtype, const ir::Expr& index, int32_t value);
  /// Adds a scratch slot.
  int32_t scratch_slot(DType dtype);
  int32_t add_value(ir::Value v);
  /// Drops the values that no stage uses; call it last.
  void remove_dead_values();

  ir::Kernel kernel;
  ir::PlanStep step;
  /// Stores in the order in which they were asked for; the stages distribute them.
  std::vector<ir::Store> stores;
  /// Every index that the kernel uses, as expressions over the loop variables.
  std::vector<ir::Expr> indices;

 private:
  ir::Num num(ir::NumRole role, ir::NumBind bind, DType dtype = DType::I64);
  int32_t ptr(int32_t slot, DType dtype, const ir::Expr& offset, bool output);
  int32_t atom(ir::AtomId id);
  /// The part of e that varies; `constant` gets the rest.
  int32_t linear(const ir::Expr& e, ir::Expr* constant);
  /// All of e, with the constant part as an Offset num.
  int32_t linear_with_offset(const ir::Expr& e);
  void touch(int32_t slot, const ir::Expr& index, bool write);
  bool varies(ir::AtomId id) const;

  ir::ExprPool& pool_;
  std::vector<Loop> loops_;
  std::map<int32_t, int32_t> var_of_;  // pool variable -> kernel variable
  std::map<std::string, int32_t> atoms_, linears_, ptrs_, values_;
  std::map<std::string, bool> touched_;
};

}  // namespace kiln::fusion
