// Calls an exported function of a GPU as its user does: on a stream, with pointers that are no multiples of
// 16 bytes, and with an index that is none.
#include <stdexcept>

#include "lookup.h"
#include "lookup_cases.h"

namespace {

// Elements on the GPU, the first `skipped` of an allocation left out.
template <class Of>
Of* copied(const std::vector<Of>& elements, std::size_t skipped) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, (elements.size() + skipped) * sizeof(Of)) != cudaSuccess) return nullptr;
  Of* const first = static_cast<Of*>(memory) + skipped;
  cudaMemcpy(first, elements.data(), elements.size() * sizeof(Of), cudaMemcpyHostToDevice);
  return first;
}

std::string thrown(const std::vector<std::int64_t>& places, std::size_t skipped) {
  return thrown_by(places.size(), [&](std::vector<float>& total) {
    const float* const table = copied(std::vector<float>(40, 0.5f), skipped);
    const std::int64_t* const at = copied(places, skipped);
    float* const result = copied(total, skipped);
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    lookup(table, at, std::int64_t(places.size()), result, stream);
    cudaMemcpyAsync(total.data(), result, places.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
    if (cudaStreamSynchronize(stream) != cudaSuccess) throw std::runtime_error("CUDA failed");
  });
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  bool ok = true;
  for (const std::size_t skipped : {0u, 1u}) {
    ok &= is(thrown({0, 9, -1}, skipped), "nothing");
    ok &= is(thrown({3, 10}, skipped), "'rows': index 10 is out of range; expected 0 <= index < 10");
  }
  ok &= is(thrown({}, 0), "lookup: the size s0 is 0; expected at least 1");
  return ok ? 0 : 1;
}
