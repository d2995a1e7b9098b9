// The front end of NVRTC for the CUDA texts of many graphs, several in one call: of a call for each of them
// two thirds would go to NVRTC's start and the device headers. A text that was seen before is not looked at
// again.
#pragma once

#ifdef TWINLOOM_HAS_CUDA
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "backends/cuda/translate.h"

namespace twinloom::tests {

// Thread-safe.
class FrontEnd {
 public:
  FrontEnd();
  // Emits the program, whose text then waits.
  void add(const loops::Program& program);
  // Where so many wait: Bug, with its program, where NVRTC refuses one of them, perhaps of an earlier
  // graph; none waits afterwards. Does nothing where NVRTC is not installed.
  void check(std::size_t least);

 private:
  std::optional<cuda::Translator> translator_;
  std::mutex mutex_;
  std::unordered_set<std::size_t> seen_;  // hashes of texts
  std::vector<std::string> waiting_;
};

}  // namespace twinloom::tests
#endif
