// How a nest is walked: a plain value that prints, parses and compares.
//   choose       is heuristics: from the nest, the machine and nothing else.
//   why_illegal  is law: says in words why a schedule may not be applied.
//   apply        is mechanics: the same loops, split and bound; totals reached in the canonical order.
// The three share no decision: apply obeys any schedule that why_illegal lets pass, and every program
// that comes out gives the same bits.
//
// Siblings are numbered as they stand in loops::Nest, from 0; -1 means the common loops. An axis k cut
// by factors {1024, 256, 16} has the pieces k.0 (steps of 1024), k.1 (of 256), k.2 (of 16) and k.3 (of
// 1), where k = 1024*k.0 + 256*k.1 + 16*k.2 + k.3; an axis that is not cut has the one piece k.0.
//
//   schedule
//     fuse i, j as r
//     split -1 r : 4096, 8 remainder
//     split 1 k1 : 1024, 256, 64 remainder short 8, 64
//     split 0 k : 1024, 256, 16 mask
//     loop -1 r.0 block
//     loop 0 k.0 serial
//     stage x inside r.0 registers pad 0
//     values 1 registers
//     panel
//     transposed_rows
//     outermost_fastest
//     prefetch x in 1 ahead 1
//     stream y
//     grid k units 64 threads 8
//     columns lanes 8 scratch width 32 units 8
//     split_scan k chunks 8 carries 128
//
// Which orders of pieces realise the canonical tree of a reduced axis: the pieces of at least UNIT steps
// are outermost, falling; of the pieces below UNIT, those of at least LANES steps walk each lane's chain,
// falling; the others are lanes, and those outside the chain are lower than those inside it. On AVX2:
//     split 0 k : 1024, 256, 32, 8 remainder
//     loop 0 k.0 serial     units
//     loop 0 k.3 unroll     lanes 8 apart
//     loop 0 k.4 vector     lanes 1 apart
//     loop 0 k.1 serial     the chain
//     loop 0 k.2 unroll     lanes 32 apart
// Pieces of steps of UNIT may also be walked side by side by threads, so many neighbours at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loops/size_class.h"
#include "core/machine/machine.h"
#include "core/steps/steps.h"

namespace twinloom::schedule {

// Of a remainder, the masked iteration is that of the largest piece for an axis reduced in the canonical
// order, else of the last piece (by step) outside every unroll and vector piece of the axis. A clip has no
// piece that is unroll or vector.
using steps::Tail;

struct SplitPlan {
  int sibling;
  std::string axis;
  std::vector<std::int64_t>
      factors;  // steps of all pieces but the last, falling, each a multiple of the next
  Tail tail;
  // Of a remainder in the canonical order: a last unit of at most so many elements is walked by as many
  // lanes, each with one or none, in place of a masked unit. Rising powers of two.
  std::vector<std::int64_t> shorts = {};
  friend bool operator==(const SplitPlan&, const SplitPlan&) = default;
};

struct LoopPlan {  // one loop of the result; the list is in final order, outermost first
  int sibling;
  std::string piece;
  loops::Bind bind;
  friend bool operator==(const LoopPlan&, const LoopPlan&) = default;
};

// A vector loop of the common axes encloses the row's own statements and all siblings: each member of
// the register walks a turn of its own. A vector loop of a sibling is inside that sibling.

// An input row that is kept at hand: one that several siblings load at the same places of each turn, filled
// by the first of them, or, inside TASK, one that is the same in all turns of a task, filled before them. In
// a nest without siblings whose vector walks another axis than the neighbours of the input do: a tile of it,
// turned over so that vectors find neighbours, for all turns of the serial loop around the vector.
// Where blocks have threads a row of several siblings is kept in registers, by each thread its elements, or
// in scratch; they walk it by the same threads. In scratch inside TASK, without siblings: the tile of a
// block.
constexpr const char* TASK = "task";
struct TempPlan {
  std::string buffer;
  loops::Place place;    // registers or scratch
  std::string inside;    // the piece whose every turn fills it again, or TASK; of a tile, that serial piece
  int pad;               // elements after each row of a block's tile
  bool widened = false;  // 16-bit floats in scratch: kept as the f32 that is computed with, as registers do
  friend bool operator==(const TempPlan&, const TempPlan&) = default;
};

// What is fetched while a sibling walks its row: of an input, what a later turn of the innermost common loop
// reads of it, or, where the sibling's loop looks up its places in a list, what a later element of the list
// asks for; of what a later sibling writes, the places that it will write in this iteration. Where the
// threads of a block walk the row, all of it at once, before they do.
struct PrefetchPlan {
  std::string buffer;
  int sibling;
  std::int64_t ahead = 1;  // iterations of that loop, or elements of the list
  friend bool operator==(const PrefetchPlan&, const PrefetchPlan&) = default;
};

struct GridSplit {           // a reduction without enough turns, cut into parts that different blocks hold
  std::string axis;          // of the reducing sibling, of the fused nest
  std::int64_t units;        // canonical units a part, a power of two
  std::int64_t threads = 1;  // that gather the parts of one total, a power of two; 1: one after the other
  friend bool operator==(const GridSplit&, const GridSplit&) = default;
};

// Of a nest with totals of columns: the rows of a unit are cut into parts, each a node of the canonical tree,
// that blocks walk row after row; a second program combines the parts. See columns.cpp.
struct ColumnsPlan {
  std::int64_t lanes;  // of a unit of rows that a block walks, 4 rows each; a power of two
  loops::Place place =
      loops::Place::registers;  // of totals that wait for the block's other lanes; or scratch
  std::int64_t width = 1;  // threads of a block of the second program, each with a column; a power of two
  std::int64_t units = 1;  // units of rows that as many times these threads take side by side; a power of two
  friend bool operator==(const ColumnsPlan&, const ColumnsPlan&) = default;
};

// A scan without enough rows, cut into parts: one program has the totals of their chunks, a second one the
// carries, a third one the results. See split_scan.cpp.
struct ScanSplit {
  std::string axis;          // of the only sibling, of the fused nest
  std::int64_t chunks;       // of the canonical order, a part that one block walks
  std::int64_t carries = 1;  // totals that the second program loads together, a power of two
  friend bool operator==(const ScanSplit&, const ScanSplit&) = default;
};

struct Schedule {
  // What is done to the nest first: axes that are fused. Or all there is, where no loops are listed.
  std::vector<steps::Step> steps;
  bool panel = false;   // the serial loop around a vector of rows is walked inside the sibling's: panel.cpp
  bool transposed_rows = false;  // rows side by side in a vector are read and written by transposed squares
  // Neighbouring threads walk neighbouring rows, and those far apart one row, not the other way round.
  bool outermost_fastest = false;
  int kept_values = 0;  // that a later sibling would compute again, the dearest first; each an array of a row
  loops::Place kept_place = loops::Place::registers;  // of those arrays; scratch where blocks have threads
  std::optional<GridSplit> grid;
  std::optional<ColumnsPlan> columns;
  std::optional<ScanSplit> scan_split;
  std::vector<SplitPlan> splits;
  std::vector<LoopPlan> loops;
  std::vector<TempPlan> temps;
  std::vector<PrefetchPlan> prefetches;
  std::vector<std::string> streams;  // buffers whose stores go past the caches
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

Schedule choose(const loops::Program& nest, const machine::Machine& machine);
// What it takes then by its estimate; infinite where nothing fits it, a nest of several parts.
double chosen_seconds(const loops::Program& nest, const machine::Machine& machine);
// The same for the nests of one machine, each found once: fusion asks what nests take that are scheduled
// afterwards. Not for several threads at once.
class Choices {
 public:
  explicit Choices(const machine::Machine& machine);  // which must outlive it
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
  ~Choices();

  const machine::Machine& machine() const { return machine_; }
  Schedule choose(const loops::Program& nest);
  // What apply() gives, without applying again what was chosen.
  std::vector<loops::Program> apply(const loops::Program& nest, const Schedule& schedule) const;
  double chosen_seconds(const loops::Program& nest);
  // As the heuristics usually schedule it: choose() finds nothing slower, in many times as long.
  double usual_seconds(const loops::Program& nest);

 private:
  struct Known;
  Known& known(const loops::Program& nest);
  Known& chosen(const loops::Program& nest);

  const machine::Machine& machine_;
  std::map<loops::Ref<loops::Stmt>, Known> known_;  // by body
};
// The nest with all its sums in any order where that takes no longer by the estimates, else as it is: for
// modes that allow it.
loops::Program choose_orders(const loops::Program& nest, Choices& choices);
// The nest with loops over rows that begin between words of memory cut where memory is aligned, where blocks
// have threads and the estimate finds that faster.
loops::Program choose_aligned(const loops::Program& nest, Choices& choices);
// What of its sizes the choice depends on: a nest that is narrowed to the answers has a schedule of its own.
std::vector<loops::SizeQuestion> size_questions(const loops::Program& nest, const machine::Machine& machine);
// Up to `most` other legal schedules, of every sort that the heuristics know, for measurements: the same for one
// seed.
std::vector<Schedule> candidates(const loops::Program& nest, const machine::Machine& machine, int most,
                                 std::uint64_t seed);
// Of estimates of schedules in seconds, which ones are worth a measurement: the first, and the `count` least
// of the others, least first.
std::vector<std::size_t> shortlist(const std::vector<double>& seconds, int count);
std::optional<std::string> why_illegal(const loops::Program& nest, const Schedule& schedule);
// Why the machine, or the compiler for it, is not given a legal schedule.
std::optional<std::string> why_unfit(const loops::Program& nest, const Schedule& schedule,
                                     const machine::Machine& machine);

// In launch order. Buffers that the programs share but the nest does not know (partial totals, carries) are
// arguments named "partial.."; they come after the nest's own, in the same order in each program, and
// belong to the memory plan. Bug when why_illegal gives a reason.
std::vector<loops::Program> apply(const loops::Program& nest, const Schedule& schedule);

std::string print(const Schedule& schedule);
Schedule parse(std::string_view text);
Schedule parse(Scanner& scanner);  // to its end

}  // namespace twinloom::schedule
