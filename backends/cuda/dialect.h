// CUDA C++: the language of kernels for NVIDIA GPUs. A task is a block.
//   extern "C" __global__ void twinloom_sum_mul(one pointer a buffer, the sizes, the failure record)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/launch.h"
#include "core/emit/device_dialect.h"
#include "core/emit/names.h"
#include "core/loops/in_place.h"
#include "core/loops/interpret.h"

namespace twinloom::cuda {

// What a kernel may take for granted of what a launch hands it.
enum class Handed : std::uint8_t {
  usual,  // pointers are multiples of PACKED_BYTES, as those of Twinloom's own buffers are: no test before a
          // packed access; sizes are below LARGE_SIZE: NVRTC computes quotients and small offsets with 32
          // bits
  any,  // pointers are multiples of their elements, as a caller's may be; sizes are any
};

class CudaDialect : public emit::DeviceDialect {
 public:
  // The two buffers of each pair may be one memory.
  explicit CudaDialect(Handed handed, std::span<const loops::InPlace> in_place = {})
      : handed_(handed), in_place_(in_place.begin(), in_place.end()) {}
  // What the kernel is called, extern "C": in its module, and by profilers.
  virtual std::string function(const loops::Program& program) const {
    return emit::function_name(program.name);
  }
  std::string before() const override;
  std::string head(const loops::Program& program) const override;
  std::vector<std::string> opening(const loops::Program& program) const override;
  std::string argument(const std::string& type, ops::DType dtype, std::size_t buffer) const override;
  std::string size(std::size_t number, const loops::SizeInfo& info) const override;
  index::Range range(const loops::SizeInfo& info) const override;
  std::string failure() const override;
  bool assumes_packed() const override { return handed_ == Handed::usual; }
  std::string task(const std::string& task, std::int64_t blocks) const override;
  std::string array(const std::string& type, const std::string& name, const std::string& count,
                    loops::Place place) const override;
  std::string block_array(const std::string& type, const std::string& name, const std::string& count,
                          std::int64_t offset) const override;
  std::string loop(const std::string& counter, const std::string& bound) const override;
  std::string slot_parameters() const override { return ", auto failure"; }
  std::string sync() const override { return "__syncthreads();"; }
  bool transposes(ops::DType, int) const override { return false; }
  bool loads_every(std::int64_t, int) const override { return false; }
  bool has_vectors() const override { return false; }
  std::string lanes_member() const override { return ".lane"; }
  bool has_threads() const override { return true; }

 private:
  std::vector<std::string> block_opening(const loops::Program& program) const;
  bool is_small(const loops::SizeInfo& info) const { return handed_ == Handed::usual && is_size(info); }

  Handed handed_;
  std::vector<loops::InPlace> in_place_;
};

}  // namespace twinloom::cuda
