// What both targets share between the emitter and machine code. Internal to jit/.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ir/kernel.h"
#include "jit/target.h"

namespace kiln::jit {

/// The kernel as an optimised module with one function, `name`, ready for the target machine.
/// Raises InternalError with the kernel's text.
std::unique_ptr<llvm::Module> build_module(const ir::Kernel& kernel, const Target& target,
                                           llvm::TargetMachine& machine, llvm::LLVMContext& context,
                                           llvm::StringRef name);

/// Links the functions of the math library that the module calls, to be inlined.
void link_math(llvm::Module& module);

/// Raises InternalError if an instruction would become a library call or fail to select.
void check_selectable(const llvm::Module& module, const Target& target);

/// Object code or text, as `kind` says, of a module from build_module. Raises InternalError.
void emit_file(const ir::Kernel& kernel, llvm::Module& module, llvm::TargetMachine& machine,
               llvm::CodeGenFileType kind, llvm::SmallVectorImpl<char>& out);

/// Runs `work` where at least 4 MB of stack are left (the code generator recurses deeply): here, or
/// on a thread of its own. Rethrows.
void with_large_stack(const std::function<void()>& work);

}  // namespace kiln::jit
