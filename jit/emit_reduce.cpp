// What all reducing schedules share: how elements combine, and the pairwise counter.
#include <limits>

#include "ir/core/error.h"
#include "jit/emitter.h"

namespace kiln::jit {

using ir::Op;
using LValue = llvm::Value;

namespace {

constexpr uint64_t pairwise_depth = 64;  // a binary counter of 64 bits cannot outgrow it

bool indexed(const ir::Reduce& r) { return r.op == Op::Argmax || r.op == Op::Argmin; }

template <class T>
Bits neutral_of(Op op) {
  using L = std::numeric_limits<T>;
  switch (op) {
    // -0 + x is x for every x, +0 is not.
    case Op::Sum: return Bits::of(L::has_infinity ? static_cast<T>(-0.0) : T());
    case Op::Prod: return Bits::of(T(1));
    case Op::Amax:
    case Op::Argmax:
      return Bits::of(L::has_infinity ? static_cast<T>(-L::infinity()) : L::lowest());
    case Op::Amin:
    case Op::Argmin: return Bits::of(L::has_infinity ? L::infinity() : L::max());
    default: internal_error("jit: not a reduction: " + std::string(ir::name(op)));
  }
}

}  // namespace

/// Combining with it changes nothing, bit for bit; so lanes without elements may hold it.
Item Emitter::identity(const ir::Reduce& r, int lanes) {
  const Bits bits = dispatch(r.dtype, [&](auto t) { return neutral_of<decltype(t)>(r.op); });
  Item item{constant(context_, r.dtype, bits, lanes)};
  if (indexed(r))
    item.index =
        constant(context_, DType::I64, Bits::of(std::numeric_limits<int64_t>::max()), lanes);
  return item;
}

Item Emitter::combine(const ir::Reduce& r, const Item& older, const Item& newer) {
  LValue* const in[] = {older.value, newer.value};
  switch (r.op) {
    case Op::Sum: return {ops_.emit(Op::Add, r.dtype, r.dtype, in, 0)};
    case Op::Prod: return {ops_.emit(Op::Mul, r.dtype, r.dtype, in, 0)};
    case Op::Amax: return {ops_.extreme(true, r.dtype, in[0], in[1])};
    case Op::Amin: return {ops_.extreme(false, r.dtype, in[0], in[1])};
    default: break;
  }
  // A NaN beats all; of equals, the smaller index. The order of combination does not matter.
  const Op beats = r.op == Op::Argmax ? Op::Gt : Op::Lt;
  LValue* better = ops_.emit(beats, r.dtype, DType::Bool, {{newer.value, older.value}}, 0);
  LValue* tie = ops_.emit(Op::Eq, r.dtype, DType::Bool, in, 0);
  if (is_float(r.dtype)) {
    LValue* nan = b_.CreateFCmpUNO(newer.value, newer.value);
    LValue* old_nan = b_.CreateFCmpUNO(older.value, older.value);
    better = b_.CreateOr(better, b_.CreateAnd(nan, b_.CreateNot(old_nan)));
    tie = b_.CreateOr(tie, b_.CreateAnd(nan, old_nan));
  }
  tie = b_.CreateAnd(tie, b_.CreateICmpSLT(newer.index, older.index));
  return select(b_.CreateOr(better, tie), newer, older);
}

Item Emitter::select(LValue* condition, const Item& a, const Item& b) {
  return {b_.CreateSelect(condition, a.value, b.value),
          a.index ? b_.CreateSelect(condition, a.index, b.index) : nullptr};
}

Item Emitter::shuffle(const Item& item, llvm::ArrayRef<int> mask) {
  return {b_.CreateShuffleVector(item.value, mask),
          item.index ? b_.CreateShuffleVector(item.index, mask) : nullptr};
}

Item Emitter::combine_lanes(const ir::Reduce& r, const Item& a, const Item& b) {
  if (lanes_ == 1) return a;
  Item item = combine(r, a, b);
  for (int half = lanes_ / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> mask(static_cast<size_t>(lanes_), -1);
    for (int l = 0; l < half; ++l) mask[static_cast<size_t>(l)] = l + half;
    item = combine(r, item, shuffle(item, mask));
  }
  const uint64_t first = 0;
  return {b_.CreateExtractElement(item.value, first),
          item.index ? b_.CreateExtractElement(item.index, first) : nullptr};
}

Emitter::ItemSlot Emitter::make_slot(const ir::Reduce& r, int lanes, uint64_t count) {
  const auto make = [&](llvm::Type* element) {
    llvm::Type* type = with_lanes(element, lanes);
    return variable("item", count ? llvm::ArrayType::get(type, count) : type);
  };
  return {make(value_type(context_, r.dtype)), indexed(r) ? make(b_.getInt64Ty()) : nullptr};
}

Item Emitter::load(const ir::Reduce& r, const ItemSlot& slot, int lanes, LValue* entry) {
  const auto get = [&](llvm::Type* element, LValue* from) {
    llvm::Type* type = with_lanes(element, lanes);
    return b_.CreateLoad(type, entry ? b_.CreateGEP(type, from, entry) : from);
  };
  return {get(value_type(context_, r.dtype), slot.value),
          slot.index ? get(b_.getInt64Ty(), slot.index) : nullptr};
}

void Emitter::store(const ir::Reduce&, const ItemSlot& slot, const Item& item, LValue* entry) {
  const auto put = [&](LValue* v, LValue* to) {
    b_.CreateStore(v, entry ? b_.CreateGEP(v->getType(), to, entry) : to);
  };
  put(item.value, slot.value);
  if (item.index) put(item.index, slot.index);
}

Emitter::Pairwise Emitter::make_pairwise(const std::vector<const ir::Reduce*>& reduces) {
  Pairwise p{reduces, {}, {}, variable("depth"), variable("pushed")};
  for (const ir::Reduce* r : reduces) {
    p.stacks.push_back(make_slot(*r, 1, pairwise_depth));
    p.carry.push_back(make_slot(*r, 1));
  }
  return p;
}

void Emitter::reset(const Pairwise& p) {
  b_.CreateStore(i64(0), p.depth);
  b_.CreateStore(i64(0), p.pushed);
  // What fold gives if nothing is pushed.
  for (size_t i = 0; i < p.reduces.size(); ++i)
    store(*p.reduces[i], p.stacks[i], identity(*p.reduces[i], 1), i64(0));
}

void Emitter::push(const Pairwise& p, const std::vector<Item>& items) {
  LValue* bits = variable("bits");
  LValue* pushed = load64(p.pushed);
  b_.CreateStore(pushed, bits);
  b_.CreateStore(b_.CreateAdd(pushed, i64(1)), p.pushed);
  for (size_t i = 0; i < items.size(); ++i) store(*p.reduces[i], p.carry[i], items[i]);
  while_loop([&] { return b_.CreateTrunc(load64(bits), b_.getInt1Ty()); },
             [&] {
               b_.CreateStore(b_.CreateLShr(load64(bits), i64(1)), bits);
               LValue* top = b_.CreateSub(load64(p.depth), i64(1));
               b_.CreateStore(top, p.depth);
               for (size_t i = 0; i < items.size(); ++i) {
                 const ir::Reduce& r = *p.reduces[i];
                 store(r, p.carry[i],
                       combine(r, load(r, p.stacks[i], 1, top), load(r, p.carry[i], 1)));
               }
             });
  LValue* depth = load64(p.depth);
  for (size_t i = 0; i < items.size(); ++i)
    store(*p.reduces[i], p.stacks[i], load(*p.reduces[i], p.carry[i], 1), depth);
  b_.CreateStore(b_.CreateAdd(depth, i64(1)), p.depth);
}

std::vector<Item> Emitter::fold(const Pairwise& p) {
  LValue* top = b_.CreateSub(load64(p.depth), i64(1));
  top = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, top, i64(0));
  LValue* rest = variable("rest");
  b_.CreateStore(top, rest);
  for (size_t i = 0; i < p.reduces.size(); ++i)
    store(*p.reduces[i], p.carry[i], load(*p.reduces[i], p.stacks[i], 1, top));
  while_loop([&] { return b_.CreateICmpSGT(load64(rest), i64(0)); },
             [&] {
               LValue* below = b_.CreateSub(load64(rest), i64(1));
               b_.CreateStore(below, rest);
               for (size_t i = 0; i < p.reduces.size(); ++i) {
                 const ir::Reduce& r = *p.reduces[i];
                 store(r, p.carry[i],
                       combine(r, load(r, p.stacks[i], 1, below), load(r, p.carry[i], 1)));
               }
             });
  std::vector<Item> result;
  for (size_t i = 0; i < p.reduces.size(); ++i)
    result.push_back(load(*p.reduces[i], p.carry[i], 1));
  return result;
}

}  // namespace kiln::jit
