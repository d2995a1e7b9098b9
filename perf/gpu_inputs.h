// Inputs in the memory of a GPU, and the comparison of results.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "api/twinloom.h"
#include "perf/gpu_cases.h"

namespace twinloom::perf {

// Of [images, channels, height, width].
std::vector<std::int64_t> channels_last_strides(std::span<const std::int64_t> sizes);

class GpuInputs {
 public:
  explicit GpuInputs(const Device& device);
  // One tensor for each parameter: floats from N(0, 1), integers below the bound. A block of them is drawn
  // and repeated: to draw all would take longer than to measure.
  std::vector<Argument> drawn(const Graph& graph, const GpuCase& given) const;
  // So many bytes of memory.
  Tensor empty(std::int64_t bytes) const;

 private:
  Tensor drawn(DType dtype, std::vector<std::int64_t> sizes, const GpuCase& given) const;
  const runtime::Space* space_;
  std::shared_ptr<runtime::MemoryPool> memory_;
};

// Between about a million elements of two tensors of the same sizes, relative to the largest of them.
// Infinite where one is NaN.
double largest_difference(const Tensor& given, const Tensor& expected);

}  // namespace twinloom::perf
