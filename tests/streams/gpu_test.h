// A GPU for tests, or the words why there is none, with which a test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "api/twinloom.h"
#include "backends/cuda/gpu.h"

namespace twinloom::tests {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_.emplace(Device::cuda(0, false));
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  const Device& device() const { return *device_; }
  const runtime::Space& space() const { return *device_->backend().space(); }

 private:
  std::optional<Device> device_;
};

// A stream of the primary context, as a caller makes one.
class CallersStream {
 public:
  CallersStream() : gpu_(0) {
    const cuda::Gpu::Scope scope(gpu_);
    gpu_.check(gpu_.driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "a stream");
  }
  CUstream stream() const { return stream_; }
  const cuda::Gpu& gpu() const { return gpu_; }
  RunOptions options() const {
    RunOptions options;
    options.stream = stream_;
    return options;
  }

 private:
  cuda::Gpu gpu_;
  CUstream stream_ = nullptr;
};

// Of f32 elements, in memory of this process.
inline std::vector<float> numbers(const Tensor& tensor, const Device& device) {
  const Tensor here = contiguous(device.download(tensor));
  const auto* data = static_cast<const float*>(here.data);
  return {data, data + runtime::element_count(here)};
}

}  // namespace twinloom::tests
