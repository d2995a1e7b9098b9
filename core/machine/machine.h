// Machine: all that may be known of hardware. Back ends make one; cost, fusion and schedules read it.
// Sizes in bytes, bandwidths in bytes a second, rates in operations a second. Some facts the system tells,
// others only measurements do: see calibration.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twinloom::machine {

struct MemoryLevel {
  std::string name;               // "L1", "L2", "L3", "memory"
  std::int64_t bytes = 0;         // that one worker may call its own; 0: unlimited
  double bytes_per_second = 0;    // of one worker that copies: what it reads and what it writes
  double latency_seconds = 0;     // of a load that finds its element there; 0 where it does not count
  double read_per_second = 0;     // of one worker that only reads; 0: as one that copies
  double written_per_second = 0;  // of one worker that only writes; 0: as one that copies
  double workers = 0;             // that together reach its whole bandwidth; 0: all that there are
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

// Elements between lanes of a core's register, at most, that are loaded as whole registers and picked out of
// them: as many loads and shuffles as that, in place of a load and an insertion for each lane.
constexpr int MOST_APART = 4;
constexpr std::int64_t MOST_BLOCK_THREADS = 1024;  // of one block, on any machine
constexpr int BLOCK_THREADS = 256;  // of the blocks of a GPU that `blocks_at_once` counts

struct Machine {
  std::string name;                      // "cpu-avx2", "cpu-avx512", "h200"
  std::string model;                     // what its maker calls it: "Intel(R) Xeon(R) Processor"
  int vector_bytes = 32;                 // one register, or one wide load of a thread
  int vector_registers = 16;             // that a loop body may keep alive
  bool masked_memory = true;             // masked loads and stores cost about as much as plain ones
  int max_threads = 1;                   // of a block; 1 where threads cannot share scratch
  int cluster_blocks = 1;                // whose threads may share a row, through each other's scratch
  int warp_threads = 1;                  // that exchange registers directly
  std::int64_t scratch_bytes = 1 << 15;  // of a block
  int blocks_at_once = 1;                // cores, or blocks in flight
  int multiprocessors = 1;               // that have so much scratch each
  int threads_each = 1;                  // at once on a multiprocessor
  int registers_each = 0;                // of 4 bytes, of a multiprocessor
  double clock_hertz = 1e9;
  double issue_each = 1;            // vector instructions a cycle of a core, or of warps of a multiprocessor
  int sector_bytes = 64;            // that memory is read in at least
  std::vector<MemoryLevel> memory;  // nearest first
  double streamed_per_second = 0;   // bytes that one worker stores past the caches; 0: as memory is written
  double launch_seconds = 0;
  double library_rate =
      0;  // operations of products that a library does a second on one worker; 0: there is none
  double narrow_products = 1;             // how many times as fast it is with factors of 16 bits
  double wake_seconds = 0;                // more than a launch, where the caller's workers take part
  double worth_a_thread_seconds = 15e-6;  // a kernel with less work stays on the calling thread
  friend bool operator==(const Machine&, const Machine&) = default;
};

// So many threads that walk a row together: one block's, or those of a cluster of a power of two of blocks.
// Few of each block, so that they have registers enough for what they keep of the row.
struct BlockShape {
  std::int64_t threads = 1, blocks = 1;  // of a block; of the cluster
};
constexpr BlockShape block_shape(std::int64_t threads) {
  constexpr std::int64_t EACH = 512, MOST_BLOCKS = 8;  // as many as every machine with clusters has
  if (threads <= MOST_BLOCK_THREADS) return {threads, 1};
  const std::int64_t blocks = threads / EACH < MOST_BLOCKS ? threads / EACH : MOST_BLOCKS;
  return {threads / blocks, blocks};
}

// Workers, of so many at most, that share the tasks of a kernel whose arguments span so many bytes: as if
// each byte were moved once from where memory is slowest, it must be worth a thread.
int workers_for(const Machine& machine, double bytes, double tasks, int most);

// What one worker may call its own of the level of this name; 0 where there is none.
std::int64_t level_bytes(const Machine& machine, std::string_view name);
// What the caches of all workers hold together; 0 where none is known.
std::int64_t cache_bytes(const Machine& machine);

// All facts, and back. Error where the text is not of that form, has a fact that cannot be or lacks one; but
// those that a caller decides may be left out.
std::string print(const Machine& machine);
Machine parse(std::string_view text);

}  // namespace twinloom::machine
