// The back end that compiles for other processes. See cpu.h.
#include "backends/cpu/cpu.h"
#include "backends/cpu/facts.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/load.h"
#include "backends/cpu/translate.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "jit/link_image.h"

namespace twinloom::cpu {

namespace {

class Exporter final : public runtime::Backend {
 public:
  explicit Exporter(const CpuOptions& options)
      : isa_(choose_isa(options.isa, /*compile_only=*/true)),
        threads_(options.threads > 0 ? options.threads : usable_cores()),
        known_(
            machine::known(machine_of(isa_, threads_, options.worth_a_thread_seconds), options.calibrations)),
        translator_(isa_, options.dump_directory) {}

  std::string name() const override { return "cpu"; }
  std::string describe() const override { return cat(device_line(isa_, threads_), ", for packages"); }
  const machine::Machine& machine() const override { return known_.machine; }
  std::string warning() const override { return known_.trouble; }
  std::vector<std::string> targets() const override { return {target_of(isa_)}; }

  runtime::Built build(const loops::Program& program) const override {
    Stopwatch watch;
    KernelText text = translator_.text(program);
    const jit::CodeImage image = jit::link_image(translator_.object(text, program.name), kernel_symbol);
    runtime::Built built;
    built.code = {jit::packed(image)};
    built.source = runtime::written(std::move(text.source));
    built.compile_seconds = watch.lap();
    return built;
  }

 private:
  Isa isa_;
  int threads_;
  machine::Known known_;
  Translator translator_;
};

}  // namespace

std::shared_ptr<const runtime::Backend> make_exporter(const CpuOptions& options) {
  return std::make_shared<const Exporter>(options);
}

}  // namespace twinloom::cpu
