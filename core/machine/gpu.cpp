// See gpu.h.
#include "core/machine/gpu.h"

namespace twinloom::machine {

// One worker is a block of 256 threads. The bandwidths are in the proportions to the memory's own that were
// measured on Hopper, where a copy reaches 4.3 of 4.8 TB/s: that of the memory and its latency are those with
// which estimates were nearest to 358 measured kernels (perf/results/2026-11-30-h200-estimates.md).
Machine gpu(const GpuFacts& facts) {
  constexpr int REGISTERS = 65536, ISSUE = 4, SECTOR_BYTES = 32;
  const int blocks_each = facts.threads_each / BLOCK_THREADS;
  Machine machine;
  machine.name = facts.name;
  machine.model = facts.model;
  machine.vector_bytes = 16;
  machine.vector_registers = 64;
  machine.masked_memory = false;
  machine.max_threads = facts.block_threads;
  machine.cluster_blocks = facts.cluster_blocks;
  machine.warp_threads = facts.warp_threads;
  machine.scratch_bytes = facts.block_scratch_bytes;
  machine.multiprocessors = facts.multiprocessors;
  machine.blocks_at_once = facts.multiprocessors * blocks_each;
  const double bandwidth = facts.memory_bytes_per_second / machine.blocks_at_once;
  machine.memory = {{"L1", facts.scratch_bytes_each / blocks_each, 7 * bandwidth, 18e-9},
                    {"L2", facts.l2_bytes / machine.blocks_at_once, 1.45 * bandwidth, 140e-9},
                    {"memory", 0, 0.945 * bandwidth, 360e-9}};
  machine.threads_each = facts.threads_each;
  machine.registers_each = REGISTERS;
  machine.clock_hertz = facts.clock_hertz;
  machine.issue_each = ISSUE;
  machine.sector_bytes = SECTOR_BYTES;
  machine.launch_seconds = 3e-6;
  machine.worth_a_thread_seconds = 0;
  return machine;
}

Machine h200() {
  return gpu({.name = "h200",
              .model = "NVIDIA H200",
              .multiprocessors = 132,
              .threads_each = 2048,
              .block_threads = 1024,
              .cluster_blocks = 8,
              .warp_threads = 32,
              .block_scratch_bytes = 227 << 10,
              .scratch_bytes_each = 228 << 10,
              .l2_bytes = std::int64_t{50} << 20,
              .memory_bytes_per_second = 4.8e12,
              .clock_hertz = 1.98e9});
}

}  // namespace twinloom::machine
