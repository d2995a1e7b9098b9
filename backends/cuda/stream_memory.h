// Memory that only kernels of one stream use, one after the other: had and given back in the stream's order,
// so that nobody waits.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

namespace twinloom::cuda {

class Gpu;

class StreamMemory {
 public:
  // The GPU's context is current. Error where there is not enough, even after the pool gave back what it
  // kept: `user` is for that.
  StreamMemory(const Gpu& gpu, std::int64_t bytes, CUstream stream, const std::string& user);
  ~StreamMemory();  // what was started before it may go on
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  void* data() const { return reinterpret_cast<void*>(data_); }

 private:
  const Gpu& gpu_;
  CUstream stream_;
  CUdeviceptr data_ = 0;
};

}  // namespace twinloom::cuda
