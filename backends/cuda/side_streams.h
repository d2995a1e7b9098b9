// Streams beside that of a run, on which parts of one kernel go side by side.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <mutex>
#include <vector>

namespace twinloom::cuda {

class Gpu;

// Streams that nobody uses, kept for the next user: one is dear to make. Thread-safe.
class SideStreams {
 public:
  explicit SideStreams(const Gpu& gpu) : gpu_(gpu) {}
  CUstream take();
  void give_back(CUstream stream);

 private:
  const Gpu& gpu_;
  std::mutex mutex_;
  std::vector<CUstream> free_;
};

// So many streams, the given one among them: what that was told before comes before what they are told, and
// what it is told when the fork has ended comes behind. Where it is being captured all are this one, as a
// stream that a capture has is none for other runs. The GPU's context is current.
class Fork {
 public:
  Fork(const Gpu& gpu, CUstream stream, std::size_t count);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;
  CUstream operator[](std::size_t number) const { return number == 0 ? stream_ : side_[number - 1]; }

 private:
  void order(CUstream first, CUstream then) const;
  const Gpu& gpu_;
  CUstream stream_;
  std::vector<CUstream> side_;
};

}  // namespace twinloom::cuda
