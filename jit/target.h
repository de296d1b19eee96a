// What the emitter asks of a target. Internal to jit/.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "jit/llvm_headers.h"

namespace kiln::jit {

/// The kernel's arguments as values, and the parallel iterations that this thread runs: first,
/// first + step, ... below end.
struct Entry {
  std::vector<llvm::Value*> ptrs;
  std::vector<llvm::Value*> nums;  // i64
  llvm::Value* scratch;
  llvm::Value* first;
  llvm::Value* end;
  llvm::Value* step;  // null for 1
};

class Target {
 public:
  virtual ~Target() = default;

  /// Lanes of a vector value. Results depend on it (class R's tree), so it is the same on all CPUs.
  int lanes = 16;
  /// Masked loads and stores of 1-byte and of 4- and 8-byte elements are instructions.
  bool byte_masks = false;
  bool word_masks = false;
  /// floor and roundeven are instructions.
  bool rounding = false;

  /// Makes the kernel's function, with its attributes and without a body.
  virtual llvm::Function* create_function(llvm::Module& module, const ir::Kernel& kernel,
                                          llvm::StringRef name) const = 0;
  /// Reads the arguments, in the function's entry block.
  virtual Entry emit_entry(llvm::IRBuilder<>& b, llvm::Function* function,
                           const ir::Kernel& kernel) const = 0;
};

}  // namespace kiln::jit
