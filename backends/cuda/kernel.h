// One kernel on a GPU: a loaded module, how many blocks and threads it is launched with.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/gpu.h"
#include "core/loops/loops.h"
#include "core/runtime/backend.h"

namespace twinloom::cuda {

// Machine code that a GPU has loaded.
class Module {
 public:
  // Of the kernel of that name. Error where the GPU does not take it.
  Module(const Gpu& gpu, const std::string& cubin, const std::string& name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUfunction function() const { return function_; }

 private:
  const Gpu& gpu_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

// Makes the machine code for Handed::any; for the first run that has others than the usual.
using ModuleForAny = std::function<std::unique_ptr<const Module>()>;

class CudaKernel final : public runtime::Kernel {
 public:
  // `usual`: for Handed::usual.
  CudaKernel(const Gpu& gpu, const loops::Program& program, std::unique_ptr<const Module> usual,
             ModuleForAny module_for_any);

  // Starts the kernel on the stream of `settings.work`.
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override;
  // Blocks. Error where there are more than a GPU takes.
  std::int64_t tasks(std::span<const std::int64_t> sizes) const override;
  std::optional<runtime::Resources> resources() const override;

 private:
  void launch(CUfunction function, std::vector<void*> words, std::int64_t blocks, const CudaWork& work) const;
  void sort(CUfunction function, const std::vector<void*>& words, std::span<const std::int64_t> sizes,
            const CudaWork& work) const;
  index::Values values_of(std::span<const std::int64_t> sizes) const;
  bool is_usual(std::span<const runtime::Memory> arguments, std::span<const std::int64_t> sizes) const;
  CUfunction any_function() const;
  void allow_scratch(const Module& module) const;

  const Gpu& gpu_;
  std::string name_;
  std::unique_ptr<const Module> usual_;
  ModuleForAny module_for_any_;
  mutable std::once_flag any_is_made_;
  mutable std::unique_ptr<const Module> any_;
  index::Expr block_count_;
  std::optional<loops::CallSizes> sorted_;  // where the kernel is a sort
  bool has_starts_ = false;                 // of it
  std::vector<loops::SizeInfo> sizes_;
  unsigned threads_;
  unsigned scratch_bytes_;  // shared memory that a launch asks for
  bool may_fail_ = false;   // has an Index
};

}  // namespace twinloom::cuda
