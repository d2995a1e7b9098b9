// How apply puts a program together from a Plan: loops around statements, with totals started and
// combined at the positions that the order of the pieces asks for. For the inside of this room.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/loops/rewrite.h"
#include "core/schedule/plan.h"
#include "core/steps/accumulators.h"

namespace twinloom::schedule {

using loops::Ref;
using loops::Stmt;
using loops::Temp;

// What grows while a program is built: names that are still free, buffers.
class Names {
 public:
  explicit Names(const Plan& plan);
  Temp temp() { return Temp{next_temp_++}; }
  void take_temps(const loops::Program& program) { next_temp_ = loops::next_temp(program).index; }
  // The stem itself where it is free, else with a number behind it.
  index::Symbol symbol(std::string_view stem);
  loops::Buffer buffer(loops::BufferInfo info);
  void set_count(loops::Buffer buffer, index::Expr count) { buffers_[buffer.index].count = std::move(count); }
  const std::vector<loops::BufferInfo>& buffers() const { return buffers_; }
  // Of the nest's symbols, and of the pieces as their loops are made.
  index::Facts& facts() { return facts_; }
  // With fresh names for everything bound inside: a second copy of a body.
  Ref<Stmt> freshen(const Ref<Stmt>& stmt);

 private:
  void take_pieces(const Scope& scope);
  std::uint32_t next_temp_;
  std::set<index::Symbol> taken_;
  std::vector<loops::BufferInfo> buffers_;
  index::Facts facts_;
};

// Where the walk is: the pieces that are not their own symbols, and the axes whose turns are masked.
struct State {
  std::map<index::Symbol, index::Expr> pieces;
  std::set<index::Symbol> masked;  // axes
  bool in_tail = false;            // in the masked turn of a remainder
};

// What the innermost statements see: each axis as an expression of loops, and which masks apply.
struct Surroundings {
  index::Substitution axes;
  index::Substitution fixed;                  // pieces without a loop, which have one turn
  std::map<index::Symbol, index::Less> ends;  // of the masked axes
  std::set<index::Symbol> found;              // symbols of Index statements: they may depend on any axis
  std::map<index::Symbol, std::set<index::Symbol>> steady;  // but, of an axis, these do not on it
  // Masked axes that loads of `inputs` need no mask for: past the end they load what lies at this last place.
  index::Substitution last;
  std::set<loops::Buffer> inputs;
};
// Whether an iteration of the loops around means that the axis has an element.
bool has_elements(const AxisPlan& axis, const index::Facts& facts);
// What the siblings see of an iteration of the common loops: threads whose row lies past the end load the last
// row, as no result of theirs is stored.
Surroundings with_last_rows(const Plan& plan, Surroundings here);
// The statement at these places: axes substituted; what uses a masked axis, and all stores, masked. An Index
// that does not is looked up once for all members, even where a member is past the end: some other is not.
Ref<Stmt> settle(const Ref<Stmt>& stmt, const Surroundings& around);
std::vector<Ref<loops::Value>> settle(const std::vector<Ref<loops::Value>>& values,
                                      const Surroundings& around);
// All ends of the axes of this scope; and of all that are masked.
index::Condition ends_of(const Surroundings& around, const Scope& scope);
index::Condition ends_of_all(const Surroundings& around);
// The number of the iteration of the common loops, row-major.
index::Expr row_of(const Scope& common, const Surroundings& around);
index::Expr rows_of(const Scope& common);  // how many there are

// An element of a buffer, or 0 where the mask does not hold.
Ref<loops::Value> load_of(const Names& names, loops::Buffer buffer, const index::Expr& at,
                          const index::Condition& mask = {});
// A tuple, whose parts have a buffer each: as values, and stored from an accumulator.
using Buffers = std::vector<loops::Buffer>;
Buffers tuple_buffers(Names& names, const loops::Start& start, std::string_view name,
                      const index::Expr& count, bool local);
std::vector<Ref<loops::Value>> load_all(const Names& names, const Buffers& buffers, const index::Expr& at,
                                        const index::Condition& mask = {});
void store_all(const Buffers& buffers, const index::Expr& at, const index::Condition& mask, Temp accumulator,
               std::vector<Ref<Stmt>>& stmts);

// Builds the loops of one scope. `innermost` makes what they enclose; `wrap(at, ...)` may put statements
// around the loops from position `at` of the order inwards.
class Walk {
 public:
  using Innermost = std::function<Ref<Stmt>(const Surroundings&)>;
  using Wrap = std::function<Ref<Stmt>(std::size_t at, const State&, Ref<Stmt> loops)>;
  Walk(const Scope& scope, const Surroundings& around, Names& names)
      : scope_(scope), around_(around), names_(names) {}
  Ref<Stmt> run(const Innermost& innermost, const Wrap& wrap);
  // The loops from position `at` of the order inwards, where a walk in this state has come to.
  Ref<Stmt> run_from(std::size_t at, const State& state, const Innermost& innermost, const Wrap& wrap);
  // How many turns the loop at this position of the order has.
  index::Expr extent_of(std::size_t at, const State& state) const;
  // The place of the axis at the start of the turns of its pieces that are at least `step` long.
  index::Expr base_of(const AxisPlan& axis, std::int64_t step, const State& state) const;

 private:
  Ref<Stmt> from(std::size_t at, const State& state);
  Ref<Stmt> turn(std::size_t at, const State& state);
  Ref<Stmt> cut_turn(std::size_t at, const State& state);
  Ref<Stmt> loop(std::size_t at, const index::Expr& extent, const State& state);
  index::Expr turns_not_past(std::size_t at, const State& state) const;
  bool ends_early(std::size_t at) const;
  index::Expr members_left(const Turn& turn, const State& state) const;
  index::Expr copies_left(const Turn& turn, const State& state) const;
  index::Expr lane_of(const AxisPlan& axis) const;
  // How many whole (or, rounded up, begun) turns of the piece are left in this turn of the larger ones.
  index::Expr turns_left(const AxisPlan& axis, std::size_t piece, const State& state, bool begun) const;
  Surroundings surroundings(const State& state) const;

  const Scope& scope_;
  const Surroundings& around_;
  Names& names_;
  const Innermost* innermost_ = nullptr;
  const Wrap* wrap_ = nullptr;
};

class ScanParts;
// One sibling with everything that its totals need before and after.
struct SiblingSource {
  const Plan& plan;
  const Scope& scope;
  const loops::Sibling& sibling;
  const std::map<Temp, loops::Start>& starts;  // of the nest
  const ScanParts* parts = nullptr;            // of a split scan, of whose parts `scope` is one
};
// The statements inside all loops; the places of what is accumulated are counted from `base`.
Ref<Stmt> settle_inner(const SiblingSource& source, const index::Expr& base, const Surroundings& around);
// Its loops with all that stands in them; and with the Starts of what they accumulate. No scans.
Ref<Stmt> build_loops(const SiblingSource& source, const Surroundings& around, Names& names);
Ref<Stmt> build_totals(const SiblingSource& source, const Surroundings& around, Names& names);
Ref<Stmt> build_scan(const SiblingSource& source, const Surroundings& around, Names& names);

// The partial totals of a grid split. See grid.cpp.
class Parts {
 public:
  Parts(const Plan& plan, const std::map<Temp, loops::Start>& starts, Names& names);
  // The first sibling over one part only: `at` is the part's number.
  Scope scope_of(const index::Symbol& at) const;
  index::Expr count() const { return count_; }
  // partial[..] = the totals of this part; and the totals from all parts.
  Ref<Stmt> store(const index::Symbol& at, const Surroundings& around) const;
  Ref<Stmt> gather(const Surroundings& around, Names& names) const;

 private:
  struct Partial {
    loops::Start start;
    Buffers buffers;
  };
  index::Expr place(const index::Expr& at, const Surroundings& around) const;
  loops::Bind gathering_bind() const;
  Ref<Stmt> accumulate_part(const Partial& partial, const index::Expr& part, const Surroundings& around,
                            const Names& names) const;
  const Plan& plan_;
  std::int64_t elements_;  // of one part
  index::Expr count_, rows_;
  std::vector<Partial> partials_;
};

// What the chunks of a split scan hand to each other. See split_scan.cpp.
class ScanParts {
 public:
  enum class Step : std::uint8_t { totals, results };  // a program each; between them there are the carries
  ScanParts(const Plan& plan, const std::map<Temp, loops::Start>& starts, Names& names);
  void begin(Step step) { step_ = step; }
  // Whether only totals of chunks are asked for, and no results.
  bool only_totals() const { return step_ == Step::totals; }
  // The sibling over one part only: `at` is the part's number.
  Scope scope_of(const index::Expr& at) const;
  index::Expr count() const;  // of parts
  // totals[..] = the total of the chunk that begins at this element, if there is such a chunk, where `mask`
  // holds.
  Ref<Stmt> store(const loops::Scan& scan, Temp total, const index::Expr& first, const Surroundings& around,
                  const index::Condition& mask = {}) const;
  // `carry` is what comes before that chunk.
  Ref<Stmt> start_from_carry(const loops::Scan& scan, Temp carry, const index::Expr& first,
                             const Surroundings& around) const;
  // All carries of a row.
  Ref<Stmt> carry(const Surroundings& around);

 private:
  struct Partial {
    loops::Scan scan;
    loops::Start start;
    Buffers totals, carries;
  };
  const Partial& partial_of(const loops::Scan& scan) const;
  index::Expr place(const index::Expr& chunk, const Surroundings& around) const;
  index::Expr place_in_run(const index::Expr& member, const index::Expr& at,
                           const Surroundings& around) const;
  index::Condition inside(const index::Expr& chunk, const Surroundings& around) const;
  Ref<Stmt> chain(const Partial& partial, const Buffers& held, const Buffers& staged,
                  const index::Expr& member) const;
  void advance(const Buffers& totals, const Buffers& carries, const index::Expr& at,
               const index::Condition& mask, Temp carry, std::vector<Ref<Stmt>>& stmts) const;
  Ref<Stmt> carry_alone(const Surroundings& around);
  Ref<Stmt> carry_by_threads(const Surroundings& around);
  Ref<Stmt> carry_in_runs(const Surroundings& around);

  const Plan& plan_;
  Names& names_;
  Step step_ = Step::totals;
  index::Expr chunks_, rows_;  // all of a row; iterations of the common loops
  bool by_threads_ = false;    // the threads of a block combine the totals of a row
  bool in_runs_ = false;       // each of them a run
  index::Expr run_;            // chunks of it
  std::vector<Partial> partials_;
};

// Columns whose chains are walked side by side. See panel.cpp.
class Panel {
 public:
  // `shape` is the nest's, with staged rows.
  Panel(const Plan& plan, const loops::Nest& shape, const std::map<Temp, loops::Start>& starts, Names& names);
  // The loops of the sibling, where the walk of the common loops has come to the serial loop around the
  // vector.
  Ref<Stmt> fill(const Walk& walk, const State& state) const;
  // The totals of one turn of the common loops, from the arrays.
  Ref<Stmt> gather() const;
  Ref<Stmt> in_arrays(Ref<Stmt> filled, Ref<Stmt> loops) const;

 private:
  struct Total {
    loops::Start start;
    loops::Buffer chains, units;
    Temp chain, unit;
  };
  struct Columns {
    index::Symbol turn, lane;
    index::Expr vectors;  // that begin before the columns end
    index::Expr place;    // in the panel
    Surroundings around;
  };
  void take_values(const loops::Nest& shape);
  index::Expr number_of(const Turn& loop, const State& state) const;
  Columns columns(const Walk& walk, const State& state) const;
  Ref<Stmt> over(const Columns& columns, std::vector<Ref<Stmt>> body) const;
  Ref<Stmt> store(loops::Buffer array, const index::Expr& place, Temp total) const;
  Ref<Stmt> chains(const Columns& columns, const State& state, Ref<Stmt> loops) const;
  Ref<Stmt> unit(const Columns& columns, const index::Expr& number) const;

  const Plan& plan_;
  loops::Sibling sibling_;
  Names& names_;
  const Scope& scope_;              // of the sibling
  const AxisPlan* axis_ = nullptr;  // of the columns
  const Piece* turns_ = nullptr;    // the serial loop around the vector
  std::int64_t vectors_ = 0, width_ = 0, units_ = 0, lanes_ = 0;
  std::vector<Total> totals_;
  std::vector<Ref<Stmt>> values_;  // that are computed before the sibling, with names of their own
  loops::Renaming renamed_;
};

// A tile: the array, and what fills it.
struct Tile {
  loops::Scratch array;
  loops::Load load;  // of the nest
  std::int64_t lanes;
};
// An array in place of the buffer's load in the nest. See tile.cpp.
Tile put_tile(const Plan& plan, const Staged& staged, Names& names, loops::Nest& shape);
// The array around the loops inside, with those that fill it, where the walk of the common loops has come to
// the serial loop around the vector.
Ref<Stmt> in_tile(const Plan& plan, const Tile& tile, const Walk& walk, const State& state, Names& names,
                  Ref<Stmt> loops);

// The tile of a block in place of the buffer's load in the nest; its body fills it. See block_tile.cpp.
loops::Scratch put_block_tile(const Plan& plan, const Staged& staged, Names& names, loops::Nest& shape);

// Members of the thread loops around a row, and the number of this one. See thread_rows.cpp.
struct BlockRows {
  std::int64_t count = 1;
  index::Expr number = 0;
};
BlockRows block_rows(const Scope& common);

struct KeptRow {
  loops::Place place;
  std::int64_t count;  // elements of a row
};
// Where an element lies in the array, and how many elements the array has.
struct RowPlace {
  std::int64_t count = 1;
  index::Expr offset;
};
// Of element k of a row that is walked along the axis. See thread_rows.cpp.
RowPlace place_in_row(const Plan& plan, const AxisPlan& axis, const KeptRow& row, const index::Expr& k);

// The nest with staged rows: stored where they are loaded first, loaded from there afterwards.
struct StagedNest {
  loops::Nest shape;
  std::vector<loops::Scratch> arrays;   // around a turn of the common loops; their bodies are still empty
  std::vector<loops::Scratch> of_task;  // around all turns of a task, each with the loops that fill it
  std::vector<Tile> tiles;              // around the innermost serial loop of the common loops
};
StagedNest stage_rows(const Plan& plan, Names& names);
// Puts what the arrays around a turn hold where the threads of a block keep it. See thread_rows.cpp.
void lay_out_rows(const Plan& plan, Names& names, StagedNest& nest);
// Where the loops of one task start in the order of the common loops: behind the last block loop.
std::size_t start_of_task(const Scope& common);

// A total of columns, with the arrays that it has on the way; each has an element for each column.
struct ColumnTotal {
  loops::Start start;
  std::size_t sibling;                // that accumulates it
  loops::Buffer chain;                // of one lane of the rows
  std::vector<loops::Buffer> levels;  // totals of lanes that wait for more, by the bits of a lane's number
  loops::Buffer parts;                // handed to the second program
};

// The first program of a nest with totals of columns: its rows, and parts of these totals. See columns.cpp.
class ColumnParts {
 public:
  // Puts steps onto chains in place of what `shape` accumulates.
  ColumnParts(const Plan& plan, loops::Nest& shape, Names& names);
  // The rows of each block, one after the other, and the store of its parts.
  Ref<Stmt> walk(const Walk::Innermost& row, const Surroundings& outside);
  // Where a row is whose turn of its block comes so many turns after this one.
  Surroundings later(const Surroundings& here, std::int64_t turns) const;
  index::Condition has_later(std::int64_t turns) const;
  const std::vector<ColumnTotal>& totals() const { return totals_; }

 private:
  using Step = std::function<std::vector<Ref<Stmt>>(const ColumnTotal& total, const index::Expr& column)>;
  Ref<Stmt> over_columns(const Surroundings& around, const Step& step);
  Ref<Stmt> lanes(std::size_t level, const Walk::Innermost& row, const Surroundings& outside);
  Ref<Stmt> chain(const Walk::Innermost& row, const Surroundings& outside);
  Ref<Stmt> in_arrays(Ref<Stmt> stmt) const;
  index::Expr place(const ColumnTotal& total, loops::Buffer array, const index::Expr& column) const;
  Ref<loops::Value> load(const ColumnTotal& total, loops::Buffer array, const index::Expr& column,
                         index::Condition mask = {}) const;
  // array = array (what it holds where `mask` does not) with `value`.
  std::vector<Ref<Stmt>> add(const ColumnTotal& total, loops::Buffer array, const index::Expr& column,
                             Ref<loops::Value> value, index::Condition mask = {});
  loops::Place place_of(const ColumnTotal& total, loops::Buffer array) const;
  index::Expr row_at(const index::Expr& turn) const;
  index::Expr row_of(const index::Expr& lane) const;
  index::Expr turn() const;

  const Plan& plan_;
  Names& names_;
  const AxisPlan& rows_;
  std::int64_t residues_, width_;  // parts of a unit; columns
  index::Symbol unit_, residue_, chain_turn_;
  std::vector<index::Symbol> bits_;  // of a lane's number; the lowest is walked outermost
  std::vector<ColumnTotal> totals_;
};

// The second: the totals from all parts, and what is done with them.
Ref<Stmt> build_columns(const Plan& plan, const std::vector<ColumnTotal>& totals, const Surroundings& outside,
                        Names& names);

using steps::merge_total;
using steps::start_like;

}  // namespace twinloom::schedule
