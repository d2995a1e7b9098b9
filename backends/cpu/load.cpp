// See load.h; and the back end that loads and compiles nothing.
#include "backends/cpu/load.h"

#include <algorithm>

#include "backends/cpu/cpu.h"
#include "backends/cpu/facts.h"
#include "backends/cpu/kernel.h"
#include "core/base/error.h"
#include "jit/code_image.h"

namespace twinloom::cpu {

namespace {

class Loader final : public runtime::Backend {
 public:
  explicit Loader(const CpuOptions& options)
      : isa_(choose_isa(options.isa, /*compile_only=*/false)),
        threads_(options.threads > 0 ? options.threads : usable_cores()),
        machine_(machine_of(isa_, threads_, options.worth_a_thread_seconds)) {}

  std::string name() const override { return "cpu"; }
  std::string describe() const override { return device_line(isa_, threads_); }
  const machine::Machine& machine() const override { return machine_; }
  runtime::Built build(const loops::Program& program) const override {
    throw Error(cat("kernel '", program.name,
                    "' is not compiled: this library runs what a package holds and compiles nothing"));
  }
  std::vector<std::string> targets() const override { return loaded_targets(isa_); }
  std::unique_ptr<const runtime::Kernel> load(const loops::Program& program,
                                              const runtime::Code& code) const override {
    return load_kernel(program, code, machine_);
  }

 private:
  Isa isa_;
  int threads_;
  machine::Machine machine_;
};

}  // namespace

std::string target_of(const Isa& isa) { return cat("cpu ", isa.name); }

std::string device_line(const Isa& isa, int threads) {
  return cat("cpu: ", isa.name, ", ", threads, threads == 1 ? " thread" : " threads");
}

std::vector<std::string> loaded_targets(const Isa& isa) {
  std::vector<std::string> targets;
  for (const Isa& one : all_isas()) {
    targets.push_back(target_of(one));
    if (one.name == isa.name) break;
  }
  std::ranges::reverse(targets);
  return targets;
}

std::unique_ptr<const runtime::Kernel> load_kernel(const loops::Program& program, const runtime::Code& code,
                                                   const machine::Machine& machine) {
  if (code.size() != 1)
    throw Error(cat("kernel '", program.name, "' has ", code.size(), " pieces of machine code; expected 1"));
  auto owner =
      std::make_shared<const jit::LoadedCode>(jit::unpacked(code.front()), jit::default_host_symbols());
  const auto function = reinterpret_cast<emit::KernelFunction>(owner->entry());
  return std::make_unique<const CpuKernel>(program, LoadedFunction{function, std::move(owner)}, machine);
}

std::unique_ptr<runtime::Backend> make_loader(const CpuOptions& options) {
  return std::make_unique<Loader>(options);
}

}  // namespace twinloom::cpu
