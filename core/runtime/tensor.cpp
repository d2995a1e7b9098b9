// See tensor.h.
#include "core/runtime/tensor.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::runtime {

namespace {

std::string words(std::span<const std::int64_t> sizes) {
  return cat("[", join(sizes, ", ", [](std::int64_t size) { return cat(size); }), "]");
}

// Bytes of a buffer of so many elements; Error where it does not fit 63 bits.
std::int64_t checked_bytes(std::int64_t count, ops::DType dtype, std::span<const std::int64_t> sizes) {
  const auto bytes = checked_multiply(count, ops::size_of(dtype));
  if (!bytes)
    throw Error(cat("a tensor of ", ops::name(dtype), words(sizes), " has more bytes than 64 bits count"));
  return *bytes;
}

void copy_elements(const Tensor& from, std::size_t dimension, const char* source, char*& target) {
  const auto bytes = static_cast<std::size_t>(ops::size_of(from.dtype));
  if (dimension == from.sizes.size()) {
    std::memcpy(target, source, bytes);
    target += bytes;
    return;
  }
  const std::int64_t step = from.strides[dimension] * static_cast<std::int64_t>(bytes);
  if (dimension + 1 == from.sizes.size() && from.strides[dimension] == 1) {
    const std::size_t run = bytes * static_cast<std::size_t>(from.sizes[dimension]);
    if (run != 0) std::memcpy(target, source, run);
    target += run;
    return;
  }
  for (std::int64_t i = 0; i < from.sizes[dimension]; ++i)
    copy_elements(from, dimension + 1, source + i * step, target);
}

}  // namespace

std::vector<std::int64_t> contiguous_strides(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    const auto next = checked_multiply(stride, sizes[i] > 0 ? sizes[i] : 1);
    if (!next) throw Error(cat("a tensor of sizes ", words(sizes), " has more elements than 64 bits count"));
    stride = *next;
  }
  return strides;
}

std::int64_t element_count(const Tensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.sizes) {
    const auto next = checked_multiply(count, size);
    if (!next)
      throw Error(cat("a tensor of sizes ", words(tensor.sizes), " has more elements than 64 bits count"));
    count = *next;
  }
  return count;
}

bool is_contiguous(const Tensor& tensor) {
  std::int64_t stride = 1;
  for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
    if (tensor.sizes[i] == 0) return true;
    if (tensor.sizes[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.sizes[i];
  }
  return true;
}

Extent extent_of(const Tensor& tensor) {
  Extent extent{0, 1};
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0) return {0, 0};
    const auto reach = checked_multiply(tensor.sizes[i] - 1, tensor.strides[i]);
    if (!reach)
      throw Error(cat("sizes ", words(tensor.sizes), " with strides ", words(tensor.strides),
                      " reach further than 64 bits count"));
    std::int64_t& end = *reach < 0 ? extent.first : extent.last;
    const auto next = checked_add(end, *reach);
    if (!next)
      throw Error(cat("sizes ", words(tensor.sizes), " with strides ", words(tensor.strides),
                      " reach further than 64 bits count"));
    end = *next;
  }
  return extent;
}

Bytes bytes_of(const Tensor& tensor) {
  const Extent extent = extent_of(tensor);
  auto* data = static_cast<std::byte*>(tensor.data);
  return {data + extent.first * ops::size_of(tensor.dtype), data + extent.last * ops::size_of(tensor.dtype)};
}

bool overlap(const Tensor& a, const Tensor& b) {
  const Bytes x = bytes_of(a);
  const Bytes y = bytes_of(b);
  return x.first < y.last && y.first < x.last;
}

Tensor allocate(ops::DType dtype, std::vector<std::int64_t> sizes) {
  std::vector<std::int64_t> strides = contiguous_strides(sizes);
  return allocate(dtype, std::move(sizes), std::move(strides));
}

Tensor allocate(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                MemoryPool* pool, Stream stream) {
  Tensor tensor = view_of(nullptr, dtype, std::move(sizes), std::move(strides));
  const Extent extent = extent_of(tensor);
  const bool far = extent.first < -std::numeric_limits<std::int64_t>::max();
  const auto span = far ? std::nullopt : checked_add(extent.last, -extent.first);
  if (!span)
    throw Error(cat("a tensor of sizes ", words(tensor.sizes), " reaches further than 64 bits count"));
  const std::int64_t bytes = checked_bytes(*span, dtype, tensor.sizes);
  const bool is_host = pool == nullptr || pool->space() == nullptr;
  const std::shared_ptr<std::byte> memory =
      pool != nullptr && bytes > 0 ? pool->take(bytes, stream) : std::shared_ptr<std::byte>(new_block(bytes));
  if (memory == nullptr)
    throw out_of_memory(is_host ? nullptr : pool->space(),
                        cat("a tensor of ", ops::name(dtype), words(tensor.sizes)), bytes);
  tensor.data = memory.get() - extent.first * ops::size_of(dtype);
  tensor.owner = memory;
  if (!is_host) tensor.device = pool->space()->device();
  return tensor;
}

Tensor view_of(void* data, ops::DType dtype, std::vector<std::int64_t> sizes) {
  std::vector<std::int64_t> strides = contiguous_strides(sizes);
  return view_of(data, dtype, std::move(sizes), std::move(strides));
}

Tensor view_of(void* data, ops::DType dtype, std::vector<std::int64_t> sizes,
               std::vector<std::int64_t> strides) {
  if (sizes.size() != strides.size()) {
    throw Error(cat("a tensor has ", sizes.size(), " sizes but ", strides.size(), " strides"));
  }
  for (const std::int64_t size : sizes) {
    if (size < 0) throw Error(cat("a tensor has a negative size: ", words(sizes)));
  }
  return Tensor{data, dtype, std::move(sizes), std::move(strides), nullptr, HOST};
}

Tensor contiguous(const Tensor& tensor) {
  Tensor result = allocate(tensor.dtype, tensor.sizes);
  auto* target = static_cast<char*>(result.data);
  if (element_count(tensor) != 0) copy_elements(tensor, 0, static_cast<const char*>(tensor.data), target);
  return result;
}

Tensor uploaded(const Tensor& tensor, const Space& space) {
  CHECK(tensor.device == HOST, "an upload from device ", tensor.device);
  Tensor result = allocate(tensor.dtype, tensor.sizes, tensor.strides, space.memory().get());
  const Bytes from = bytes_of(tensor);
  if (from.first != from.last) space.upload(bytes_of(result).first, from.first, from.last - from.first);
  return result;
}

Tensor downloaded(const Tensor& tensor, const Space& space) {
  CHECK(tensor.device == space.device(), "a download of device ", tensor.device, " from ", space.device());
  Tensor result = allocate(tensor.dtype, tensor.sizes, tensor.strides);
  const Bytes from = bytes_of(tensor);
  if (from.first != from.last) space.download(bytes_of(result).first, from.first, from.last - from.first);
  return result;
}

}  // namespace twinloom::runtime
