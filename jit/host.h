// The CPU target: instruction sets, target machines, and the one LLJIT of the process. Internal to
// jit/.
#pragma once

#include <memory>
#include <string>

#include "ir/core/settings.h"
#include "jit/jit.h"
#include "jit/target.h"

namespace kiln::jit {

class HostTarget : public Target {
 public:
  explicit HostTarget(CpuLevel level);

  llvm::Function* create_function(llvm::Module& module, const ir::Kernel& kernel,
                                  llvm::StringRef name) const override;
  Entry emit_entry(llvm::IRBuilder<>& b, llvm::Function* function,
                   const ir::Kernel& kernel) const override;

  /// A new machine; one must not be used by two threads at once.
  std::unique_ptr<llvm::TargetMachine> create_machine() const;
  /// A machine that no one else uses until it is given back.
  std::unique_ptr<llvm::TargetMachine> take_machine() const;
  void give_machine(std::unique_ptr<llvm::TargetMachine> machine) const;
  /// CPU and features as LLVM names them: part of the kernel key.
  std::string description() const { return cpu_ + " " + features_; }

 private:
  std::string cpu_, features_;
  bool avx512_ = false;
};

/// The target of a level; lives for ever.
const HostTarget& host_target(CpuLevel level);

/// Loads object code that defines `name`. Thread-safe. Raises InternalError.
CompiledKernel load_object(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& name);

}  // namespace kiln::jit
