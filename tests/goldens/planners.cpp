// See planners.h.
#include "tests/goldens/planners.h"

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "backends/cuda/dialect.h"
#include "core/base/text.h"
#include "core/emit/emit.h"
#include "core/machine/gpu.h"

namespace twinloom::tests {

namespace {

// No comment stands on top of a source, so that it changes only where its code does.
class Planner final : public runtime::Backend {
 public:
  Planner(machine::Machine machine, std::unique_ptr<const emit::Dialect> dialect)
      : machine_(std::move(machine)), dialect_(std::move(dialect)) {}
  std::string name() const override { return machine_.name; }
  std::string describe() const override { return cat("planner for ", machine_.name); }
  const machine::Machine& machine() const override { return machine_; }
  runtime::Built build(const loops::Program& program) const override {
    return {nullptr, runtime::written(emit::emit(program, *dialect_))};
  }

 private:
  machine::Machine machine_;
  std::unique_ptr<const emit::Dialect> dialect_;
};

struct CpuFacts {
  std::string isa;
  int cores;
  double clock_hertz;
  std::int64_t l1_bytes, l2_bytes, l3_bytes;  // a core
};

// Bandwidths as backends/cpu/facts.cpp estimates them.
machine::Machine cpu_of(const CpuFacts& facts) {
  const cpu::Isa isa = cpu::choose_isa(facts.isa, /*compile_only=*/true);
  const double from_registers = 2.0 * isa.vector_bytes * facts.clock_hertz;
  machine::Machine machine;
  machine.name = cat("cpu-", isa.name);
  machine.model = cat("a CPU of ", facts.cores, " cores");
  machine.vector_bytes = isa.vector_bytes;
  machine.vector_registers = isa.vector_registers;
  machine.masked_memory = isa.masked_memory;
  machine.blocks_at_once = facts.cores;
  machine.memory = {{"L1", facts.l1_bytes, from_registers},
                    {"L2", facts.l2_bytes, from_registers / 4},
                    {"L3", facts.l3_bytes, from_registers / 8},
                    {"memory", 0, 10e9}};
  machine.memory.back().workers = 1;
  machine.launch_seconds = 1e-6;
  machine.worth_a_thread_seconds = 15e-6;
  return machine;
}

constexpr std::int64_t KIBI = 1 << 10, MEBI = 1 << 20;

}  // namespace

// A small CPU and a server's: few and many cores decide differently.
std::vector<std::shared_ptr<const runtime::Backend>> planners() {
  const CpuFacts small = {"avx2", 4, 2.8e9, 32 * KIBI, 512 * KIBI, 4 * MEBI};
  const CpuFacts large = {"avx512", 32, 2.5e9, 48 * KIBI, 2 * MEBI, 2 * MEBI};
  return {std::make_shared<const Planner>(cpu_of(small), std::make_unique<cpu::CpuDialect>()),
          std::make_shared<const Planner>(cpu_of(large), std::make_unique<cpu::CpuDialect>()),
          std::make_shared<const Planner>(machine::h200(),
                                          std::make_unique<cuda::CudaDialect>(cuda::Handed::usual))};
}

}  // namespace twinloom::tests
