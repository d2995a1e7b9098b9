// One kernel on a GPU: a loaded module, how many blocks and threads it is launched with.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/gpu.h"
#include "core/loops/loops.h"
#include "core/runtime/backend.h"

namespace twinloom::cuda {

constexpr const char* KERNEL_SYMBOL = "kernel";

class CudaKernel final : public runtime::Kernel {
 public:
  // Error where the GPU does not take the machine code.
  CudaKernel(const Gpu& gpu, const loops::Program& program, const std::string& cubin);
  ~CudaKernel() override;
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  // Starts the kernel on the stream of `settings.work`.
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override;
  // Blocks. Error where there are more than a GPU takes.
  std::int64_t tasks(std::span<const std::int64_t> sizes) const override;
  std::optional<runtime::Resources> resources() const override;

 private:
  void launch(std::vector<void*> words, std::int64_t blocks, CUstream stream) const;

  const Gpu& gpu_;
  std::string name_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  index::Expr block_count_;
  std::vector<index::Symbol> sizes_;
  unsigned threads_;
  bool may_fail_ = false;  // has an Index
};

}  // namespace twinloom::cuda
