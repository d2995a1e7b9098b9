// The back end that cpu.h makes: emits, compiles, loads.
#include <algorithm>
#include <chrono>

#include "backends/cpu/cpu.h"
#include "backends/cpu/dialect.h"
#include "backends/cpu/facts.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernel.h"
#include "core/base/error.h"
#include "core/emit/emit.h"
#include "jit/clang_compiler.h"
#include "jit/orc_session.h"

namespace twinloom::cpu {

namespace {

class CpuBackend final : public runtime::Backend {
 public:
  explicit CpuBackend(const CpuOptions& options)
      : isa_(choose_isa(options.isa, options.compile_only)),
        threads_(options.threads > 0 ? options.threads : usable_cores()),
        machine_(machine_of(isa_, threads_, options.worth_a_thread_seconds)),
        compiler_(isa_.target, all_headers(), prelude(), options.dump_directory, precompiled_prelude(isa_)),
        session_({}) {}

  std::string name() const override { return "cpu"; }
  std::string describe() const override {
    return cat("cpu: ", isa_.name, ", ", threads_, threads_ == 1 ? " thread" : " threads");
  }
  const machine::Machine& machine() const override { return machine_; }

  runtime::Built build(const loops::Program& program) const override {
    const auto start = std::chrono::steady_clock::now();
    std::string source = emit::emit(program, dialect_, loops::print(program));
    const jit::Object object = compiler_.compile(source, program.name);
    auto kernel = std::make_unique<const CpuKernel>(program, session_.load(object), machine_);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return {std::move(kernel), std::move(source), seconds.count()};
  }

 private:
  Isa isa_;
  int threads_;
  machine::Machine machine_;
  CpuDialect dialect_;
  jit::Compiler compiler_;
  jit::Session session_;
};

}  // namespace

std::unique_ptr<runtime::Backend> make_cpu(const CpuOptions& options) {
  if (options.threads < 0) throw Error(cat("cpu: ", options.threads, " threads"));
  return std::make_unique<CpuBackend>(options);
}

}  // namespace twinloom::cpu
