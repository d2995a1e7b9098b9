// Streams beside that of a run, on which parts of one kernel go side by side.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <vector>

namespace twinloom::cuda {

class Gpu;

// From its construction to its end `count` streams, the given one among them: the others wait for what has
// been put on it before, and it waits for them at the end. While it is being captured all are the given one,
// as other runs cannot use a stream that is part of a capture. The GPU's context is current.
class Fork {
 public:
  Fork(const Gpu& gpu, CUstream stream, std::size_t count);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;
  CUstream operator[](std::size_t number) const { return number == 0 ? stream_ : side_[number - 1]; }

 private:
  CUstream new_stream() const;
  const Gpu& gpu_;
  CUstream stream_;
  std::vector<CUstream> side_;
};

}  // namespace twinloom::cuda
