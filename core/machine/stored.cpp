// See stored.h.
#include "core/machine/stored.h"

namespace twinloom::machine {

// One worker is a block of 256 threads, of which eight share a multiprocessor.
Machine h200() {
  constexpr int MULTIPROCESSORS = 132, BLOCKS_EACH = 8;
  Machine machine;
  machine.name = "h200";
  machine.vector_bytes = 16;
  machine.vector_registers = 64;
  machine.masked_memory = false;
  machine.max_threads = 1024;
  machine.warp_threads = 32;
  machine.scratch_bytes = 227 << 10;
  machine.blocks_at_once = MULTIPROCESSORS * BLOCKS_EACH;
  machine.memory = {{"L1", (256 << 10) / BLOCKS_EACH, 33e12 / machine.blocks_at_once},
                    {"L2", (std::int64_t{50} << 20) / machine.blocks_at_once, 5.5e12 / machine.blocks_at_once},
                    {"memory", 0, 4.297e12 / machine.blocks_at_once}};
  machine.f32_operations_per_second = 67e12;
  machine.launch_seconds = 3e-6;
  machine.worth_a_thread_seconds = 0;
  return machine;
}

}  // namespace twinloom::machine
