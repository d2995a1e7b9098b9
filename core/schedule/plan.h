// A schedule resolved against its nest: which piece walks what, in numbers instead of names. Made by
// resolve(), which is also where most of the law stands; read by apply. For the inside of this room.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/base/integers.h"
#include "core/loops/nest.h"
#include "core/schedule/schedule.h"

namespace twinloom::schedule {

constexpr std::int64_t WARP_THREADS = 32;    // that exchange registers without a Sync
constexpr std::int64_t MOST_THREADS = machine::MOST_BLOCK_THREADS;
constexpr std::int64_t MOST_WIDE = 1024;     // iterations of a loop that is a vector, threads or written out

// What threads take side by side.
constexpr bool is_side_by_side(std::int64_t count) { return is_power_of_two(count) && count <= MOST_THREADS; }

struct Piece {
  index::Symbol symbol;    // k.0
  std::int64_t step = 1;   // elements of the axis in one turn
  std::int64_t turns = 0;  // in one turn of the next larger piece; 0 for the largest, which has no larger
  loops::Bind bind = loops::Bind::serial;
  bool copied = false;  // totals have a copy for each turn, so a constant power of two of them
};

// Whether the turns are members of a register, threads, or written out: so many, whatever the size.
constexpr bool is_wide(loops::Bind bind) {
  return bind == loops::Bind::vector || bind == loops::Bind::thread || bind == loops::Bind::unroll;
}

struct AxisPlan {
  index::Symbol axis;
  index::Expr extent;
  std::optional<std::int64_t> most;  // of the extent for all sizes, as far as is known
  Tail tail = Tail::exact;
  std::vector<Piece> pieces;  // falling steps
  int cut = -1;               // Tail::remainder: the piece whose last turn is masked
  index::Expr base = 0;       // of the part of a split reduction or scan: the place where its turns start
  std::vector<std::int64_t> shorts = {};  // lengths of a last unit that has lanes of its own
  bool has(loops::Bind bind) const { return std::ranges::find(pieces, bind, &Piece::bind) != pieces.end(); }
};

struct Turn {  // one loop of a scope
  std::size_t axis = 0, piece = 0;
  friend bool operator==(const Turn&, const Turn&) = default;
};

// How the totals of a sibling are reached.
enum class Reach : std::uint8_t {
  none,       // it only stores
  any,        // totals whose bits do not depend on the order
  canonical,  // the tree of canonical.h
  scan,
};

// The common loops, or those of one sibling.
struct Scope {
  std::vector<AxisPlan> axes;
  std::vector<Turn> order;  // outermost first
  Reach reach = Reach::none;
  const Piece& piece(const Turn& turn) const { return axes[turn.axis].pieces[turn.piece]; }
};

// An input row that stays at hand: for the siblings after the first that loads it, or for all turns of a
// task. Or a tile, turned over: one vector for each turn of the innermost serial loop.
struct Staged {
  loops::Buffer buffer;
  std::int64_t count = 0;  // elements of a row; of a tile, its vectors
  bool of_task = false;
  std::vector<std::size_t> siblings;  // that load it
  bool ahead = false;                 // the first of these only fills it, for a later one
  std::int64_t lanes = 0;             // of a tile
  loops::Place place = loops::Place::registers;
  int pad = 0;           // of the rows of a block's tile
  bool widened = false;  // kept as what is computed with
};

constexpr std::int64_t LARGEST_SQUARE = 64;  // of a transposed tile: a register of bytes

// Fetched in each turn of a sibling's loop, or, a whole row, before its loops; `what` mentions the axes of
// that sibling and of the common loops, and what `found` finds.
struct Prefetched {
  std::size_t sibling = 0;
  loops::Prefetch what;
  bool is_run = false;
  std::int64_t ahead = 0;  // of a nest with totals of columns: turns that `what` is still to be moved on
  std::optional<loops::Index> found = {};  // its symbol is that of the index whose later place it finds
};

struct Plan {
  loops::Program nest;  // with axes fused
  loops::Nest shape;    // of it
  index::Facts facts;
  Scope common;
  std::vector<Scope> siblings;
  std::optional<GridSplit> grid;
  std::optional<ColumnsPlan> columns;
  std::optional<ScanSplit> scan_split;
  std::vector<Staged> staged;
  std::vector<Prefetched> prefetched;
  std::vector<loops::Buffer> streamed;
  bool panel = false;
  bool transposed_rows = false;
  bool outermost_fastest = false;
  std::vector<loops::Scratch> kept;  // arrays of values, around a turn of the common loops; without bodies
};

class Forms;
// The plan, or why the schedule may not be applied.
std::variant<Plan, std::string> resolve(const Forms& forms, const Schedule& schedule);
// What apply() gives, or why the schedule may not be applied.
std::variant<std::vector<loops::Program>, std::string> programs_of(const Forms& forms,
                                                                   const Schedule& schedule);

// Why the pieces and their order do not suit the statements of the scope, or an empty text. See law.cpp.
std::string why_unlawful(const Plan& plan);

// Why threads may not wait for each other where they would have to, or an empty text. See waits.cpp.
std::string why_bad_waits(const Plan& plan);
// Why threads of several blocks may not walk it: see waits.cpp. Of a plan with all that it keeps.
std::string why_bad_cluster(const Plan& plan);

// Why neighbouring threads may not walk neighbouring rows, or an empty text. See waits.cpp.
std::string why_not_outermost_fastest(const Plan& plan);

// Why the first sibling cannot be cut into parts, or an empty text. See grid.cpp.
std::string why_unlawful(const Plan& plan, const GridSplit& grid);
// Why the scan cannot be cut into parts, or an empty text. See split_scan.cpp.
std::string why_unlawful(const Plan& plan, const ScanSplit& split);
// Whether the statement may be done once for each part of a split reduction or scan.
bool is_harmless(const loops::Stmt& stmt);
// What an extent depends on that only the kernel knows; then nobody can say how many parts it has.
std::optional<index::Symbol> unknown_in(const loops::Program& nest, const index::Expr& extent);
// Why the schedule does not suit the totals of columns that the nest has or lacks, or an empty text. See
// columns.cpp.
std::string why_bad_columns(const Plan& plan);
// Why columns may not be walked side by side inside the sibling's loops, or an empty text. See panel.cpp.
std::string why_no_panel(const Plan& plan);
// Why rows may not be transposed on their way in and out, or an empty text. See transposed_rows.cpp.
std::string why_not_transposed(const Plan& plan);
// The siblings that store or load the array.
std::vector<std::size_t> users_of(const loops::Nest& shape, loops::Buffer array);
// Whether some loop is a thread loop; the threads that all of them need.
bool has_threads(const Scope& scope);
std::int64_t threads_of(const Scope& scope);
// Why threads that walk the row of these siblings cannot keep it, or an empty text. See thread_rows.cpp.
std::string why_not_by_threads(const Plan& plan, const std::vector<std::size_t>& siblings);
// What is staged, or why not. See stage.cpp.
std::variant<Staged, std::string> stage(const Plan& plan, const TempPlan& temp);

// The tile that is staged, or why not. See tile.cpp.
std::variant<Staged, std::string> stage_tile(const Plan& plan, const TempPlan& temp, loops::Buffer buffer);

// The tile of a block of threads, or why not. See block_tile.cpp.
std::variant<Staged, std::string> stage_block_tile(const Plan& plan, const TempPlan& temp,
                                                   loops::Buffer buffer);

// What is fetched ahead, or why not. See prefetch.cpp.
std::variant<Prefetched, std::string> prefetch(const Plan& plan, const PrefetchPlan& row);

// What an extent is at most for all sizes; nothing where that is more than can be walked at once or kept.
std::optional<std::int64_t> most_of(const index::Facts& facts, const index::Expr& extent);
// Whether an axis has at most `most` turns for all sizes.
bool at_most(const index::Facts& facts, const index::Expr& extent, std::int64_t most);
// How many turns the piece has: a constant, or nothing. Of a masked axis as many as the longest asks for.
std::optional<std::int64_t> turns_of(const AxisPlan& axis, const Piece& piece);
// How many it has at most, for all sizes.
std::optional<std::int64_t> most_turns_of(const AxisPlan& axis, const Piece& piece);

// Whether rows are walked side by side, as the members of a vector.
bool in_lockstep(const Scope& common);

// Whether the nest is the call of a routine, which has no loops to schedule.
bool is_call(const loops::Program& nest);

// Where a total that is none of columns is started.
const loops::Start& start_of(const loops::Nest& shape, loops::Temp total);
// What the statements of a sibling do to totals.
Reach reach_of(const loops::Nest& shape, const loops::Sibling& sibling);
// How the pieces of a scan by threads stand: a serial one, chunks by warps, rows by threads, and what a
// thread walks of a row, of which the last piece may be neighbours that are loaded together.
//   [1024 c serial, [1024 thread,]] 32 thread, [v serial,] 1 serial or vector
// A row of at most one chunk begins with the rows.
struct ThreadScanPieces {
  std::size_t row = 0;        // the piece of rows
  bool side_by_side = false;  // chunks are
  std::int64_t packed = 1;    // neighbours that are loaded together
  bool is_one_chunk() const { return row == 0; }
};
// Nothing where they do not stand so.
std::optional<ThreadScanPieces> thread_scan_pieces(const AxisPlan& axis);
// How those of a scan in free order stand that gives each thread neighbours of a row:
//   [serial,] c thread, [1 vector]     of c < 32
struct LaneScanPieces {
  std::size_t threads = 0;  // the piece of threads
  std::int64_t packed = 1;  // neighbours of a thread
};
std::optional<LaneScanPieces> lane_scan_pieces(const AxisPlan& axis);
// Whether no scan of the sibling reads the result of another.
bool scans_stand_alone(const loops::Sibling& sibling);
// Without Lets that nothing behind them reads, such as what only a scan's results need.
std::vector<loops::Ref<loops::Stmt>> without_unread(std::vector<loops::Ref<loops::Stmt>> stmts);
std::vector<const loops::Sibling*> siblings_of(const loops::Nest& shape);
// Symbols of the common loops' Index statements that have one value in all turns of the axis.
std::set<index::Symbol> steady_indices(const loops::Nest& shape, const index::Symbol& axis);
// Whether the loops of a sibling may run differently often in different turns of a common loop.
bool extents_vary(const loops::Nest& shape, const loops::Sibling& sibling, const index::Symbol& axis);

}  // namespace twinloom::schedule
