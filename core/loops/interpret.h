// The meaning of the loop form: walks a nest or a program statement by statement, slowly and obviously.
// Accumulate and Scan are collected with their places and combined by the canonical order written down
// in canonical.h; Merge, Combine, Push, Fold and Prefix are executed literally, so a wrong schedule
// shows as other bits. Shares no code with lowering, the simplifier, schedules or emitters.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::loops {

// A failed Index.
struct Failure {
  int node = -1;
  std::int64_t value = 0;  // as it was loaded
  std::int64_t bound = 0;
  std::int64_t offset =
      -1;  // of the element that was loaded, in its buffer; negative: computed, copied, or of no node
};

// The memory of an argument: `data` is element 0; elements first <= e < last may be touched.
struct Memory {
  void* data = nullptr;
  std::int64_t first = 0, last = 0;
};

struct Order {
  bool reversed_blocks = false;   // block loops from the last turn to the first
  bool reversed_threads = false;  // the same of thread loops
};

// Executes it. `arguments` are the buffers that are not local, in order; `sizes` are the values of
// Program::sizes. An access outside a Memory, a Read of nothing, a vector or unroll extent that is not
// constant: Bug. So are two threads that touch an element of an array that they share, or two blocks, one of
// them to write it, where nothing says which comes first. Returns the first failed Index. Local buffers are
// filled with a poison pattern.
std::optional<Failure> interpret(const Program& program, std::span<const Memory> arguments,
                                 std::span<const std::int64_t> sizes, const Order& order = {});

}  // namespace twinloom::loops
