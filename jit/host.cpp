#include "jit/host.h"

#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "ir/core/error.h"

namespace kiln::jit {

using LValue = llvm::Value;

namespace {

void initialise_llvm() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)done;
}

llvm::StringMap<bool> host_features() { return llvm::sys::getHostCPUFeatures(); }

bool has(const llvm::StringMap<bool>& features, std::initializer_list<const char*> names) {
  for (const char* n : names) {
    const auto it = features.find(n);
    if (it == features.end() || !it->second) return false;
  }
  return true;
}

bool has_avx512(const llvm::StringMap<bool>& f) {
  return has(f, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
}
bool has_avx2(const llvm::StringMap<bool>& f) { return has(f, {"avx2", "fma", "bmi2", "f16c"}); }

std::string error_text(llvm::Error error) { return llvm::toString(std::move(error)); }

template <class T>
T checked(llvm::Expected<T> value, const char* what) {
  if (!value) internal_error(std::string("jit: ") + what + ": " + error_text(value.takeError()));
  return std::move(*value);
}
void checked(llvm::Error error, const char* what) {
  if (error) internal_error(std::string("jit: ") + what + ": " + error_text(std::move(error)));
}

/// Machines that are not in use, per level.
struct MachinePool {
  std::mutex mutex;
  std::vector<std::pair<const HostTarget*, std::unique_ptr<llvm::TargetMachine>>> idle;
};
MachinePool& machine_pool() {
  static auto* pool = new MachinePool;
  return *pool;
}

/// The only symbols that kernels may refer to.
void define_symbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  const auto add = [&](const char* name, auto* address) {
    symbols[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported};
  };
  add("fma", static_cast<double (*)(double, double, double)>(&::fma));
  add("fmaf", static_cast<float (*)(float, float, float)>(&::fmaf));
  add("memcpy", static_cast<void* (*)(void*, const void*, size_t)>(&std::memcpy));
  add("memset", static_cast<void* (*)(void*, int, size_t)>(&std::memset));
  checked(jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))),
          "symbols of kernels");
}

/// Never destroyed: kernels may run while the process exits.
llvm::orc::LLJIT& session() {
  static llvm::orc::LLJIT* jit = [] {
    initialise_llvm();
    auto made = checked(llvm::orc::LLJITBuilder()
                            .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(
                                llvm::Triple(llvm::sys::getProcessTriple())))
                            .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                            .setLinkProcessSymbolsByDefault(false)
                            .create(),
                        "LLJIT");
    define_symbols(*made);
    made->getExecutionSession().setErrorReporter(
        [](llvm::Error error) { llvm::consumeError(std::move(error)); });
    return made.release();
  }();
  return *jit;
}

}  // namespace

bool runs_here(CpuLevel level) {
  const auto f = host_features();
  switch (level) {
    case CpuLevel::Avx512: return has_avx512(f);
    case CpuLevel::Avx2: return has_avx2(f);
    default: return true;
  }
}

HostTarget::HostTarget(CpuLevel level) {
  initialise_llvm();
  lanes = 16;
  const auto host = host_features();
  bool avx2 = false;
  switch (level) {
    case CpuLevel::Native: {
      cpu_ = llvm::sys::getHostCPUName();
      llvm::SubtargetFeatures all;
      for (const auto& f : host) all.AddFeature(f.first(), f.second);
      features_ = all.getString();
      avx512_ = has_avx512(host);
      avx2 = has_avx2(host);
      rounding = has(host, {"sse4.1"});
      break;
    }
    case CpuLevel::Avx512:
      cpu_ = "x86-64-v4";
      avx512_ = avx2 = rounding = true;
      break;
    case CpuLevel::Avx2:
      cpu_ = "x86-64-v3";
      avx2 = rounding = true;
      break;
    case CpuLevel::Baseline: cpu_ = "x86-64"; break;
  }
  byte_masks = avx512_;
  word_masks = avx512_ || avx2;
}

const HostTarget& host_target(CpuLevel level) {
  static const auto* targets =
      new std::array<HostTarget, 4>{HostTarget(CpuLevel::Native), HostTarget(CpuLevel::Avx512),
                                    HostTarget(CpuLevel::Avx2), HostTarget(CpuLevel::Baseline)};
  return (*targets)[static_cast<size_t>(level)];
}

llvm::Function* HostTarget::create_function(llvm::Module& module, const ir::Kernel&,
                                            llvm::StringRef name) const {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type* ptr = llvm::PointerType::get(c, 0);
  llvm::Type* i64 = llvm::Type::getInt64Ty(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(c), {ptr, ptr, ptr, i64, i64}, false);
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  f->setDoesNotThrow();
  if (avx512_) {
    f->addFnAttr("prefer-vector-width", "512");
    f->addFnAttr("min-legal-vector-width", "512");
  }
  return f;
}

Entry HostTarget::emit_entry(llvm::IRBuilder<>& b, llvm::Function* f,
                             const ir::Kernel& kernel) const {
  Entry e;
  const auto element = [&](LValue* array, llvm::Type* type, size_t i) {
    llvm::LoadInst* load =
        b.CreateAlignedLoad(type, b.CreateConstInBoundsGEP1_64(type, array, i), llvm::Align(8));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return load;
  };
  for (size_t i = 0; i < kernel.ptrs.size(); ++i)
    e.ptrs.push_back(element(f->getArg(0), b.getPtrTy(), i));
  for (size_t i = 0; i < kernel.nums.size(); ++i)
    e.nums.push_back(element(f->getArg(1), b.getInt64Ty(), i));
  e.scratch = f->getArg(2);
  e.first = f->getArg(3);
  e.end = f->getArg(4);
  e.step = nullptr;
  return e;
}

std::unique_ptr<llvm::TargetMachine> HostTarget::create_machine() const {
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) internal_error("jit: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu_, features_, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine) internal_error("jit: no target machine for " + triple);
  return machine;
}

std::unique_ptr<llvm::TargetMachine> HostTarget::take_machine() const {
  MachinePool& pool = machine_pool();
  {
    std::lock_guard lock(pool.mutex);
    for (auto it = pool.idle.begin(); it != pool.idle.end(); ++it) {
      if (it->first != this) continue;
      std::unique_ptr<llvm::TargetMachine> machine = std::move(it->second);
      pool.idle.erase(it);
      return machine;
    }
  }
  return create_machine();
}

void HostTarget::give_machine(std::unique_ptr<llvm::TargetMachine> machine) const {
  MachinePool& pool = machine_pool();
  std::lock_guard lock(pool.mutex);
  pool.idle.emplace_back(this, std::move(machine));
}

CompiledKernel load_object(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& name) {
  llvm::orc::LLJIT& jit = session();
  llvm::orc::ResourceTrackerSP tracker = jit.getMainJITDylib().createResourceTracker();
  std::shared_ptr<void> code(nullptr, [tracker](void*) {
    if (llvm::Error error = tracker->remove()) llvm::consumeError(std::move(error));
  });
  checked(jit.addObjectFile(tracker, std::move(object)), "object code");
  const llvm::orc::ExecutorAddr address = checked(jit.lookup(name), "linking");
  return {address.toPtr<KernelFn>(), 0, std::move(code)};
}

}  // namespace kiln::jit
