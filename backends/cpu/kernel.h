// Machine code of one program, and how its tasks are divided among threads.
#pragma once

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

 private:
  int threads_for(std::int64_t tasks, std::span<const runtime::Memory> arguments, int given) const;

  LoadedFunction code_;
  index::Expr task_count_;
  std::optional<std::int64_t> constant_tasks_;
  std::vector<index::Symbol> sizes_;
  std::vector<int> element_bytes_;  // of each argument
  machine::Machine machine_;
};

}  // namespace twinloom::cpu
