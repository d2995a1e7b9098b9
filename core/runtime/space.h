// Where the tensors of a back end's kernels lie, when that is not the memory of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/runtime/work.h"

namespace twinloom::runtime {

constexpr int HOST = -1;  // Tensor::device of memory of this process

// Memory and how it is given back.
using Block = std::unique_ptr<std::byte, std::function<void(void*)>>;

// Memory that a caller hands out: at least so many bytes (never 0), aligned to 64, on a GPU to 256, to be
// used in the order of the stream; null where there are not so many. It goes back with its last owner, which
// may be a result of the run.
using Allocate = std::function<std::shared_ptr<std::byte>(std::int64_t bytes, Stream stream)>;

class MemoryPool;

// One GPU's memory. It lives until the process ends, so memory may be given back at any time. Thread-safe.
class Space {
 public:
  Space();
  virtual ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  // What all that runs here takes memory from.
  const std::shared_ptr<MemoryPool>& memory() const { return memory_; }

  virtual int device() const = 0;  // Tensor::device of what lies here
  // At least so many bytes, not initialised, aligned to 256, to be used in the order of the stream; null
  // where there are not so many. Given back, they wait for what the stream has to do.
  virtual Block allocate(std::int64_t bytes, Stream stream) const = 0;
  // Gives the system what blocks that were given back have left here.
  virtual void trim() const = 0;
  virtual std::int64_t free_bytes() const = 0;  // that the system has
  // What is started on `then` from here on waits for what is on `first` so far.
  virtual void order(Stream first, Stream then) const = 0;
  // From memory of this process and back; it is done then, and so is what was on the GPU's own stream.
  virtual void upload(void* to, const void* from, std::int64_t bytes) const = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) const = 0;
  // Until all that was started on the GPU's own stream is done. Error where it has failed.
  virtual void wait() const = 0;

  // Kernels of a run that is about to start on the stream.
  virtual std::unique_ptr<Work> begin(Stream stream) const = 0;
  // The place that the stream has come to.
  virtual std::unique_ptr<Event> record(Stream stream) const = 0;
  // From one place to the other, by the GPU's clock; waits for the later one, `to`.
  virtual double seconds(const Event& from, const Event& to) const = 0;
  // Within the GPU, in the order of the stream; does not wait.
  virtual void copy(void* to, const void* from, std::int64_t bytes, Stream stream) const = 0;
  virtual void clear(void* to, std::int64_t bytes, Stream stream) const = 0;  // to zeros

 private:
  std::shared_ptr<MemoryPool> memory_;
};

}  // namespace twinloom::runtime
