// The arrays that a graph holds, where the kernels find them: those of a GPU are uploaded once. And what
// follows from them alone.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/graph/graph.h"
#include "core/runtime/memory_pool.h"
#include "core/runtime/once.h"
#include "core/runtime/tensor.h"

namespace twinloom::runtime {

// Thread-safe.
class Constants {
 public:
  explicit Constants(const Space* space) : space_(space), once_(space) {}
  // A view that owns nothing: the memory lives as long as this, or, on the host, as long as the content.
  Tensor tensor(const graph::Content& content);
  OnceMade& once() { return once_; }

 private:
  const Space* space_;
  OnceMade once_;
  std::mutex mutex_;
  std::map<graph::Content, Tensor> uploaded_;  // by handle, which keeps the content alive
};

// What the tensors of a run are taken from, besides the caller.
struct Sources {
  MemoryPool& memory;
  Constants& constants;
  Stream stream = nullptr;  // that the run's memory is for
};

}  // namespace twinloom::runtime
