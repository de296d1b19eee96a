// Elementwise operations as LLVM instructions. Internal to jit/.
#pragma once

#include <span>

#include "ir/op.h"
#include "jit/target.h"

namespace kiln::jit {

/// Type of one value of `t` in a register: i1 for bool.
llvm::Type* value_type(llvm::LLVMContext& context, DType t);
/// Type of one element of `t` in memory: i8 for bool.
llvm::Type* memory_type(llvm::LLVMContext& context, DType t);
/// `type` itself for one lane, else a vector of it.
llvm::Type* with_lanes(llvm::Type* type, int lanes);
/// An element's bits as a constant of `lanes` lanes.
llvm::Constant* constant(llvm::LLVMContext& context, DType t, Bits bits, int lanes);

/// Emits at the builder's position; all values have `lanes` lanes.
class OpEmitter {
 public:
  OpEmitter(llvm::IRBuilder<>& b, llvm::Module& module, const Target& target)
      : b_(b), module_(module), target_(target) {}

  /// `op` on operands of dtype `from` (for Where: of the branches) giving `to`.
  llvm::Value* emit(ir::Op op, DType from, DType to, std::span<llvm::Value* const> in, int lanes);
  /// Conversion with the contract's rules: floats to integers saturate, NaN to 0.
  llvm::Value* cast(llvm::Value* v, DType from, DType to, int lanes);
  /// Smaller or larger operand; NaN propagates, -0 is below +0.
  llvm::Value* extreme(bool larger, DType t, llvm::Value* a, llvm::Value* b);
  /// Whether v is not zero (NaN is not).
  llvm::Value* truth(llvm::Value* v, DType t);
  /// Whether `op` is a function of the math library: a long chain of instructions.
  static bool calls(ir::Op op);
  /// Calls a function of the math library on the operands.
  llvm::Value* call_math(ir::Op op, DType from, DType to, std::span<llvm::Value* const> in,
                         int lanes);

 private:
  llvm::Value* compare(ir::Op op, DType t, llvm::Value* a, llvm::Value* b);
  llvm::Value* round(bool floor, DType t, llvm::Value* v, int lanes);

  llvm::IRBuilder<>& b_;
  llvm::Module& module_;
  const Target& target_;
};

}  // namespace kiln::jit
