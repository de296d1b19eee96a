#include "jit/jit.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <unordered_map>

#include "ir/core/error.h"
#include "jit/codegen.h"
#include "jit/host.h"
#include "runtime/counters.h"
#include "runtime/task_pool.h"

namespace kiln::jit {
namespace {

using Code = std::shared_ptr<const CompiledKernel>;

/// Kernels by key. An entry exists from the moment that its first user starts to compile.
class Cache {
 public:
  /// The code of `key`; `build` makes it if no one has. Others wait for it without the lock.
  template <class Build>
  Code get(const std::string& key, Build build) {
    std::promise<Code> promise;
    std::shared_future<Code> code;
    {
      std::lock_guard lock(mutex_);
      const auto [it, inserted] = entries_.try_emplace(key);
      if (!inserted) {
        code = it->second;
      } else {
        it->second = promise.get_future().share();
      }
    }
    if (code.valid()) {
      runtime::count(runtime::Counter::KernelCacheHits);
      return code.get();
    }
    try {
      Code made = build();
      promise.set_value(made);
      return made;
    } catch (...) {
      promise.set_exception(std::current_exception());
      std::lock_guard lock(mutex_);
      entries_.erase(key);
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_future<Code>> entries_;
};

Cache& cache() {
  static auto* c = new Cache;  // never destroyed: kernels may run while the process exits
  return *c;
}

/// Runs `use` with the kernel's module and a machine, where the stack is large enough.
template <class Use>
void with_module(const ir::Kernel& kernel, CpuLevel cpu, const std::string& name, Use use) {
  with_large_stack([&] {
    const HostTarget& target = host_target(cpu);
    auto machine = target.take_machine();
    llvm::LLVMContext context;
    const auto module = build_module(kernel, target, *machine, context, name);
    use(*module, *machine);
    target.give_machine(std::move(machine));
  });
}

std::atomic<bool> refused{false};

Code build(const ir::Kernel& kernel, CpuLevel cpu) {
  if (refused) internal_error("jit: compilation is refused\n" + ir::print(kernel));
  static std::atomic<uint64_t> number{0};
  const auto start = std::chrono::steady_clock::now();
  const std::string name = "kiln_kernel_" + std::to_string(number++);
  llvm::SmallVector<char, 0> object;
  with_module(kernel, cpu, name, [&](llvm::Module& module, llvm::TargetMachine& machine) {
    emit_file(kernel, module, machine, llvm::CodeGenFileType::ObjectFile, object);
  });
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), name, false);
  auto code = std::make_shared<CompiledKernel>(load_object(std::move(buffer), name));
  code->compile_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  runtime::count(runtime::Counter::KernelsCompiled);
  runtime::count(runtime::Counter::CompileNs, code->compile_ns);
  if (log_enabled(Log::Compile))
    log_line(Log::Compile, name + " in " + std::to_string(code->compile_ns / 1000) + " us");
  return code;
}

}  // namespace

Code compile(const ir::Kernel& kernel) { return compile(kernel, settings().cpu); }

Code compile(const ir::Kernel& kernel, CpuLevel cpu) {
  std::string key = host_target(cpu).description();
  key += '\n';
  key += ir::print(kernel);
  return cache().get(key, [&] { return build(kernel, cpu); });
}

std::vector<Code> compile_all(std::span<const ir::Kernel* const> kernels) {
  std::vector<Code> result(kernels.size());
  runtime::parallel_for(static_cast<int64_t>(kernels.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      result[static_cast<size_t>(i)] = compile(*kernels[static_cast<size_t>(i)]);
  });
  return result;
}

void refuse_compilation(bool refuse) { refused = refuse; }

std::string llvm_text(const ir::Kernel& kernel, CpuLevel cpu) {
  std::string text;
  with_module(kernel, cpu, "kiln_kernel", [&](llvm::Module& module, llvm::TargetMachine&) {
    llvm::raw_string_ostream(text) << module;
  });
  return text;
}

std::string asm_text(const ir::Kernel& kernel, CpuLevel cpu) {
  llvm::SmallString<0> text;
  with_module(kernel, cpu, "kiln_kernel", [&](llvm::Module& module, llvm::TargetMachine& machine) {
    emit_file(kernel, module, machine, llvm::CodeGenFileType::AssemblyFile, text);
  });
  return std::string(text.str());
}

}  // namespace kiln::jit
