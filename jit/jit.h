// From kernel IR to machine code, with the in-memory code cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/core/settings.h"
#include "ir/kernel.h"

namespace kiln::jit {

/// The kernel ABI, as runtime/program.h describes it.
using KernelFn = int32_t (*)(void* const* ptrs, const int64_t* nums, std::byte* scratch,
                             int64_t begin, int64_t end);

/// Machine code. `fn` may be called while a shared_ptr to this exists; the cache keeps one for the
/// life of the process.
struct CompiledKernel {
  KernelFn fn = nullptr;
  int64_t compile_ns = 0;
  std::shared_ptr<void> code;  // owns the memory that fn is in
};

/// The kernel's machine code for the instruction set that KILN_CPU names. A kernel whose text,
/// target and options were compiled before comes from the cache. Safe from many threads: the same
/// kernel is compiled once, different ones in parallel. Raises InternalError with the kernel's text
/// where it cannot be compiled.
std::shared_ptr<const CompiledKernel> compile(const ir::Kernel& kernel);
std::shared_ptr<const CompiledKernel> compile(const ir::Kernel& kernel, CpuLevel cpu);

/// compile() of each, in parallel on the task pool.
std::vector<std::shared_ptr<const CompiledKernel>> compile_all(
    std::span<const ir::Kernel* const> kernels);

/// Makes every compilation that the cache does not save fail, as a fault of the code generator
/// would: for tests of the fallback.
void refuse_compilation(bool refuse);

/// Whether this machine runs code of that level.
bool runs_here(CpuLevel cpu);

/// LLVM IR as it goes to instruction selection, and assembly; for KILN_DUMP and tests.
std::string llvm_text(const ir::Kernel& kernel, CpuLevel cpu = settings().cpu);
std::string asm_text(const ir::Kernel& kernel, CpuLevel cpu = settings().cpu);

/// PTX of the kernel as `.entry kiln_kernel(ptrs..., nums..., scratch, scratch bytes per thread,
/// begin, end)`; each thread runs iterations begin + its number, + the number of threads, ... The
/// lane tree of reductions has one lane.
std::string ptx(const ir::Kernel& kernel, std::string_view sm = "sm_90");

}  // namespace kiln::jit
