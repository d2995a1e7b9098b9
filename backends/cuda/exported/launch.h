// How the functions of this folder call kernels: in order on one stream of the current device.
#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cuda/sort.h"
#include "sizes.h"

namespace twinloom::exported {

inline void check_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Memory of what is on the stream until it is freed.
class Workspace {
 public:
  Workspace(Integer bytes, cudaStream_t stream) : stream_(stream) {
    if (bytes > 0) check_cuda(cudaMallocAsync(&data_, std::size_t(bytes), stream), "memory between kernels");
  }
  ~Workspace() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

// An array of the graph on the current device, copied there at its first use, which stays until the process
// ends.
inline void* on_device(const unsigned char* bytes, std::size_t count) {
  static std::mutex mutex;
  static std::map<std::pair<int, const unsigned char*>, void*> copies;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "the device");
  const std::lock_guard lock(mutex);
  void*& copy = copies[{device, bytes}];
  if (copy != nullptr || count == 0) return copy;
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, count), "memory for an array of the graph");
  check_cuda(cudaMemcpy(memory, bytes, count, cudaMemcpyHostToDevice), "an array of the graph");
  return copy = memory;
}

constexpr Integer LARGE_SIZE = Integer{1} << 30;

// A kernel for pointers that are multiples of 16 and sizes below LARGE_SIZE, and the same for others; threads
// of a block, bytes of shared memory that it asks for, and whether elements are used as indices.
struct Kernel {
  template <class... Of>
  Kernel(void (*usual)(Of...), void (*any)(Of...), Integer threads, Integer scratch, bool may_fail)
      : usual(reinterpret_cast<const void*>(usual)),
        any(reinterpret_cast<const void*>(any)),
        threads(threads),
        scratch(scratch),
        may_fail(may_fail) {}

  const void *usual, *any;
  Integer threads, scratch;
  bool may_fail;
};

// One call of a function.
class Run {
 public:
  explicit Run(cudaStream_t stream) : stream_(stream) {}

  // `small`: all sizes are below LARGE_SIZE.
  void launch(const Kernel& kernel, std::initializer_list<void*> buffers,
              std::initializer_list<Integer> sizes, bool small, Integer blocks) {
    start(kernel, buffers, sizes, small, blocks, nullptr);
  }
  // One kernel, launched as often as the sort has steps.
  void sort(const Kernel& kernel, std::initializer_list<void*> buffers, std::initializer_list<Integer> sizes,
            bool small, const cuda::SortSizes& sorted) {
    int device = 0, multiprocessors = 0, cache = 0;
    check_cuda(cudaGetDevice(&device), "the device");
    check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
               "the device");
    check_cuda(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device), "the device");
    const cuda::SortPlan plan(sorted, {Integer{multiprocessors} * cuda::SORT_BLOCKS_EACH, cache});
    if (!plan.refusal().empty()) throw std::invalid_argument(plan.refusal());
    const Workspace workspace(plan.workspace_bytes(), stream_);
    for (const cuda::SortLaunch& each : plan.launches(workspace.data()))
      start(kernel, buffers, sizes, small, each.blocks, &each.step);
  }
  // The first of all kernels; waits for them where one may fail.
  FailureRecord failure() {
    FailureRecord failure;
    if (!record_) return failure;
    check_cuda(cudaMemcpyAsync(&failure, record_->data(), sizeof failure, cudaMemcpyDeviceToHost, stream_),
               "what kernels found");
    check_cuda(cudaStreamSynchronize(stream_), "the kernels");
    return failure;
  }

 private:
  void* record() {
    if (!record_) {
      record_.emplace(Integer(sizeof(FailureRecord)), stream_);
      check_cuda(cudaMemsetAsync(record_->data(), 0, sizeof(FailureRecord), stream_), "what kernels found");
    }
    return record_->data();
  }
  // Parameters are words, one for each buffer and size, then the record; the step is one more, of several
  // words.
  void start(const Kernel& kernel, std::initializer_list<void*> buffers, std::initializer_list<Integer> sizes,
             bool small, Integer blocks, const cuda::SortStep* step) {
    if (blocks <= 0) return;
    if (blocks >= Integer{1} << 31) throw std::invalid_argument("a kernel has 2^31 blocks or more");
    const bool usual = small && std::all_of(buffers.begin(), buffers.end(), [](const void* buffer) {
                         return reinterpret_cast<std::uintptr_t>(buffer) % 16 == 0;
                       });
    void* record_of_run = kernel.may_fail ? record() : nullptr;
    std::vector<const void*> parameters;
    for (void* const& buffer : buffers) parameters.push_back(&buffer);
    for (const Integer& size : sizes) parameters.push_back(&size);
    parameters.push_back(&record_of_run);
    if (step != nullptr) parameters.push_back(step);
    const void* const function = usual ? kernel.usual : kernel.any;
    constexpr Integer unasked = 48 << 10;  // bytes that a block may have of itself
    if (kernel.scratch > unasked)
      check_cuda(
          cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(kernel.scratch)),
          "the shared memory of a kernel");
    check_cuda(cudaLaunchKernel(function, dim3(unsigned(blocks)), dim3(unsigned(kernel.threads)),
                                const_cast<void**>(parameters.data()), std::size_t(kernel.scratch), stream_),
               "the launch of a kernel");
  }

  cudaStream_t stream_;
  std::optional<Workspace> record_;
};

}  // namespace twinloom::exported
