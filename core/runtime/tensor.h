// A tensor in somebody's memory: address, element type, sizes and strides. Owns the memory only when
// `owner` is set. Copying a Tensor copies the handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/ops/dtype.h"
#include "core/runtime/space.h"

namespace twinloom::runtime {

struct Tensor {
  void* data = nullptr;  // element 0
  ops::DType dtype = ops::DType::f32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements, one for each size; may be 0 or negative in inputs
  std::shared_ptr<void> owner;        // keeps `data` alive; empty for the caller's memory
  int device = HOST;                  // whose memory `data` is: HOST, or the number of a GPU
};

// Row-major strides.
std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> sizes);
std::int64_t element_count(const Tensor& tensor);
bool is_contiguous(const Tensor& tensor);

// The lowest and one past the highest element that the tensor reaches, relative to `data`; both 0 when
// it has no elements.
struct Extent {
  std::int64_t first, last;
};
Extent extent_of(const Tensor& tensor);

class MemoryPool;

// The same in bytes: the first and one past the last that the tensor reaches, gaps included.
struct Bytes {
  std::byte *first, *last;
};
Bytes bytes_of(const Tensor& tensor);
// Whether these bytes have some in common.
bool overlap(const Tensor& a, const Tensor& b);

// Memory aligned to 64 bytes, not initialised: new, or of the pool, for the stream. Error when the size is
// absurd, OutOfMemory when it is not to be had.
Tensor allocate(ops::DType dtype, std::vector<std::int64_t> sizes);
Tensor allocate(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                MemoryPool* pool = nullptr, Stream stream = nullptr);

// The caller's memory, row-major or with strides.
Tensor view_of(void* data, ops::DType dtype, std::vector<std::int64_t> sizes);
Tensor view_of(void* data, ops::DType dtype, std::vector<std::int64_t> sizes,
               std::vector<std::int64_t> strides);

// The same elements, row-major and without gaps, in new memory.
Tensor contiguous(const Tensor& tensor);

// The same tensor with the same strides in new memory of a GPU, and back in memory of this process.
Tensor uploaded(const Tensor& tensor, const Space& space);
Tensor downloaded(const Tensor& tensor, const Space& space);

}  // namespace twinloom::runtime
