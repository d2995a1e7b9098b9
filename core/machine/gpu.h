// GPUs as machines: the one at hand, from what its driver says, and one that was measured, for programs that
// are made where none is.
#pragma once

#include <cstdint>
#include <string>

#include "core/machine/machine.h"

namespace twinloom::machine {

// The attributes of a CUDA device that decide what is made for it.
struct GpuFacts {
  std::string name, model;
  int multiprocessors = 0;
  int threads_each = 0;   // at once on a multiprocessor
  int block_threads = 0;  // at most
  int cluster_blocks = 1;  // see Machine
  int warp_threads = 0;
  std::int64_t block_scratch_bytes = 0;  // shared memory that one block may ask for
  std::int64_t scratch_bytes_each = 0;   // of a multiprocessor
  std::int64_t l2_bytes = 0;
  double memory_bytes_per_second = 0;  // of its clock and width
  double clock_hertz = 0;
};

Machine gpu(const GpuFacts& facts);

// An NVIDIA H200 (Hopper).
Machine h200();

}  // namespace twinloom::machine
