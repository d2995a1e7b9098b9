// Copies between memory of this process and a GPU's. Memory that the system may move is copied through two
// chunks that it may not: while the GPU copies the one, the processor fills or empties the other.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace twinloom::cuda {

class Gpu;

// Thread-safe; copies through the chunks go one after the other. All is done when a call returns.
class Staging {
 public:
  explicit Staging(const Gpu& gpu) : gpu_(gpu) {}
  // In the order of the stream, in the GPU's scope.
  void upload(CUdeviceptr to, const std::byte* from, std::int64_t bytes, CUstream stream);
  void download(std::byte* to, CUdeviceptr from, std::int64_t bytes, CUstream stream);

 private:
  struct Chunk {
    std::byte* memory = nullptr;
    CUevent copied = nullptr;  // by the GPU
  };
  void prepare();
  void record(const Chunk& chunk, CUstream stream);
  void wait(const Chunk& chunk);
  bool is_direct(const void* host, std::int64_t bytes) const;
  const Gpu& gpu_;
  std::mutex mutex_;
  std::array<Chunk, 2> chunks_;
};

}  // namespace twinloom::cuda
