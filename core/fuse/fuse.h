// Fewer kernels: puts units under common loops, forwards what one stores to the loads of the other, and
// drops stores that nobody else reads. Never changes bits: a fused nest computes every element by the
// same operations in the same canonical order.
//
//   for i { s[i] = sum_k x[i,k] }   +   for i { for k { y[i,k] = x[i,k] / s[i] } }
//     ->  for i { start t; for k { t += x[i,k] at k };  for k { y[i,k] = x[i,k] / t } }
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/lower/realize.h"
#include "core/lower/unit.h"

namespace twinloom::fuse {

// Why two units that touch the same buffer are two kernels.
enum class Reason : std::uint8_t {
  different_size,   // their loops cover different numbers of elements
  broadcast,        // the reader reads each element in several turns of the outer loops
  different_place,  // the reader's element of a turn is not the writer's: an offset, a flip, a gather
  loop_order,       // equal but for the order of loops that cannot be changed
  mixed_order,  // one has totals of rows, the other of the columns of the same elements, and one pass over
                // both does not pay or is not possible
  cycle,        // a third unit stands between the two
  too_large,    // the fused kernel would be over a limit
  parallelism,  // too few independent turns would be left
  barrier,      // the user, or a library's call, asks for the buffer
  library,      // one has a product that a library computes as it stands there, and no more within the other
  once,         // one follows from arrays of the graph alone, and no run computes it
  routine,      // one sorts or adds in memory, which is a kernel of its own
  no_gain,      // the shared bytes do not pay for it
};

struct Refusal {
  std::size_t first, second;  // units as numbered in the result
  lower::ValueId buffer;
  Reason reason;
  std::string words;
};

// What fusion may do: its heuristics, as numbers.
struct Limits {
  int values = 400;                     // operators that one kernel writes out (body.h)
  int live = 64;                        // named values that one kernel keeps at once
  int buffers = 48;                     // arguments of one kernel
  lower::Costs costs = {};              // of computing again, memory and launches
  std::int64_t small_elements = 16384;  // work that may run in one turn without hurting
  std::int64_t enough_turns = 64;       // independent turns that keep a machine busy
  std::int64_t turns_of_columns = 1;    // times as many where neighbours in memory are turns
  // Seconds that a kernel of the nest takes as usually scheduled. Where a fusion leaves fewer turns than
  // enough, the one kernel must not take longer than the two; null: then it may only be small.
  std::function<double(const loops::Program& nest)> seconds = {};
  // The same as it is scheduled, which takes many times as long to tell: asked where the others are near.
  // Null: they decide.
  std::function<double(const loops::Program& nest)> seconds_as_chosen = {};
  // The same where `seconds` are not near enough, asked alone of two that walk memory in different orders,
  // which one kernel would mix: the two must then take clearly less. Null: they are fused.
  std::function<double(const loops::Program& nest)> seconds_of_mixed = {};
  // Seconds that a kernel takes as it is scheduled, infinite where it cannot be: of two that may be parts of
  // one kernel, and of that one. Null: nothing becomes a part.
  std::function<double(const loops::Program& nest)> seconds_in_parts = {};
  // One of two parts is a contraction, whose work pays for handing arrays on; null: any may be parts.
  std::function<bool(const loops::Program& nest)> is_contraction = {};
  // Whether a library computes a part of the nest, which is then a kernel of its own: two are fused only
  // where that stays so. Null: there is no library.
  std::function<bool(const loops::Program& nest)> has_library_call = {};
  // What follows from arrays of the graph alone is made before the first run, so it is fused with nothing
  // that each run computes.
  bool made_once = false;
  // Bytes that flow between two from which on they become parts of one kernel although a library computes one
  // of them: what the caches do not hold. Of [2, 12, 512, 512] scores that took no longer on two cores (10 to
  // 13 ms beside 14), and a seventeenth of the memory.
  double large_flow = 0;
  // Share of the two kernels' seconds that the shorter one has at least where schedules are chosen to compare
  // computing again with reading.
  double worth_choosing = 0.05;
  double clearly_less = 1;  // that the two must take, times the one, where both are told in seconds
  // Bytes from which on what flows between two units brings them together before what both read: less passes
  // a cache while a kernel starts. A cast of a weight of 16 KB put a layer norm's rows and columns into three
  // kernels in place of two.
  double least_flow = 65536;
  // What reads at most one of so many elements of an elementwise value computes them again: that adds at most
  // such a part to the work, and a value that only one more reads needs no memory.
  double few_of = 16;
  std::size_t most_readers = 16;  // of a buffer: one that more units read brings no two of them together
  std::size_t most_places = 8;    // pairs of places in common that are tried
  std::int64_t typical_size = 128;      // what a size symbol is taken for where a number is needed
  bool one_pass = false;  // whether totals of a matrix's columns may be made in the pass over its rows
  // Elements of a matrix from which on caches do not hold it for a second pass.
  std::int64_t cached_elements = std::numeric_limits<std::int64_t>::max();
  // Of the seconds of two kernels that one pass in their place may take, by their estimates: of matrices that
  // caches hold, and of others, where the two take longer than estimated and one pass less. Of 35 backward
  // passes of norms, 512 to 32,768 rows of 256 to 4096, an H200 took one pass 0.91 of its estimate and the
  // two 0.95 of theirs (perf/results/2026-11-30-h200-training.md), a layer norm's training of [32768, 4096]
  // an H100 523 and 559 us, by the estimates 665 and 483; one whose stores lay apart took 680 us by an
  // estimate of 706, the two 305.
  double most_of_cached_pass = 1.05, most_of_one_pass = 1.5;
  std::int64_t most_columns = 4096;         // whose totals such a pass keeps
  std::int64_t most_ragged_columns = 1024;  // the same, where their number is no power of two
};

// How much was done, in numbers that depend on nothing but the graph.
struct Effort {
  std::int64_t scored = 0;    // pairs whose bytes were counted, with repetition
  std::int64_t attempts = 0;  // pairs that were tried
  std::int64_t visited = 0;   // units looked at for what stands between two
};

struct Fused {
  lower::Lowered lowered;
  std::vector<Refusal> refusals;
  Effort effort = {};
};
Fused fuse(const lower::Lowered& lowered, const Limits& limits = {});

}  // namespace twinloom::fuse
