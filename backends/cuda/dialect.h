// CUDA C++: the language of kernels for NVIDIA GPUs. A task is a block.
//   extern "C" __global__ void kernel(const __grid_constant__ Given given)
// where Given holds what abi.h calls Arguments by value: one pointer a buffer, the sizes, the record.
#pragma once

#include <span>

#include "core/emit/device_dialect.h"
#include "core/loops/interpret.h"

namespace twinloom::cuda {

class CudaDialect final : public emit::DeviceDialect {
 public:
  std::string before() const override;
  std::string head(const loops::Program& program) const override;
  std::vector<std::string> opening(const loops::Program& program) const override;
  std::string array(const std::string& type, const std::string& name, const std::string& count,
                    loops::Place place) const override;
  std::string loop(const std::string& counter, const std::string& bound) const override;
  std::string sync() const override { return "__syncthreads();"; }
  bool transposes(ops::DType, int) const override { return false; }
  bool has_threads() const override { return true; }
};

// What a launch hands to a kernel: the bytes of Given.
std::vector<void*> given_words(std::span<const loops::Memory> buffers, std::span<const std::int64_t> sizes,
                               void* failure);

}  // namespace twinloom::cuda
