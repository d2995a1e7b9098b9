// See staging.h.
#include "backends/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/gpu.h"

namespace twinloom::cuda {

namespace {

constexpr std::int64_t CHUNK_BYTES = std::int64_t{8} << 20;
// The driver stages so few by itself.
constexpr std::int64_t DIRECT_BYTES = 64 << 10;

std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

std::int64_t bytes_at(std::int64_t begin, std::int64_t bytes) { return std::min(CHUNK_BYTES, bytes - begin); }

}  // namespace

// Memory that the driver does not know is of no type; to be asked for several attributes is no failure then.
bool Staging::is_direct(const void* host, std::int64_t bytes) const {
  if (bytes <= DIRECT_BYTES) return true;
  CUmemorytype type{};
  CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void* answer = &type;
  const CUresult result =
      gpu_.driver().cuPointerGetAttributes(1, &which, &answer, reinterpret_cast<CUdeviceptr>(host));
  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST;
}

void Staging::prepare() {
  for (Chunk& chunk : chunks_) {
    if (chunk.memory != nullptr) continue;
    void* memory = nullptr;
    chunk.copied = gpu_.events().take();
    gpu_.check(gpu_.driver().cuMemHostAlloc(&memory, size_of(CHUNK_BYTES), CU_MEMHOSTALLOC_PORTABLE),
               "memory for copies");
    chunk.memory = static_cast<std::byte*>(memory);
  }
}

void Staging::record(const Chunk& chunk, CUstream stream) {
  gpu_.check(gpu_.driver().cuEventRecord(chunk.copied, stream), "a copy");
}
// An event that was never recorded is over.
void Staging::wait(const Chunk& chunk) {
  gpu_.check(gpu_.driver().cuEventSynchronize(chunk.copied), "a copy");
}

void Staging::upload(CUdeviceptr to, const std::byte* from, std::int64_t bytes, CUstream stream) {
  const auto copy = gpu_.driver().cuMemcpyHtoDAsync;
  if (is_direct(from, bytes)) {
    gpu_.check(copy(to, from, size_of(bytes), stream), "a copy to the memory");
    return gpu_.wait(stream);
  }
  const std::lock_guard lock(mutex_);
  prepare();
  std::size_t turn = 0;
  for (std::int64_t begin = 0; begin < bytes; begin += CHUNK_BYTES, turn = 1 - turn) {
    const std::size_t count = size_of(bytes_at(begin, bytes));
    wait(chunks_[turn]);
    std::memcpy(chunks_[turn].memory, from + begin, count);
    gpu_.check(copy(to + size_of(begin), chunks_[turn].memory, count, stream), "a copy to the memory");
    record(chunks_[turn], stream);
  }
  gpu_.wait(stream);
}

void Staging::download(std::byte* to, CUdeviceptr from, std::int64_t bytes, CUstream stream) {
  const auto copy = gpu_.driver().cuMemcpyDtoHAsync;
  if (is_direct(to, bytes)) {
    gpu_.check(copy(to, from, size_of(bytes), stream), "a copy from the memory");
    return gpu_.wait(stream);
  }
  const std::lock_guard lock(mutex_);
  prepare();
  const auto start = [&](std::size_t turn, std::int64_t begin) {
    if (begin >= bytes) return;
    gpu_.check(copy(chunks_[turn].memory, from + size_of(begin), size_of(bytes_at(begin, bytes)), stream),
               "a copy from the memory");
    record(chunks_[turn], stream);
  };
  start(0, 0);
  std::size_t turn = 0;
  for (std::int64_t begin = 0; begin < bytes; begin += CHUNK_BYTES, turn = 1 - turn) {
    start(1 - turn, begin + CHUNK_BYTES);
    wait(chunks_[turn]);
    std::memcpy(to + begin, chunks_[turn].memory, size_of(bytes_at(begin, bytes)));
  }
}

}  // namespace twinloom::cuda
