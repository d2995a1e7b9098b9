// See machine.h.
#include "core/machine/machine.h"

#include <algorithm>

#include "core/base/text.h"

namespace twinloom::machine {

std::int64_t cache_bytes(const Machine& machine) {
  std::int64_t most = 0;
  for (const MemoryLevel& level : machine.memory) most = std::max(most, level.bytes * machine.blocks_at_once);
  return most;
}

std::string print(const Machine& machine) {
  Writer writer;
  writer.line("machine ", machine.name);
  const Indented indented(writer);
  writer.line("vector ", machine.vector_bytes, " bytes, ", machine.vector_registers, " registers",
              machine.masked_memory ? ", masked memory" : "");
  writer.line("block of ", machine.max_threads, " threads in warps of ", machine.warp_threads, ", scratch ",
              machine.scratch_bytes, " bytes");
  writer.line("blocks at once ", machine.blocks_at_once, ", launch ", machine.launch_seconds * 1e6, " us");
  for (const MemoryLevel& level : machine.memory) {
    writer.line(level.name, ": ", level.bytes, " bytes, ", level.bytes_per_second * 1e-9, " GB/s");
  }
  writer.line("f32 ", machine.f32_operations_per_second * 1e-9, " G operations/s");
  return writer.take();
}

}  // namespace twinloom::machine
