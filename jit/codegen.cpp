#include "jit/codegen.h"

#include <pthread.h>

#include <exception>

#include "ir/core/error.h"
#include "ir/core/math/bitcode.h"
#include "jit/emitter.h"

namespace kiln::jit {
namespace {

[[noreturn]] void fail(const std::string& problem, const ir::Kernel& kernel) {
  internal_error("jit: " + problem + "\n" + ir::print(kernel));
}

/// Keeps diagnostics from stderr, and errors from ending the process.
struct Diagnostics : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(error);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << ": ";
    info.print(printer);
    return true;
  }
  std::string error;
};
const std::string& errors(llvm::LLVMContext& context) {
  return static_cast<const Diagnostics*>(context.getDiagHandlerPtr())->error;
}

/// Loop strength reduction takes a quarter of the code generator's time and makes short loops
/// slower: the emitter has placed the address computations already.
struct PassGate : llvm::OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override {
    return pass != "Loop Strength Reduction";
  }
};

/// The kernel is vectorised already: what is left is to inline the math and to clean up.
void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager f;
  f.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  // Merges each level's values with its loop body: instcombine would move single uses across the
  // seam, one chain behind the other, where the emitter has two side by side.
  f.addPass(llvm::SimplifyCFGPass());
  f.addPass(llvm::EarlyCSEPass());
  f.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
  f.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                  /*UseMemorySSA=*/true));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  passes.run(module, modules);
}

bool selectable(llvm::Intrinsic::ID id, const Target& target) {
  switch (id) {
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::roundeven: return target.rounding;
    case llvm::Intrinsic::abs:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::bswap:
    case llvm::Intrinsic::copysign:
    case llvm::Intrinsic::ctlz:
    case llvm::Intrinsic::ctpop:
    case llvm::Intrinsic::cttz:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fptosi_sat:
    case llvm::Intrinsic::fptoui_sat:
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
    case llvm::Intrinsic::is_fpclass:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::masked_gather:
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memset:
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
    case llvm::Intrinsic::sadd_sat:
    case llvm::Intrinsic::smax:
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::ssub_sat:
    case llvm::Intrinsic::uadd_sat:
    case llvm::Intrinsic::umax:
    case llvm::Intrinsic::umin:
    case llvm::Intrinsic::usub_sat:
    case llvm::Intrinsic::vector_reduce_and:
    case llvm::Intrinsic::vector_reduce_or: return true;
    default: return false;
  }
}

}  // namespace

std::unique_ptr<llvm::Module> build_module(const ir::Kernel& kernel, const Target& target,
                                           llvm::TargetMachine& machine, llvm::LLVMContext& context,
                                           llvm::StringRef name) {
  context.setDiagnosticHandler(std::make_unique<Diagnostics>());
  static PassGate gate;
  context.setOptPassGate(gate);
  auto module = std::make_unique<llvm::Module>("kiln", context);
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  try {
    Emitter(kernel, target, *module).emit(name);
    std::string broken;
    llvm::raw_string_ostream stream(broken);
    if (llvm::verifyModule(*module, &stream)) internal_error("broken LLVM IR: " + broken);
    link_math(*module);
    optimise(*module, machine);
    check_selectable(*module, target);
  } catch (const InternalError& e) {
    fail(e.what() + errors(context), kernel);
  }
  return module;
}

void link_math(llvm::Module& module) {
  bool needed = false;
  for (const llvm::Function& f : module) needed |= f.isDeclaration() && !f.isIntrinsic();
  if (!needed) return;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(kiln_math_bitcode),
                              kiln_math_bitcode_size);
  auto library =
      llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "math"), module.getContext());
  if (!library) internal_error("math library: " + llvm::toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    internal_error("math library: not linked");
  for (llvm::Function& f : module) {
    if (!f.getName().starts_with("kiln_") || f.isDeclaration()) continue;
    if (!f.hasFnAttribute(llvm::Attribute::AlwaysInline)) continue;
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"})
      f.removeFnAttr(attribute);
  }
}

void check_selectable(const llvm::Module& module, const Target& target) {
  for (const llvm::Function& f : module)
    for (const llvm::BasicBlock& block : f)
      for (const llvm::Instruction& i : block) {
        if (i.getOpcode() == llvm::Instruction::FRem)
          internal_error("frem would become a library call");
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
        if (!call) continue;
        const llvm::Function* callee = call->getCalledFunction();
        if (!callee || !callee->isIntrinsic() || !selectable(callee->getIntrinsicID(), target))
          internal_error("would call " + (callee ? callee->getName().str() : "a pointer"));
      }
}

void emit_file(const ir::Kernel& kernel, llvm::Module& module, llvm::TargetMachine& machine,
               llvm::CodeGenFileType kind, llvm::SmallVectorImpl<char>& out) {
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    internal_error("jit: the target writes no such file");
  passes.run(module);
  if (const std::string& error = errors(module.getContext()); !error.empty())
    fail("the code generator failed" + error, kernel);
}

namespace {

constexpr size_t large_stack = size_t{16} << 20;

size_t stack_left() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* low = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  const char* end = static_cast<const char*>(low);
  return here > end ? static_cast<size_t>(here - end) : 0;
}

struct Work {
  const std::function<void()>& run;
  std::exception_ptr error;
};

void* run_work(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  try {
    work.run();
  } catch (...) {
    work.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void with_large_stack(const std::function<void()>& run) {
  if (stack_left() >= large_stack / 4) return run();
  Work work{run, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, large_stack);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, run_work, &work);
  pthread_attr_destroy(&attributes);
  if (failed) internal_error("jit: no thread to compile on");
  pthread_join(thread, nullptr);
  if (work.error) std::rethrow_exception(work.error);
}

}  // namespace kiln::jit
