#include "ir/core/error.h"
#include "jit/emitter.h"

namespace kiln::jit {

using Kind = ir::Value::Kind;
using LValue = llvm::Value;

void Emitter::mark(int32_t value, std::vector<uint8_t>& needed) const {
  needed[static_cast<size_t>(value)] = 1;
}

void Emitter::compute(const std::vector<uint8_t>& roots) {
  std::vector<uint8_t> needed = roots;
  for (size_t i = needed.size(); i-- > 0;) {
    if (!needed[i] || value_memo(i)) continue;
    for (int32_t in : k_.values[i].inputs) mark(in, needed);
    if (k_.values[i].guard >= 0) mark(k_.values[i].guard, needed);
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i] || value_memo(i)) continue;
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(at_[static_cast<size_t>(value_level_[i])]);
    const int phase = phase_;
    // Both vectors of a pair side by side, so that their chains overlap.
    const bool both = paired_ && value_level_[i] == vector_level_;
    for (int p = both ? 0 : phase; p <= (both ? 1 : phase); ++p) {
      if (both) select_phase(p);
      value_memo(i) = emit_value(static_cast<int32_t>(i));
    }
    if (both) select_phase(phase);
  }
}

LValue* Emitter::emit_value(int32_t id) {
  const ir::Value& v = value(id);
  const int level = value_level_[static_cast<size_t>(id)];
  const int lanes = level == vector_level_ ? lanes_ : 1;
  switch (v.kind) {
    case Kind::Const: return constant(context_, v.dtype, v.bits, 1);
    case Kind::Scalar: {
      llvm::Type* type = value_type(context_, v.dtype);
      LValue* bits = b_.CreateTrunc(num(v.num), b_.getIntNTy(type->getScalarSizeInBits()));
      return b_.CreateBitCast(bits, type);
    }
    case Kind::Load: return emit_load(v, level);
    case Kind::Index: return lanes == 1 ? linear_scalar(v.linear) : linear_vector(v.linear);
    case Kind::Op: {
      llvm::SmallVector<LValue*, 4> in;
      for (int32_t i : v.inputs) in.push_back(use(i, level));
      const bool where = v.op == ir::Op::Where;
      const DType from = v.inputs.empty() ? v.dtype : value(v.inputs[where ? 1 : 0]).dtype;
      return ops_.emit(v.op, from, v.dtype, {in.data(), in.size()}, lanes);
    }
    case Kind::Acc: {
      const ir::Reduce& r = k_.reduces[static_cast<size_t>(v.slot)];
      Item item = acc_[static_cast<size_t>(v.slot)];
      if (k_.schedule == ir::Schedule::Columns) item = load_column(r, i64(0));
      return item.index ? item.index : item.value;
    }
    case Kind::Scratch: {
      const DType t = k_.scratch[static_cast<size_t>(v.slot)].dtype;
      return from_memory(
          load_contiguous(memory_type(context_, t), scratch_address(v.slot), nullptr), t);
    }
  }
  internal_error("jit: unknown kind of value");
}

LValue* Emitter::use(int32_t id, int level) {
  const size_t i = static_cast<size_t>(id);
  const int own = value_level_[i];
  if (level < vector_level_ || own == vector_level_ || lanes_ == 1) return value_memo(i);
  if (!broadcast_memo_[i]) {
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(at_[static_cast<size_t>(own)]);
    broadcast_memo_[i] = broadcast(value_memo(i));
  }
  return broadcast_memo_[i];
}

LValue* Emitter::broadcast(LValue* v) {
  return lanes_ == 1 ? v : b_.CreateVectorSplat(static_cast<unsigned>(lanes_), v);
}

}  // namespace kiln::jit
