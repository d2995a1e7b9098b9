// See clang_compiler.h. This is the only file of the project that includes clang/.
// Each compilation has a compiler instance, a file system in memory and an LLVM context of its own; what
// compilations share is never changed after the prelude has been compiled.
#include "jit/clang_compiler.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/Version.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Serialization/ASTWriter.h>
#include <clang/Serialization/InMemoryModuleCache.h>
#include <clang/Serialization/PCHContainerOperations.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "jit/guarded.h"
#include "jit/machine_code.h"

namespace twinloom::jit {

namespace {

// Where everything lies in the file system that exists only in memory.
constexpr const char* root = "/twinloom/";
constexpr const char* prelude_name = "prelude.h";
constexpr const char* compiled_prelude_path = "/twinloom/prelude.pch";

struct OwnedFile {
  std::string path;  // absolute
  std::string text;
};

// A rounded _Float16 or __bf16 operation must round at once (excess precision off). Aliasing by type is
// off because kernels read the bits of one type through another.
constexpr const char* fixed_flags[] = {"-emit-llvm-only",
                                       "-disable-llvm-verifier",
                                       "-discard-value-names",
                                       "-mrelocation-model",
                                       "pic",
                                       "-pic-level",
                                       "2",
                                       "-pic-is-pie",
                                       "-mframe-pointer=none",
                                       "-ffp-contract=off",
                                       "-ffloat16-excess-precision=none",
                                       "-fbfloat16-excess-precision=none",
                                       "-fno-strict-float-cast-overflow",
                                       "-fwrapv",
                                       "-relaxed-aliasing",
                                       "-O2",
                                       "-x",
                                       "c++",
                                       "-std=c++20",
                                       "-fgnuc-version=4.2.1",
                                       "-fno-rtti",
                                       "-fno-threadsafe-statics",
                                       "-fbracket-depth",
                                       "2048",
                                       "-ferror-limit",
                                       "20",
                                       "-fno-spell-checking",
                                       "-w",
                                       "-fno-modules-global-index"};

std::vector<std::string> positive_features(const Target& target) {
  std::vector<std::string> features;
  for (const std::string& given : target.features) {
    CHECK(!given.starts_with('-'), "target feature ", given, ": only what the machine has is named");
    const std::string feature = given.starts_with('+') ? given.substr(1) : given;
    // Clang takes avx10 beside avx512 for a contradiction and warns; avx512 says all we need.
    if (!feature.empty() && !feature.starts_with("avx10")) features.push_back("+" + feature);
  }
  return features;
}

std::vector<std::string> flags_of(const Target& target) {
  std::vector<std::string> flags = {"-triple", target_triple, "-target-cpu", target.cpu};
  for (const std::string& feature : positive_features(target)) {
    flags.push_back("-target-feature");
    flags.push_back(feature);
  }
  flags.insert(flags.end(), std::begin(fixed_flags), std::end(fixed_flags));
  // Clang's own preference on most processors is 256 bits, whatever the type in the text says.
  flags.push_back(cat("-mprefer-vector-width=", target.vector_bits));
  flags.push_back(cat("-I", root));
  return flags;
}

// One text on its way through Clang: the diagnostics and everything they need to be printed.
class Frontend {
 public:
  Frontend(const std::vector<std::string>& flags, const std::string& path)
      : options_(new clang::DiagnosticOptions),
        printer_(stream_, options_.get()),
        diagnostics_(new clang::DiagnosticsEngine(new clang::DiagnosticIDs, options_, &printer_,
                                                  /*ShouldOwnClient=*/false)) {
    std::vector<const char*> arguments;
    for (const std::string& flag : flags) arguments.push_back(flag.c_str());
    arguments.push_back(path.c_str());
    auto invocation = std::make_shared<clang::CompilerInvocation>();
    const bool understood = clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *diagnostics_);
    CHECK(understood && !diagnostics_->hasErrorOccurred(), "Clang rejects its flags:\n", words_);
    clang::ProcessWarningOptions(*diagnostics_, invocation->getDiagnosticOpts());
    instance_.setInvocation(std::move(invocation));
    instance_.setDiagnostics(diagnostics_.get());
    instance_.setVerboseOutputStream(stream_);
  }

  void add_file(const std::string& path, std::string_view text) {
    files_->addFile(path, /*ModificationTime=*/0,
                    llvm::MemoryBuffer::getMemBuffer({text.data(), text.size()}, path,
                                                     /*RequiresNullTerminator=*/false));
  }

  // False when there were errors.
  bool run(clang::FrontendAction& action) {
    instance_.setFileManager(new clang::FileManager(instance_.getFileSystemOpts(), files_));
    return instance_.ExecuteAction(action) && !diagnostics_->hasErrorOccurred();
  }

  const std::string& words() const { return words_; }

 private:
  std::string words_;
  llvm::raw_string_ostream stream_{words_};
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options_;
  clang::TextDiagnosticPrinter printer_;
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics_;
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> files_ =
      llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  clang::CompilerInstance instance_;
};

class ModuleAction : public clang::ASTFrontendAction {
 public:
  explicit ModuleAction(llvm::LLVMContext& context) : context_(context) {}
  std::unique_ptr<llvm::Module> take_module() { return std::move(module_); }

 protected:
  // Before the compiled prelude is there, which would be searched for the name of each of Clang's builtins.
  bool BeginSourceFileAction(clang::CompilerInstance& instance) override {
    clang::Preprocessor& preprocessor = instance.getPreprocessor();
    preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(), instance.getLangOpts());
    return true;
  }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    std::unique_ptr<clang::CodeGenerator> generator(clang::CreateLLVMCodeGen(
        instance.getDiagnostics(), file, &instance.getVirtualFileSystem(), instance.getHeaderSearchOpts(),
        instance.getPreprocessorOpts(), instance.getCodeGenOpts(), context_));
    generator_ = generator.get();
    return generator;
  }
  void EndSourceFileAction() override {
    if (generator_ != nullptr) module_.reset(generator_->ReleaseModule());
  }

 private:
  llvm::LLVMContext& context_;
  clang::CodeGenerator* generator_ = nullptr;
  std::unique_ptr<llvm::Module> module_;
};

// Compiles a prefix of texts to a precompiled header in memory.
class PreludeAction : public clang::ASTFrontendAction {
 public:
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }
  std::string bytes() const {
    CHECK(buffer_->IsComplete, "Clang did not finish the precompiled prelude");
    return {buffer_->Data.begin(), buffer_->Data.end()};
  }

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(instance.getPreprocessor(), instance.getModuleCache(), "",
                                                 "", buffer_, instance.getFrontendOpts().ModuleFileExtensions,
                                                 /*AllowASTWithErrors=*/false,
                                                 /*IncludeTimestamps=*/false);
  }

 private:
  std::shared_ptr<clang::PCHBuffer> buffer_ = std::make_shared<clang::PCHBuffer>();
};

// Collects what LLVM has to say after Clang is done; by default LLVM would print it and leave.
void collect_diagnostic(const llvm::DiagnosticInfo* info, void* words) {
  if (info->getSeverity() != llvm::DS_Error) return;
  llvm::raw_string_ostream stream(*static_cast<std::string*>(words));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  stream << '\n';
}

std::string joined_features(const Target& target) {
  return join(positive_features(target), ",", [](const std::string& feature) { return feature; });
}

}  // namespace

struct Compiler::State {
  std::vector<OwnedFile> files;
  std::string prelude;
  std::string dump_directory;
  std::vector<std::string> flags;
  std::string identity;
  std::unique_ptr<CodeGenerator> generator;
  std::string_view given_prelude;  // precompiled
  mutable std::once_flag prelude_once;
  mutable std::string own_prelude;  // compiled here
  mutable std::string_view compiled_prelude;

  // What a compiled prelude begins with, so that it is not used for something else.
  std::string prelude_mark() const { return hexadecimal(stable_hash(identity)); }

  void compile_prelude() const;
  void add_files(Frontend& frontend) const;
  std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context, const std::string& text,
                                      const std::string& path) const;
  void translate(const std::string& text, Output output, Object& object) const;
  [[noreturn]] void reject(const std::string& text, const std::string& name,
                           const std::string& diagnostics) const;
  Object compile(const std::string& text, const std::string& name, Output output) const;
};

// A precompiled header still asks for the files it came from, so they are always there.
void Compiler::State::add_files(Frontend& frontend) const {
  for (const OwnedFile& file : files) frontend.add_file(file.path, file.text);
  if (!prelude.empty()) frontend.add_file(cat(root, prelude_name), prelude);
  if (!compiled_prelude.empty()) frontend.add_file(compiled_prelude_path, compiled_prelude);
}

void Compiler::State::compile_prelude() const {
  if (prelude.empty()) return;
  const std::string mark = prelude_mark();
  if (given_prelude.starts_with(mark)) {
    compiled_prelude = given_prelude.substr(mark.size());
    return;
  }
  run_guarded("prelude", [this] {
    Frontend frontend(flags, cat(root, prelude_name));
    add_files(frontend);
    PreludeAction action;
    if (!frontend.run(action)) reject(prelude, prelude_name, frontend.words());
    own_prelude = action.bytes();
    compiled_prelude = own_prelude;
  });
}

std::unique_ptr<llvm::Module> Compiler::State::parse(llvm::LLVMContext& context, const std::string& text,
                                                     const std::string& name) const {
  std::vector<std::string> all_flags = flags;
  if (!compiled_prelude.empty())
    all_flags.insert(all_flags.end(), {"-include-pch", compiled_prelude_path, "-fno-validate-pch"});
  const std::string path = cat(root, name, ".cpp");
  Frontend frontend(all_flags, path);
  add_files(frontend);
  frontend.add_file(path, text);
  ModuleAction action(context);
  if (!frontend.run(action)) reject(text, name, frontend.words());
  auto module = action.take_module();
  CHECK(module != nullptr, name, ": Clang gave no module");
  return module;
}

void Compiler::State::translate(const std::string& text, Output output, Object& object) const {
  Stopwatch watch;
  llvm::LLVMContext context;
  std::string late_words;
  context.setDiagnosticHandlerCallBack(collect_diagnostic, &late_words);
  const auto module = parse(context, text, object.name);
  object.times.parse = watch.lap();
  generator->run(*module, output, object);
  if (!late_words.empty()) reject(text, object.name, late_words);
}

void Compiler::State::reject(const std::string& text, const std::string& name,
                             const std::string& diagnostics) const {
  std::string words = cat("Clang rejects the text '", name, "':\n", diagnostics);
  if (!dump_directory.empty()) {
    const auto path = std::filesystem::path(dump_directory) / cat(name, ".cpp");
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    words += file ? cat("the text is in ", path.string(), "\n")
                  : cat("the text could not be written to ", path.string(), "\n");
  }
  throw Bug(words);
}

Object Compiler::State::compile(const std::string& text, const std::string& name, Output output) const {
  CHECK(!name.empty() && name.find('/') == std::string::npos, "'", name, "' is no plain file name");
  std::call_once(prelude_once, [this] { compile_prelude(); });
  Object object;
  object.name = name;
  run_guarded(name, [&] { translate(text, output, object); });
  return object;
}

Compiler::Compiler(const Target& target, const std::vector<VirtualFile>& headers, std::string prelude,
                   std::string dump_directory, std::string_view precompiled)
    : state_(std::make_unique<State>()) {
  state_->given_prelude = precompiled;
  state_->flags = flags_of(target);
  state_->generator = std::make_unique<CodeGenerator>(MachineTarget{target.cpu, joined_features(target)});
  std::uint64_t text_hash = stable_hash(prelude);
  for (const VirtualFile& header : headers) {
    state_->files.push_back({cat(root, header.path), std::string(header.text)});
    text_hash = mix_hash(mix_hash(text_hash, stable_hash(header.path)), stable_hash(header.text));
  }
  state_->prelude = std::move(prelude);
  state_->dump_directory = std::move(dump_directory);
  const auto spell = [](const std::string& flag) { return flag; };
  state_->identity = cat("compiler ", clang::getClangFullVersion(), "\nflags ",
                         join(state_->flags, " ", spell), "\npasses ", pass_pipeline(), "\nheaders ",
                         fmt::format("{:016x}", text_hash), "\nbuild ", TWINLOOM_JIT_SOURCES, "\n");
}

Compiler::~Compiler() = default;
Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;

Object Compiler::compile(const std::string& text, const std::string& name) const {
  return state_->compile(text, name, Output::object);
}

std::string Compiler::assembly(const std::string& text, const std::string& name) const {
  return state_->compile(text, name, Output::assembly).bytes;
}

void Compiler::prepare() const {
  std::call_once(state_->prelude_once, [this] { state_->compile_prelude(); });
}

std::string Compiler::precompiled() const {
  prepare();
  return state_->prelude_mark().append(state_->compiled_prelude);
}

const std::string& Compiler::identity() const { return state_->identity; }

}  // namespace twinloom::jit
