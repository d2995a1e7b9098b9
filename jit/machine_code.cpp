// See machine_code.h.
#include "jit/machine_code.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace twinloom::jit {

namespace {

void initialise_x86() {
  [[maybe_unused]] static const bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    return true;
  }();
}

std::unique_ptr<llvm::TargetMachine> make_machine(const MachineTarget& target) {
  initialise_x86();
  std::string words;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target_triple, words);
  CHECK(found != nullptr, words);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(target_triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  CHECK(machine != nullptr, "LLVM has no code generator for ", target.cpu);
  return machine;
}

// What any text could define belongs to this one alone. A function that is always inlined is then dropped as
// soon as it has been; else all that it calls would be inlined into its unused body too.
void internalise(llvm::Module& module) {
  for (llvm::GlobalObject& object : module.global_objects()) {
    if (!object.hasLinkOnceLinkage()) continue;
    object.setComdat(nullptr);
    object.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

// LLVM 19 makes x & C | y & ~C of vectors into one VPTERNLOG, and exchanges the operands of its table where a
// choice between that and y is folded in as its mask. It does not recognise a C that is read from memory.
void hide_bit_choices(llvm::Module& module) {
  using namespace llvm::PatternMatch;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      llvm::Instruction* first = nullptr;
      llvm::Constant *bits = nullptr, *others = nullptr;
      if (!instruction.getType()->isVectorTy() ||
          !match(&instruction, m_Or(m_Instruction(first), m_And(m_Value(), m_Constant(others)))) ||
          !match(first, m_And(m_Value(), m_Constant(bits))) || llvm::ConstantExpr::getNot(bits) != others)
        continue;
      auto* hidden = new llvm::GlobalVariable(module, bits->getType(), /*isConstant=*/false,
                                              llvm::GlobalValue::InternalLinkage, bits, "bits");
      first->replaceUsesOfWith(bits,
                               new llvm::LoadInst(bits->getType(), hidden, "bits", first->getIterator()));
    }
  }
}

// Divisions of vectors of bytes by way of 16 bits: LLVM 19 takes a product of less than 16 bytes with the
// turned over quotients by a constant for 0, and multiplies wider elements faster.
void widen_byte_divisions(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* division = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
      if (division == nullptr || !division->isIntDivRem() || !division->getType()->isVectorTy() ||
          division->getType()->getScalarSizeInBits() != 8)
        continue;
      llvm::IRBuilder<> builder(division);
      const bool is_signed = division->getOpcode() == llvm::Instruction::SDiv ||
                             division->getOpcode() == llvm::Instruction::SRem;
      auto* wide = llvm::VectorType::get(
          builder.getInt16Ty(), llvm::cast<llvm::VectorType>(division->getType())->getElementCount());
      const auto widened = [&](llvm::Value* value) { return builder.CreateIntCast(value, wide, is_signed); };
      llvm::Value* result = builder.CreateBinOp(division->getOpcode(), widened(division->getOperand(0)),
                                                widened(division->getOperand(1)));
      division->replaceAllUsesWith(builder.CreateTrunc(result, division->getType()));
      division->eraseFromParent();
    }
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  internalise(module);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, pass_pipeline()))
    throw Bug(cat("pass pipeline: ", llvm::toString(std::move(error))));
  passes.run(module, modules);
  hide_bit_choices(module);
  widen_byte_divisions(module);
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, Output output) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  const bool unsupported =
      output == Output::object
          ? machine.addPassesToEmitMC(passes, context, stream, /*DisableVerify=*/true)
          : machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  CHECK(!unsupported, "LLVM's code generator has no such output");
  passes.run(module);
  return bytes.str().str();
}

}  // namespace

// Made for text that is already in vectors. LLVM's vectorisers and unroller are left out: they would only
// find the short loops of tails, and cost more than everything else together. The first two passes run
// before inlining so that a function which is inlined at ten places is cleaned up once.
const char* pass_pipeline() {
  return "function(sroa<modify-cfg>,early-cse),"
         "always-inline,"
         "function("
         "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
         "loop-mssa(loop-rotate,licm<allowspeculation>),"
         "instcombine<no-verify-fixpoint>,gvn,simplifycfg,dse,instcombine<no-verify-fixpoint>),"
         "globaldce";
}

CodeGenerator::CodeGenerator(MachineTarget target) : target_(std::move(target)) {}
CodeGenerator::~CodeGenerator() = default;

std::unique_ptr<llvm::TargetMachine> CodeGenerator::take_machine() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_machines_.empty()) {
      auto machine = std::move(idle_machines_.back());
      idle_machines_.pop_back();
      return machine;
    }
  }
  return make_machine(target_);
}

void CodeGenerator::give_back(std::unique_ptr<llvm::TargetMachine> machine) {
  const std::lock_guard lock(mutex_);
  idle_machines_.push_back(std::move(machine));
}

// A machine whose work crashed is never given back, so nobody meets it half changed.
void CodeGenerator::run(llvm::Module& module, Output output, Object& object) {
  auto machine = take_machine();
  Stopwatch watch;
  module.setDataLayout(machine->createDataLayout());
  optimise(module, *machine);
  object.times.optimise = watch.lap();
  object.bytes = emit(module, *machine, output);
  object.times.codegen = watch.lap();
  give_back(std::move(machine));
}

}  // namespace twinloom::jit
