// Where the tensors of a back end's kernels lie, when that is not the memory of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace twinloom::runtime {

constexpr int HOST = -1;  // Tensor::device of memory of this process

// Memory and how it is given back.
using Block = std::unique_ptr<std::byte, std::function<void(void*)>>;

// One GPU's memory. It lives until the process ends, so memory may be given back at any time. Thread-safe.
class Space {
 public:
  virtual ~Space() = default;
  virtual int device() const = 0;  // Tensor::device of what lies here
  // At least so many bytes, not initialised, aligned to 256; null where there are not so many.
  virtual Block allocate(std::int64_t bytes) const = 0;
  // From memory of this process and back; kernels that were started before are done by then.
  virtual void upload(void* to, const void* from, std::int64_t bytes) const = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) const = 0;
  // Until all kernels that were started are done. Error where one of them failed.
  virtual void wait() const = 0;
};

}  // namespace twinloom::runtime
