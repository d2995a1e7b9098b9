// The back end that compiles for other processes. See cuda.h.
#include "backends/cuda/cuda.h"
#include "backends/cuda/load.h"
#include "backends/cuda/translate.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/machine/gpu.h"

namespace twinloom::cuda {

namespace {

class Exporter final : public runtime::Backend {
 public:
  explicit Exporter(const std::string& architecture) : translator_(architecture) {}

  std::string name() const override { return "cuda"; }
  std::string describe() const override { return cat(translator_.architecture(), ", for packages"); }
  const machine::Machine& machine() const override { return machine_; }
  std::vector<std::string> targets() const override { return {target_of(translator_.architecture())}; }

  runtime::Built build(const loops::Program& program) const override { return build_in_place(program, {}); }
  runtime::Built build_in_place(const loops::Program& program,
                                std::span<const loops::InPlace> in_place) const override {
    Stopwatch watch;
    runtime::Built built;
    for (const Handed handed : {Handed::usual, Handed::any}) {
      KernelText text = translator_.text(program, handed, in_place);
      built.code.push_back(translator_.object(text, program.name));
      if (handed == Handed::usual) built.source = runtime::written(std::move(text.source));
    }
    built.compile_seconds = watch.lap();
    return built;
  }

 private:
  machine::Machine machine_ = machine::h200();
  Translator translator_;
};

}  // namespace

void check_architecture(const std::string& architecture, std::string_view exported) {
  if (architecture != HOPPER)
    throw Error(cat("cuda: ", exported, " are for ", HOPPER, " alone, of a GPU; '", escaped(architecture),
                    "' was asked for"));
}

std::shared_ptr<const runtime::Backend> make_exporter(const std::string& architecture) {
  check_architecture(architecture, "packages");
  return std::make_shared<const Exporter>(architecture);
}

}  // namespace twinloom::cuda
