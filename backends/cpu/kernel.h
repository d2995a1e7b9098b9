// Machine code of one program, and how its tasks are divided among threads.
#pragma once

#include <map>
#include <memory>

#include "core/emit/abi.h"
#include "core/runtime/backend.h"

namespace twinloom::cpu {

// What the function of a kernel is called in its object.
inline constexpr const char* kernel_symbol = "kernel";

// The OpenMP pool of this process: each thread takes one range of neighbouring tasks.
void openmp_parallel_for(std::int64_t tasks, int threads, runtime::ParallelBody body, void* context);

// Machine code in this process, and what keeps it there.
struct LoadedFunction {
  emit::KernelFunction function;
  std::shared_ptr<const void> owner;
};

// How many tasks the kernel has: an expression of the program's sizes. A routine has a task for each of its
// rows.
index::Expr task_count(const loops::Program& program);

class CpuKernel final : public runtime::Kernel {
 public:
  CpuKernel(const loops::Program& program, LoadedFunction code, const machine::Machine& machine);

  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override;
  std::int64_t tasks(std::span<const std::int64_t> sizes) const override;
  // Of constants in a mapped file, large ones that are read as a whole become copies in huge pages: from the
  // pages of files rows of 1,280 elements took 1.25 times as long (an EPYC, a virtual machine, 2026-11-28).
  std::unique_ptr<const Kernel> with_constants(
      std::span<const runtime::ConstantArgument> arguments) const override;

 private:
  CpuKernel(const CpuKernel&) = default;
  int threads_for(std::int64_t tasks, std::span<const runtime::Memory> arguments, int given) const;

  LoadedFunction code_;
  index::Expr task_count_;
  std::optional<std::int64_t> constant_tasks_;
  std::vector<index::Symbol> sizes_;
  struct Buffer {
    int element_bytes;
    bool is_looked_up;  // which of its elements are read is only known in a run
  };
  std::vector<Buffer> buffers_;                               // of each argument
  std::map<std::size_t, std::shared_ptr<std::byte>> copies_;  // of arguments that are constants
  machine::Machine machine_;
};

}  // namespace twinloom::cpu
