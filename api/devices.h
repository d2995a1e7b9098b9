// Where a graph runs. A Device is a handle on a back end that was built; copying it is cheap.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/object_cache/object_cache.h"
#include "core/runtime/backend.h"
#include "core/runtime/tensor.h"

namespace twinloom {

struct CpuOptions {
  std::string isa = {};  // "avx2" or "avx512"; empty: the best that this processor has
  // Machine code, and what graphs became, are kept on disk for later processes and found there: in
  // TWINLOOM_CACHE_DIR, else XDG_CACHE_HOME/twinloom, else HOME/.cache/twinloom; at most TWINLOOM_CACHE_BYTES
  // (1 GiB, 0: none). Trouble with it is no error: backend().warning() says what is wrong. False: every graph
  // is planned and every kernel compiled.
  bool cache = true;
};

class Device {
 public:
  // Error where the processor lacks what is asked for.
  static Device cpu(const CpuOptions& options = {});
  // Interprets, slowly and obviously; the oracle.
  static Device reference();
  // An NVIDIA GPU, as the driver counts the visible ones. Error where there is none, where driver or NVRTC
  // are missing (with the places that were searched), or where Twinloom was built without CUDA's headers.
  static Device cuda(int number = 0, bool cache = true);
  // Plans for an NVIDIA H200 and runs nothing: schedules and CUDA sources can be looked at where no GPU is.
  // Error where Twinloom was built without CUDA's headers.
  static Device planned_h200();
  // Of a back end that the caller brings, and of where what graphs become is kept.
  static Device of(std::shared_ptr<const runtime::Backend> backend,
                   std::shared_ptr<const object_cache::ObjectCache> cache = nullptr) {
    return Device(std::move(backend), std::move(cache));
  }
  // "cpu", "reference", "cuda", "cuda:1" or "h200".
  static Device named(std::string_view name, const CpuOptions& options = {});

  const runtime::Backend& backend() const { return *backend_; }
  std::shared_ptr<const runtime::Backend> share() const { return backend_; }
  // Where what graphs became is kept; null: nowhere.
  const std::shared_ptr<const object_cache::ObjectCache>& cache() const { return cache_; }

  // The tensor in the memory that this device's kernels see, and back in memory of this process. A tensor
  // that is there already comes back as it is.
  runtime::Tensor upload(const runtime::Tensor& tensor) const;
  runtime::Tensor download(const runtime::Tensor& tensor) const;

  // Gives the driver the memory of a GPU that is kept for later runs, for others in this process.
  void release_memory() const;

 private:
  explicit Device(std::shared_ptr<const runtime::Backend> backend,
                  std::shared_ptr<const object_cache::ObjectCache> cache = nullptr)
      : backend_(std::move(backend)), cache_(std::move(cache)) {}
  std::shared_ptr<const runtime::Backend> backend_;
  std::shared_ptr<const object_cache::ObjectCache> cache_;
};

// Those that can be used here, the best first: every GPU, those of the highest memory bandwidth before others,
// then the CPU, then the reference.
std::vector<Device> devices();

// A line for each GPU that cannot be used, or for what is missing and where it was looked for.
std::vector<std::string> missing_gpus();

}  // namespace twinloom
