// Loads and stores. Inactive lanes of the last vector of a loop are never accessed.
#include "jit/emitter.h"

namespace kiln::jit {

using LValue = llvm::Value;

namespace {
llvm::Align element_align(llvm::Type* element) {
  return llvm::Align(std::max(1u, element->getScalarSizeInBits() / 8));
}
llvm::SmallVector<int, 16> reversed(int lanes) {
  llvm::SmallVector<int, 16> mask;
  for (int l = lanes; l-- > 0;) mask.push_back(l);
  return mask;
}
}  // namespace

LValue* Emitter::to_memory(LValue* v, DType t) {
  if (t != DType::Bool) return v;
  return b_.CreateZExt(v, v->getType()->getWithNewBitWidth(8));
}
LValue* Emitter::from_memory(LValue* v, DType t) {
  if (t != DType::Bool) return v;
  return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
}

bool Emitter::native_mask(llvm::Type* element) const {
  return element->getScalarSizeInBits() < 32 ? target_.byte_masks : target_.word_masks;
}

LValue* Emitter::emit_load(const ir::Value& v, int level) {
  llvm::Type* element = memory_type(context_, v.dtype);
  LValue* guard = v.guard >= 0 ? use(v.guard, level) : nullptr;
  LValue* loaded;
  if (level < vector_level_ || lanes_ == 1) {
    LValue* address =
        b_.CreateGEP(element, entry_.ptrs[static_cast<size_t>(v.ptr)], linear_scalar(v.linear));
    loaded = load_scalar(element, address, guard);
  } else if (LValue* packed = load_packed(v)) {
    loaded = packed;
  } else {
    loaded = load_vector(element, row_address(v.ptr, v.linear), v.linear, guard);
  }
  return from_memory(loaded, v.dtype);
}

LValue* Emitter::load_scalar(llvm::Type* element, LValue* address, LValue* guard) {
  if (!guard) return b_.CreateAlignedLoad(element, address, element_align(element));
  // The builder stands in front of its level's branch, which moves on to the block after the load.
  llvm::Instruction* at = &*b_.GetInsertPoint();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(guard, at, false);
  b_.SetInsertPoint(then);
  LValue* loaded = b_.CreateAlignedLoad(element, address, element_align(element));
  b_.SetInsertPoint(at);
  llvm::PHINode* phi = b_.CreatePHI(element, 2);
  phi->addIncoming(loaded, then->getParent());
  phi->addIncoming(llvm::Constant::getNullValue(element), before);
  return phi;
}

LValue* Emitter::load_vector(llvm::Type* element, LValue* base, int32_t linear, LValue* guard) {
  ir::Stride stride;
  switch (access(linear, &stride)) {
    case Access::Uniform: return load_strided(element, base, i64(0), guard);
    case Access::Contiguous:
      return load_contiguous(element, b_.CreateGEP(element, base, position_), guard);
    case Access::Reversed:
      return load_reversed(element, b_.CreateGEP(element, base, b_.CreateNeg(position_)), guard);
    case Access::Strided: {
      LValue* s = stride_value(stride);
      return load_strided(element, b_.CreateGEP(element, base, b_.CreateMul(position_, s)), s,
                          guard);
    }
    default: break;
  }
  return load_general(element, base, linear_lanes(linear), guard);
}

LValue* Emitter::load_contiguous(llvm::Type* element, LValue* address, LValue* guard) {
  llvm::Type* type = with_lanes(element, lanes_);
  const llvm::Align align = element_align(element);
  if (!guard && !mask_) return b_.CreateAlignedLoad(type, address, align);
  if (!guard && !native_mask(element)) return load_strided(element, address, i64(1), nullptr);
  LValue* mask = !guard ? mask_ : mask_ ? b_.CreateAnd(guard, mask_) : guard;
  return b_.CreateMaskedLoad(type, address, align, mask, llvm::Constant::getNullValue(type));
}

LValue* Emitter::load_reversed(llvm::Type* element, LValue* address, LValue* guard) {
  if (!guard && mask_ && !native_mask(element))
    return load_strided(element, address, i64(-1), nullptr);
  llvm::Type* type = with_lanes(element, lanes_);
  const llvm::Align align = element_align(element);
  LValue* first = b_.CreateGEP(element, address, i64(1 - lanes_));
  LValue* loaded;
  if (!guard && !mask_) {
    loaded = b_.CreateAlignedLoad(type, first, align);
  } else {
    LValue* mask = !guard ? mask_ : mask_ ? b_.CreateAnd(guard, mask_) : guard;
    mask = b_.CreateShuffleVector(mask, reversed(lanes_));
    loaded = b_.CreateMaskedLoad(type, first, align, mask, llvm::Constant::getNullValue(type));
  }
  return b_.CreateShuffleVector(loaded, reversed(lanes_));
}

LValue* Emitter::load_strided(llvm::Type* element, LValue* address, LValue* stride, LValue* guard) {
  if (guard)
    return load_general(element, address, b_.CreateMul(iota(64), broadcast(stride)), guard);
  // Single loads and inserts are faster than gather instructions on most CPUs.
  LValue* result = llvm::PoisonValue::get(with_lanes(element, lanes_));
  for (int l = 0; l < lanes_; ++l) {
    LValue* at = b_.CreateGEP(element, address, b_.CreateMul(clamped_lane(l), stride));
    LValue* lane = b_.CreateAlignedLoad(element, at, element_align(element));
    result = b_.CreateInsertElement(result, lane, static_cast<uint64_t>(l));
  }
  return result;
}

LValue* Emitter::load_general(llvm::Type* element, LValue* base, LValue* index, LValue* guard) {
  llvm::Type* type = with_lanes(element, lanes_);
  LValue* mask = guard && mask_ ? b_.CreateAnd(guard, mask_) : guard;
  if (!guard) {
    // Inactive lanes read what the first lane reads: no mask is needed.
    if (mask_)
      index = b_.CreateSelect(mask_, index, broadcast(b_.CreateExtractElement(index, uint64_t{0})));
    mask = llvm::Constant::getAllOnesValue(with_lanes(b_.getInt1Ty(), lanes_));
  }
  LValue* addresses = b_.CreateGEP(element, base, index);
  return b_.CreateMaskedGather(type, addresses, element_align(element), mask,
                               llvm::Constant::getNullValue(type));
}

void Emitter::emit_store(const ir::Store& s) {
  const DType t = value(s.value).dtype;
  LValue* v = to_memory(use(s.value, vector_level_), t);
  if (lanes_ > 1) return store_vector(v, row_address(s.ptr, s.linear), s.linear);
  LValue* address = b_.CreateGEP(memory_type(context_, t), entry_.ptrs[static_cast<size_t>(s.ptr)],
                                 linear_scalar(s.linear));
  b_.CreateAlignedStore(v, address, element_align(v->getType()));
}

void Emitter::store_vector(LValue* v, LValue* base, int32_t linear) {
  llvm::Type* element = v->getType()->getScalarType();
  ir::Stride stride;
  const Access kind = access(linear, &stride);
  if (kind == Access::Contiguous)
    return store_contiguous(v, b_.CreateGEP(element, base, position_));
  if (kind == Access::Uniform) {
    b_.CreateAlignedStore(b_.CreateExtractElement(v, uint64_t{0}), base, element_align(element));
    return;
  }
  if (kind == Access::Reversed && (!mask_ || native_mask(element))) {
    LValue* address = b_.CreateGEP(element, base, b_.CreateSub(i64(1 - lanes_), position_));
    v = b_.CreateShuffleVector(v, reversed(lanes_));
    if (!mask_)
      b_.CreateAlignedStore(v, address, element_align(element));
    else
      b_.CreateMaskedStore(v, address, element_align(element),
                           b_.CreateShuffleVector(mask_, reversed(lanes_)));
    return;
  }
  if (kind != Access::General) {
    LValue* s = stride_value(stride);
    return store_lanes(v, [&](LValue* lane) {
      return b_.CreateGEP(element, base, b_.CreateMul(b_.CreateAdd(position_, lane), s));
    });
  }
  LValue* index = linear_lanes(linear);
  LValue* slot = variable("index", index->getType());
  b_.CreateStore(index, slot);
  store_lanes(v, [&](LValue* lane) {
    return b_.CreateGEP(element, base, load64(b_.CreateGEP(b_.getInt64Ty(), slot, lane)));
  });
}

void Emitter::store_contiguous(LValue* v, LValue* address) {
  llvm::Type* element = v->getType()->getScalarType();
  const llvm::Align align = element_align(element);
  if (!mask_)
    b_.CreateAlignedStore(v, address, align);
  else if (native_mask(element))
    b_.CreateMaskedStore(v, address, align, mask_);
  else
    store_lanes(v, [&](LValue* lane) { return b_.CreateGEP(element, address, lane); });
}

void Emitter::store_lanes(LValue* v, const std::function<LValue*(LValue*)>& address) {
  llvm::Type* element = v->getType()->getScalarType();
  const llvm::Align align = element_align(element);
  if (!count_) {
    for (int l = 0; l < lanes_; ++l)
      b_.CreateAlignedStore(b_.CreateExtractElement(v, static_cast<uint64_t>(l)), address(i64(l)),
                            align);
    return;
  }
  LValue* slot = variable("lanes", v->getType());
  b_.CreateStore(v, slot);
  for_loop(i64(0), count_, i64(1), [&](LValue* lane) {
    LValue* one = b_.CreateAlignedLoad(element, b_.CreateGEP(element, slot, lane), align);
    b_.CreateAlignedStore(one, address(lane), align);
  });
}

}  // namespace kiln::jit
