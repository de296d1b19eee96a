#include "jit/emit_ops.h"

#include <array>

#include "ir/core/error.h"
#include "ir/core/math/functions.h"

namespace kiln::jit {

using ir::Op;
using llvm::Intrinsic::ID;

llvm::Type* value_type(llvm::LLVMContext& c, DType t) {
  switch (t) {
    case DType::Bool: return llvm::Type::getInt1Ty(c);
    case DType::I32: return llvm::Type::getInt32Ty(c);
    case DType::I64: return llvm::Type::getInt64Ty(c);
    case DType::F32: return llvm::Type::getFloatTy(c);
    case DType::F64: return llvm::Type::getDoubleTy(c);
    default: internal_error("jit: no kernel computes in " + std::string(name(t)));
  }
}

llvm::Type* memory_type(llvm::LLVMContext& c, DType t) {
  return t == DType::Bool ? llvm::Type::getInt8Ty(c) : value_type(c, t);
}

llvm::Type* with_lanes(llvm::Type* type, int lanes) {
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(lanes));
}

llvm::Constant* constant(llvm::LLVMContext& c, DType t, Bits bits, int lanes) {
  llvm::Type* type = with_lanes(value_type(c, t), lanes);
  switch (t) {
    case DType::Bool: return llvm::ConstantInt::get(type, bits.raw & 1);
    case DType::F32:
      return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(),
                                                       llvm::APInt(32, bits.raw & 0xffffffffu)));
    case DType::F64:
      return llvm::ConstantFP::get(
          type, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits.raw)));
    case DType::I32: return llvm::ConstantInt::get(type, bits.raw & 0xffffffffu);
    default: return llvm::ConstantInt::get(type, bits.raw);
  }
}

llvm::Value* OpEmitter::truth(llvm::Value* v, DType t) {
  llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
  if (t == DType::Bool) return v;
  return is_float(t) ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
}

llvm::Value* OpEmitter::compare(Op op, DType t, llvm::Value* a, llvm::Value* b) {
  using P = llvm::CmpInst::Predicate;
  struct Row {
    Op op;
    P floats, ints, bools;
  };
  static constexpr std::array<Row, 6> rows = {{
      {Op::Eq, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},
      {Op::Ne, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
      {Op::Lt, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT},
      {Op::Le, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
      {Op::Gt, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT},
      {Op::Ge, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
  }};
  for (const Row& row : rows)
    if (row.op == op)
      return b_.CreateCmp(is_float(t) ? row.floats : is_bool(t) ? row.bools : row.ints, a, b);
  internal_error("jit: not a comparison");
}

llvm::Value* OpEmitter::extreme(bool larger, DType t, llvm::Value* a, llvm::Value* b) {
  if (is_bool(t)) return larger ? b_.CreateOr(a, b) : b_.CreateAnd(a, b);
  if (!is_float(t))
    return b_.CreateBinaryIntrinsic(larger ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, a, b);
  // Equal operands differ in the sign of zero at most: and, or of the bits picks the right one.
  llvm::Type* ints = b_.getIntNTy(static_cast<unsigned>(8 * size_of(t)));
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(a->getType()))
    ints = llvm::FixedVectorType::get(ints, v->getNumElements());
  llvm::Value* ia = b_.CreateBitCast(a, ints);
  llvm::Value* ib = b_.CreateBitCast(b, ints);
  llvm::Value* equal =
      b_.CreateBitCast(larger ? b_.CreateAnd(ia, ib) : b_.CreateOr(ia, ib), a->getType());
  // An unordered comparison picks b; that is wrong only where a is the NaN.
  llvm::Value* r = b_.CreateSelect(larger ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
  r = b_.CreateSelect(b_.CreateFCmpOEQ(a, b), equal, r);
  return b_.CreateSelect(b_.CreateFCmpUNO(a, a), a, r);
}

llvm::Value* OpEmitter::round(bool floor, DType t, llvm::Value* v, int lanes) {
  if (!is_float(t)) return v;
  if (target_.rounding)
    return b_.CreateUnaryIntrinsic(floor ? llvm::Intrinsic::floor : llvm::Intrinsic::roundeven, v);
  // Adding and subtracting 2^mantissa rounds to an integer; the sign of zero is put back.
  const Bits big = t == DType::F32 ? Bits::of(0x1p23f) : Bits::of(0x1p52);
  llvm::Constant* limit = constant(module_.getContext(), t, big, lanes);
  llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v);
  llvm::Value* r = b_.CreateFSub(b_.CreateFAdd(magnitude, limit), limit);
  r = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, r, v);
  r = b_.CreateSelect(b_.CreateFCmpOLT(magnitude, limit), r, v);
  if (!floor) return r;
  llvm::Value* one = llvm::ConstantFP::get(v->getType(), 1.0);
  return b_.CreateSelect(b_.CreateFCmpOGT(r, v), b_.CreateFSub(r, one), r);
}

llvm::Value* OpEmitter::cast(llvm::Value* v, DType from, DType to, int lanes) {
  if (from == to) return v;
  llvm::Type* type = with_lanes(value_type(module_.getContext(), to), lanes);
  if (to == DType::Bool) return truth(v, from);
  if (from == DType::Bool) return is_float(to) ? b_.CreateUIToFP(v, type) : b_.CreateZExt(v, type);
  if (is_float(from) && is_float(to))
    return size_of(to) > size_of(from) ? b_.CreateFPExt(v, type) : b_.CreateFPTrunc(v, type);
  if (is_float(to)) return b_.CreateSIToFP(v, type);
  if (is_float(from))
    return b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {type, v->getType()}, {v});
  return b_.CreateSExtOrTrunc(v, type);
}

bool OpEmitter::calls(Op op) {
  switch (op) {
#define KILN_CASE(name, Enum) case Op::Enum:
    KILN_MATH_UNARY(KILN_CASE)
    KILN_MATH_BINARY(KILN_CASE)
#undef KILN_CASE
    case Op::Rand:
    case Op::Randn: return true;
    default: return false;
  }
}

llvm::Value* OpEmitter::call_math(Op op, DType from, DType to, std::span<llvm::Value* const> in,
                                  int lanes) {
  llvm::LLVMContext& c = module_.getContext();
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  const bool random = op == Op::Rand || op == Op::Randn;  // named by the result
  const std::string symbol = "kiln_" + std::string(ir::name(op)) + "_" +
                             std::string(kiln::name(random ? to : from)) + "x" +
                             std::to_string(lanes);
  // By pointer: results, then operands. Inlining and SROA remove the stack slots.
  llvm::SmallVector<llvm::Value*, 4> arguments;
  llvm::Type* result = with_lanes(value_type(c, to), lanes);
  arguments.push_back(entry.CreateAlloca(result));
  for (llvm::Value* v : in) {
    arguments.push_back(entry.CreateAlloca(v->getType()));
    b_.CreateStore(v, arguments.back());
  }
  llvm::SmallVector<llvm::Type*, 4> types(arguments.size(), llvm::PointerType::get(c, 0));
  llvm::FunctionCallee callee = module_.getOrInsertFunction(
      symbol, llvm::FunctionType::get(llvm::Type::getVoidTy(c), types, false));
  b_.CreateCall(callee, arguments);
  return b_.CreateLoad(result, arguments[0]);
}

llvm::Value* OpEmitter::emit(Op op, DType from, DType to, std::span<llvm::Value* const> in,
                             int lanes) {
  const bool fp = is_float(from);
  const auto both = [&](auto&& floats, auto&& ints) { return fp ? floats() : ints(); };
  llvm::Value* a = in.empty() ? nullptr : in[0];
  llvm::Value* b = in.size() > 1 ? in[1] : nullptr;
  switch (op) {
    case Op::Add:
      if (is_bool(from)) return b_.CreateOr(a, b);
      return both([&] { return b_.CreateFAdd(a, b); }, [&] { return b_.CreateAdd(a, b); });
    case Op::Sub:
      return both([&] { return b_.CreateFSub(a, b); }, [&] { return b_.CreateSub(a, b); });
    case Op::Mul:
      if (is_bool(from)) return b_.CreateAnd(a, b);
      return both([&] { return b_.CreateFMul(a, b); }, [&] { return b_.CreateMul(a, b); });
    case Op::Div: return b_.CreateFDiv(a, b);
    case Op::Neg: return both([&] { return b_.CreateFNeg(a); }, [&] { return b_.CreateNeg(a); });
    case Op::Abs:
      if (fp) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse());
    case Op::Minimum: return extreme(false, from, a, b);
    case Op::Maximum: return extreme(true, from, a, b);
    case Op::Sqrt: return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case Op::Rsqrt:
      return b_.CreateFDiv(llvm::ConstantFP::get(a->getType(), 1.0),
                           b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a));
    case Op::Floor: return round(true, from, a, lanes);
    case Op::Round: return round(false, from, a, lanes);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: return compare(op, from, a, b);
    case Op::LogicalAnd: return b_.CreateAnd(truth(a, from), truth(b, from));
    case Op::LogicalOr: return b_.CreateOr(truth(a, from), truth(b, from));
    case Op::LogicalNot: return b_.CreateNot(truth(a, from));
    case Op::Where: return b_.CreateSelect(a, b, in[2]);
    case Op::Cast: return cast(a, from, to, lanes);
    default: return call_math(op, from, to, in, lanes);
  }
}

}  // namespace kiln::jit
