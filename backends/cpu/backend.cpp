// The back end that cpu.h makes: emits, looks for kept machine code or compiles, loads.
#include <algorithm>

#include "backends/cpu/cpu.h"
#include "backends/cpu/facts.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/library_kernel.h"
#include "backends/cpu/load.h"
#include "backends/cpu/translate.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "jit/orc_session.h"

namespace twinloom::cpu {

namespace {

machine::Machine machine_with_library(machine::Machine machine) {
  machine.library_rate = library_rate(machine);
  return machine;
}

class CpuBackend final : public runtime::Backend {
 public:
  explicit CpuBackend(const CpuOptions& options)
      : isa_(choose_isa(options.isa, options.compile_only)),
        threads_(options.threads > 0 ? options.threads : usable_cores()),
        known_(
            machine::known(machine_with_library(machine_of(isa_, threads_, options.worth_a_thread_seconds)),
                           options.calibrations)),
        translator_(std::make_shared<const Translator>(isa_, options.dump_directory)),
        cache_(options.cache),
        session_({}) {}

  std::string name() const override { return "cpu"; }
  std::string describe() const override { return device_line(isa_, threads_); }
  const machine::Machine& machine() const override { return known_.machine; }

  bool has_library_for(const loops::Program& nest) const override {
    return LibraryKernel::serves(nest, known_.machine);
  }
  runtime::Built build(const loops::Program& program) const override {
    Stopwatch watch;
    if (program.library) {
      auto call = std::make_unique<const LibraryKernel>(program, known_.machine);
      return {std::move(call), {}, watch.lap(), false};
    }
    Made made = module_of(program);
    auto kernel =
        std::make_unique<const CpuKernel>(program, function_of(std::move(made.module)), known_.machine);
    const auto source = [translator = translator_, program] { return translator->text(program).source; };
    return {std::move(kernel), source, watch.lap(), made.cached};
  }

  std::vector<std::string> targets() const override { return loaded_targets(isa_); }
  std::unique_ptr<const runtime::Kernel> load(const loops::Program& program,
                                              const runtime::Code& code) const override {
    return load_kernel(program, code, known_.machine);
  }

  std::string warning() const override {
    return known_.trouble.empty() && cache_ != nullptr ? cache_->warning() : known_.trouble;
  }

 private:
  struct Made {
    jit::Module module;
    bool cached;
  };
  // What is kept of the very program is found without its text; another program may have the same text.
  Made module_of(const loops::Program& program) const {
    const auto key = cache_ == nullptr ? std::nullopt : translator_->key(program);
    if (key)
      if (auto kept = load_kept(*key, program.name)) return {std::move(kept->module), true};
    const KernelText text = translator_->text(program);
    std::optional<Kept> kept = load_kept(text.key, program.name);
    const bool cached = kept.has_value();
    if (!cached) kept = compile(text, program.name);
    if (key) cache_->store(*key, kept->bytes);
    return {std::move(kept->module), cached};
  }

  static LoadedFunction function_of(jit::Module code) {
    auto owner = std::make_shared<const jit::Module>(std::move(code));
    return {reinterpret_cast<emit::KernelFunction>(owner->address(kernel_symbol)), owner};
  }

  struct Kept {
    jit::Module module;
    std::string bytes;
  };
  std::optional<Kept> load_kept(const object_cache::Key& key, const std::string& name) const {
    if (cache_ == nullptr) return std::nullopt;
    std::optional<std::string> bytes = cache_->find(key);
    if (!bytes) return std::nullopt;
    try {
      jit::Module module = session_.load({name, *bytes, {}});
      module.address(kernel_symbol);
      return Kept{std::move(module), *std::move(bytes)};
    } catch (const Bug&) {
      // Only who runs as this user can keep such an object under the key; the next one is our own.
      cache_->remove(key);
      return std::nullopt;
    }
  }

  Kept compile(const KernelText& text, const std::string& name) const {
    jit::Object object = translator_->object(text, name);
    jit::Module module = session_.load(object);
    // What cannot be loaded is not kept.
    if (cache_ != nullptr) cache_->store(text.key, object.bytes);
    return {std::move(module), std::move(object.bytes)};
  }

  Isa isa_;
  int threads_;
  machine::Known known_;
  std::shared_ptr<const Translator> translator_;
  std::shared_ptr<const object_cache::ObjectCache> cache_;
  jit::Session session_;
};

class Planner final : public runtime::Backend {
 public:
  Planner(const std::string& isa, const machine::Calibrations& calibrations)
      : isa_(choose_isa(isa, /*compile_only=*/true)),
        known_(machine::known(machine_of(isa_, usable_cores(), CpuOptions().worth_a_thread_seconds),
                              calibrations)) {}
  std::string name() const override { return "planner"; }
  std::string describe() const override { return cat("planner for ", isa_.name); }
  const machine::Machine& machine() const override { return known_.machine; }
  runtime::Built build(const loops::Program&) const override { return {}; }
  std::string warning() const override { return known_.trouble; }

 private:
  Isa isa_;
  machine::Known known_;
};

}  // namespace

std::shared_ptr<const runtime::Backend> make_planner(const std::string& isa,
                                                     const machine::Calibrations& calibrations) {
  return std::make_shared<const Planner>(isa, calibrations);
}

std::unique_ptr<runtime::Backend> make_cpu(const CpuOptions& options) {
  if (options.threads < 0) throw Error(cat("cpu: ", options.threads, " threads"));
  return std::make_unique<CpuBackend>(options);
}

}  // namespace twinloom::cpu
