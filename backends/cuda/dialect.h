// CUDA C++: the language of kernels for NVIDIA GPUs. A task is a block.
//   extern "C" __global__ void kernel(one pointer a buffer, the sizes, the failure record)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/emit/device_dialect.h"
#include "core/loops/interpret.h"

namespace twinloom::cuda {

// What one load or store moves at most, at an address that is a multiple of it.
constexpr int PACKED_BYTES = 16;

// What a kernel may take for granted of the pointers it is given.
enum class Pointers : std::uint8_t {
  packed,  // multiples of PACKED_BYTES, as those of Twinloom's own buffers are: no test before a packed
           // access
  any,     // multiples of their elements, which a caller's may be
};

class CudaDialect final : public emit::DeviceDialect {
 public:
  explicit CudaDialect(Pointers pointers) : pointers_(pointers) {}
  std::string before() const override;
  std::string head(const loops::Program& program) const override;
  std::vector<std::string> opening(const loops::Program& program) const override;
  std::string argument(const std::string& type, std::size_t buffer) const override;
  std::string size(std::size_t number) const override;
  std::string failure() const override;
  bool assumes_packed() const override { return pointers_ == Pointers::packed; }
  std::string array(const std::string& type, const std::string& name, const std::string& count,
                    loops::Place place) const override;
  std::string block_array(const std::string& type, const std::string& name, const std::string& count,
                          std::int64_t offset) const override;
  std::string loop(const std::string& counter, const std::string& bound) const override;
  std::string sync() const override { return "__syncthreads();"; }
  bool transposes(ops::DType, int) const override { return false; }
  bool has_threads() const override { return true; }

 private:
  Pointers pointers_;
};

// What a launch hands to a kernel: its parameters, a word each.
std::vector<void*> parameter_words(std::span<const loops::Memory> buffers,
                                   std::span<const std::int64_t> sizes, void* failure);

}  // namespace twinloom::cuda
