// Index expressions: each part is computed at the level of the variables that it depends on.
#include "jit/emitter.h"

namespace kiln::jit {

using ir::IndexAtom;
using ir::IndexTerm;
using ir::Stride;
using LValue = llvm::Value;

LValue* Emitter::stride_value(const Stride& s) {
  return s.kind == Stride::Kind::One        ? i64(1)
         : s.kind == Stride::Kind::MinusOne ? i64(-1)
                                            : num(s.num);
}

Emitter::Access Emitter::access(int32_t linear, Stride* stride) const {
  Access result = Access::Uniform;
  for (const IndexTerm& t : k_.linears[static_cast<size_t>(linear)].terms) {
    if (atom_level_[static_cast<size_t>(t.atom)] < vector_level_) continue;
    if (result != Access::Uniform || t.atom != vector_var()) return Access::General;
    *stride = t.stride;
    result = t.stride.kind == Stride::Kind::One        ? Access::Contiguous
             : t.stride.kind == Stride::Kind::MinusOne ? Access::Reversed
                                                       : Access::Strided;
  }
  return result;
}

LValue* Emitter::linear_below(int32_t linear, int level) {
  const ir::Linear& l = k_.linears[static_cast<size_t>(linear)];
  int own = -1;  // deepest level of a term below `level`
  for (const IndexTerm& t : l.terms) {
    const int a = atom_level_[static_cast<size_t>(t.atom)];
    if (a < level) own = std::max(own, a);
  }
  if (own < 0) return l.offset >= 0 ? num(l.offset) : i64(0);
  const int key = own == vector_level_ ? own + phase_ : own;
  LValue*& memo = linear_memo_[{linear, key}];
  if (memo) return memo;
  LValue* sum = linear_below(linear, own);
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(at_[static_cast<size_t>(own)]);
  for (const IndexTerm& t : l.terms) {
    if (atom_level_[static_cast<size_t>(t.atom)] != own) continue;
    LValue* atom = atom_scalar(t.atom);
    sum = b_.CreateAdd(sum, b_.CreateMul(atom, stride_value(t.stride)));
  }
  return linear_memo_[{linear, key}] = sum;
}

LValue* Emitter::linear_scalar(int32_t linear) { return linear_below(linear, vector_level_ + 1); }

LValue* Emitter::linear_vector(int32_t linear) {
  return b_.CreateAdd(broadcast(linear_below(linear, vector_level_)), linear_lanes(linear));
}

LValue* Emitter::linear_lanes(int32_t linear) {
  LValue* sum = llvm::Constant::getNullValue(with_lanes(b_.getInt64Ty(), lanes_));
  for (const IndexTerm& t : k_.linears[static_cast<size_t>(linear)].terms) {
    if (atom_level_[static_cast<size_t>(t.atom)] < vector_level_) continue;
    LValue* stride = broadcast(stride_value(t.stride));
    sum = b_.CreateAdd(sum, b_.CreateMul(atom_vector(t.atom), stride));
  }
  return sum;
}

LValue* Emitter::row_address(int32_t ptr, int32_t linear) {
  auto& [level, memo] = address_memo_[{ptr, linear}];
  if (memo) return memo;
  level = 0;
  for (const IndexTerm& t : k_.linears[static_cast<size_t>(linear)].terms) {
    const int a = atom_level_[static_cast<size_t>(t.atom)];
    if (a < vector_level_) level = std::max(level, a);
  }
  LValue* offset = linear_below(linear, vector_level_);
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(at_[static_cast<size_t>(level)]);
  const size_t p = static_cast<size_t>(ptr);
  memo = b_.CreateGEP(memory_type(context_, k_.ptrs[p].dtype), entry_.ptrs[p], offset);
  return memo;
}

LValue* Emitter::atom_scalar(int32_t atom) {
  const size_t i = static_cast<size_t>(atom);
  const IndexAtom& a = k_.atoms[i];
  if (a.kind == IndexAtom::Kind::Var) return var_[static_cast<size_t>(a.var)];
  if (atom_memo(i)) return atom_memo(i);
  LValue* dividend = linear_scalar(a.linear);
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(at_[static_cast<size_t>(atom_level_[i])]);
  LValue* divisor = num(a.divisor);
  atom_memo(i) = a.kind == IndexAtom::Kind::Div ? b_.CreateUDiv(dividend, divisor)
                                                : b_.CreateURem(dividend, divisor);
  return atom_memo(i);
}

LValue* Emitter::atom_vector(int32_t atom) {
  const size_t i = static_cast<size_t>(atom);
  const IndexAtom& a = k_.atoms[i];
  if (atom_memo(i)) return atom_memo(i);
  if (a.kind == IndexAtom::Kind::Var) {
    atom_memo(i) = b_.CreateAdd(broadcast(position_), iota(64));
  } else {
    const auto [quotient, rest] = divide_vector(linear_vector(a.linear), num(a.divisor));
    atom_memo(i) = a.kind == IndexAtom::Kind::Div ? quotient : rest;
  }
  return atom_memo(i);
}

/// No CPU divides vectors of 64-bit integers. The product with the rounded reciprocal, rounded to
/// an integer by adding 2^52, is off by one at most.
std::pair<LValue*, LValue*> Emitter::divide_vector(LValue* a, LValue* divisor) {
  llvm::Type* ints = a->getType();
  llvm::Type* doubles = with_lanes(b_.getDoubleTy(), lanes_);
  llvm::Constant* shifter = llvm::ConstantFP::get(doubles, 0x1p52);
  llvm::Constant* shifter_bits = llvm::ConstantInt::get(ints, 0x4330000000000000u);
  LValue* reciprocal = b_.CreateFDiv(llvm::ConstantFP::get(b_.getDoubleTy(), 1.0),
                                     b_.CreateSIToFP(divisor, b_.getDoubleTy()));
  LValue* d = broadcast(divisor);
  LValue* fa = b_.CreateFSub(b_.CreateBitCast(b_.CreateOr(a, shifter_bits), doubles), shifter);
  LValue* fq = b_.CreateFAdd(b_.CreateFMul(fa, broadcast(reciprocal)), shifter);
  LValue* q = b_.CreateXor(b_.CreateBitCast(fq, ints), shifter_bits);
  LValue* r = b_.CreateSub(a, b_.CreateMul(q, d));
  LValue* zero = llvm::Constant::getNullValue(ints);
  LValue* below = b_.CreateICmpSLT(r, zero);
  LValue* above = b_.CreateICmpSGE(r, d);
  LValue* one = llvm::ConstantInt::get(ints, 1);
  q = b_.CreateSub(q, b_.CreateSelect(below, one, zero));
  q = b_.CreateAdd(q, b_.CreateSelect(above, one, zero));
  r = b_.CreateAdd(r, b_.CreateSelect(below, d, zero));
  r = b_.CreateSub(r, b_.CreateSelect(above, d, zero));
  return {q, r};
}

LValue* Emitter::iota(unsigned bits) {
  llvm::SmallVector<llvm::Constant*, 16> lanes;
  for (int l = 0; l < lanes_; ++l) lanes.push_back(b_.getIntN(bits, static_cast<uint64_t>(l)));
  return lanes_ == 1 ? lanes[0] : llvm::ConstantVector::get(lanes);
}

LValue* Emitter::clamped_lane(int lane) {
  return count_ ? minimum(i64(lane), b_.CreateSub(count_, i64(1))) : i64(lane);
}

LValue* Emitter::scratch_address(int32_t slot) {
  const ir::ScratchSlot& s = k_.scratch[static_cast<size_t>(slot)];
  LValue* element;
  if (reduces_rows()) {
    element = b_.CreateMul(flat_inner(k_.inner - 1), extent(k_.rank() - 1));
    element = b_.CreateAdd(element, position_);
  } else {
    element = b_.CreateMul(flat_inner(k_.inner), num(k_.tile));
    element = b_.CreateAdd(element, b_.CreateSub(position_, tile_begin_));
  }
  LValue* base = b_.CreateGEP(b_.getInt8Ty(), entry_.scratch, num(s.offset));
  return b_.CreateGEP(memory_type(context_, s.dtype), base, element);
}

}  // namespace kiln::jit
