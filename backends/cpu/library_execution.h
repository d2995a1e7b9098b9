// Inside of the component: what a primitive is run with, made once and used by one run at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/onednn.h"

namespace twinloom::cpu {

// A stream, and the memories of a primitive's arguments, which each run gives their addresses: to make them
// takes 1.1 us of a call that takes 8 (an EPYC, 2026-11-28).
class Execution {
 public:
  // The primitive outlives it.
  explicit Execution(const onednn::Primitive& primitive);
  // The next argument: its number, and how it lies.
  void add(int number, onednn::Handle description);
  // Where the how-manieth argument lies.
  void set(std::size_t argument, void* address);
  // With a scratchpad of this run.
  void run();

 private:
  const onednn::Primitive& primitive_;
  onednn::Owned stream_, scratchpad_;  // null where the primitive needs none
  std::vector<onednn::Owned> memories_;
  std::vector<onednn::Argument> arguments_;
};

// Those that no run uses. Thread-safe.
class Executions {
 public:
  // Null where each is in use.
  std::unique_ptr<Execution> take();
  void give_back(std::unique_ptr<Execution> execution);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Execution>> idle_;
};

}  // namespace twinloom::cpu
