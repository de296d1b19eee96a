// The GPU target: one lane, one thread per parallel iteration.
#include "ir/core/error.h"
#include "jit/codegen.h"
#include "jit/jit.h"

namespace kiln::jit {
namespace {

constexpr unsigned global_memory = 1;

class NvptxTarget : public Target {
 public:
  NvptxTarget() {
    lanes = 1;
    byte_masks = word_masks = false;
    rounding = true;
  }

  llvm::Function* create_function(llvm::Module& module, const ir::Kernel& kernel,
                                  llvm::StringRef name) const override {
    llvm::LLVMContext& c = module.getContext();
    llvm::Type* i64 = llvm::Type::getInt64Ty(c);
    llvm::SmallVector<llvm::Type*, 16> arguments(kernel.ptrs.size(),
                                                 llvm::PointerType::get(c, global_memory));
    arguments.append(kernel.nums.size(), i64);
    arguments.append({llvm::PointerType::get(c, global_memory), i64, i64, i64});
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(c), arguments, false);
    auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    f->setDoesNotThrow();
    llvm::Metadata* kernel_mark[] = {
        llvm::ValueAsMetadata::get(f), llvm::MDString::get(c, "kernel"),
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), 1))};
    module.getOrInsertNamedMetadata("nvvm.annotations")
        ->addOperand(llvm::MDNode::get(c, kernel_mark));
    return f;
  }

  Entry emit_entry(llvm::IRBuilder<>& b, llvm::Function* f,
                   const ir::Kernel& kernel) const override {
    Entry e;
    unsigned next = 0;
    for (size_t i = 0; i < kernel.ptrs.size(); ++i) e.ptrs.push_back(f->getArg(next++));
    for (size_t i = 0; i < kernel.nums.size(); ++i) e.nums.push_back(f->getArg(next++));
    const auto id = [&](llvm::Intrinsic::ID i) {
      return b.CreateZExt(b.CreateIntrinsic(i, {}, {}), b.getInt64Ty());
    };
    llvm::Value* block = id(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    llvm::Value* block_size = id(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
    llvm::Value* thread =
        b.CreateAdd(b.CreateMul(block, block_size), id(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
    e.step = b.CreateMul(block_size, id(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x));
    e.scratch =
        b.CreateGEP(b.getInt8Ty(), f->getArg(next), b.CreateMul(thread, f->getArg(next + 1)));
    e.first = b.CreateAdd(f->getArg(next + 2), thread);
    e.end = f->getArg(next + 3);
    return e;
  }
};

std::unique_ptr<llvm::TargetMachine> create_machine(std::string_view sm) {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
  const std::string triple = "nvptx64-nvidia-cuda";
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) internal_error("jit: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, std::string(sm), "+ptx80", options, std::nullopt,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) internal_error("jit: no target machine for " + triple);
  return machine;
}

}  // namespace

std::string ptx(const ir::Kernel& kernel, std::string_view sm) {
  std::string text;
  with_large_stack([&] {
    const NvptxTarget target;
    const auto machine = create_machine(sm);
    llvm::LLVMContext context;
    const auto module = build_module(kernel, target, *machine, context, "kiln_kernel");
    llvm::SmallString<0> out;
    emit_file(kernel, *module, *machine, llvm::CodeGenFileType::AssemblyFile, out);
    text = out.str();
  });
  return text;
}

}  // namespace kiln::jit
