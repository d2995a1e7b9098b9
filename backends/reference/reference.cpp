// See reference.h.
#include "backends/reference/reference.h"

#include "core/loops/interpret.h"

namespace twinloom::reference {

namespace {

class ReferenceKernel final : public runtime::Kernel {
 public:
  explicit ReferenceKernel(loops::Program program) : program_(std::move(program)) {}
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings&) const override {
    return loops::interpret(program_, arguments, sizes);
  }

 private:
  loops::Program program_;
};

class ReferenceBackend final : public runtime::Backend {
 public:
  ReferenceBackend() {
    machine_.name = "reference";
    machine_.memory = {{"memory", 0, 1e9}};
  }
  std::string name() const override { return "reference"; }
  std::string describe() const override { return "reference: interprets every program, on one thread"; }
  const machine::Machine& machine() const override { return machine_; }
  bool runs_nests() const override { return true; }
  runtime::Built build(const loops::Program& program) const override {
    return {std::make_unique<const ReferenceKernel>(program), {}, 0};
  }

 private:
  machine::Machine machine_;
};

}  // namespace

std::unique_ptr<runtime::Backend> make_reference() { return std::make_unique<ReferenceBackend>(); }

}  // namespace twinloom::reference
