// What the heuristics decide from, and the parts that `choose` puts together. For the inside of this room.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/constants.h"
#include "core/schedule/forms.h"

namespace twinloom::schedule {

// A parameter of the heuristics. It knows whether it was asked for: no schedule depends on one that was not,
// and no other value of it is tried. So one is asked for last, where nothing else decides.
template <class T>
class Parameter {
 public:
  Parameter(T value = {}) : value_(value) {}
  const T& operator()() const {
    asked_ = true;
    return value_;
  }
  // Whether what was chosen may be another with that value.
  bool matters(const T& value) const { return asked_ && value != value_; }

 private:
  T value_;
  mutable bool asked_ = false;
};

// Parameters of the heuristics, with the values that they usually have; candidates() draws others.
struct Parameters {
  // Where threads keep rows: in a cluster, in the registers of several blocks.
  enum class Rows : std::uint8_t { best, nowhere, registers, scratch, cluster };
  using Count = Parameter<std::int64_t>;
  using Flag = Parameter<bool>;
  using Maybe = Parameter<std::optional<bool>>;
  Maybe lockstep = {};  // whether rows are walked side by side; nothing: by neighbours in memory
  Parameter<std::size_t> vector_rank =
      0;  // the common axis of a vector: 0 the best by neighbours, 1 the next
  // Where blocks have threads.
  Count block_threads = 0;    // of a pointwise block; 0: by what a thread loads
  Count times = 0;            // that a thread takes packed elements; 0: by what it loads
  Count most_packed = 16;     // elements that a thread takes at once
  Count tile = 64;            // elements of a side: lines of 256 bytes of f32; 0: no tiles
  Count row_warps = 4;        // of a block with several rows
  Count row_threads = 0;     // of a row of at most one of a unit's lanes each; 0: by accesses, at most a warp
  Count beside = 0;          // rows of neighbouring threads, each walked by others far apart; 1: by one or by
                             // neighbours; 0: so unless they are few
  Count warps = 0;           // of a row; 0: by its bytes and where it is kept
  Flag repeats_last = false;  // whether blocks that load the same follow each other; see order_of_blocks()
  Count scan_warps = 8;      // of a row that is scanned
  Flag scan_lanes = true;    // whether in free order each thread has neighbours of a row
  Count least_scanned = 32;  // elements of a row that several threads scan; else one does
  Flag scan_rows_written_out = true;  // by a thread, so that all of a row of 32 is on its way at once
  Count column_lanes = 0;  // of a unit, whose rows a block walks for totals of columns; 0: by the blocks
  Count kept_lanes = 16;              // lanes of a unit that a thread has in registers, of rows in threads
  Parameter<double> parts = 1;        // of a reduction or scan, times those that fill the machine
  Flag splits = true;                 // whether reductions and scans are cut into parts at all
  Parameter<Rows> rows = Rows::best;
  // Where they have none.
  Parameter<double> task_seconds = 10e-6;  // that a task takes at least
  Count wide_vectors = 4;                  // registers of a lock-step value: whole lines of each row are read
  Count accumulators = 0;                  // lanes of a unit side by side, in registers; 0: by the body
  Maybe memory_order = {};                 // whether a row is walked as it lies; nothing: by its bytes
  Maybe panel = {};                        // whether columns are walked side by side; nothing: by their bytes
  Flag stages = true, streams = true, transposes = true;
  // Everywhere.
  Parameter<Divisions> divisions = Divisions::none;  // that walking axes as one may leave
  Parameter<int> most_values = 64;                   // kept for later siblings
  Flag prefetches = true;
};
// Other values of one parameter, and of all parameters that count for a machine.
struct Change {
  std::function<void(Parameters& parameters)> make;
  std::function<bool(const Parameters& parameters)> matters;  // for what was chosen by these
};
using Changes = std::vector<Change>;
const std::vector<Changes>& changes_for(const machine::Machine& machine);

std::optional<std::int64_t> constant(const loops::NestLoop& loop);
// Sizes that runs are expected to have, each as its facts allow.
index::Values usual_sizes(const loops::Program& nest);
// With these sizes; UNKNOWN_EXTENT where only the run finds it, or where they divide by nothing.
std::int64_t usual_extent(const loops::NestLoop& loop, const index::Values& sizes);
std::int64_t power_of_two_below(std::int64_t value);

// Which neighbouring axes are walked as one. See choose_fused_axes.cpp.
struct FusedAxes {
  loops::Program nest;
  std::vector<steps::Step> steps;
};
FusedAxes choose_fused_axes(const loops::Program& nest, Divisions divisions);

// The nest with axes fused, the machine, and what is decided for all scopes at once: whether a vector
// walks rows in lock-step or each sibling along its own axis.
class Situation {
 public:
  // With so many values kept; see Schedule. The forms and the parameters must outlive it.
  Situation(const Forms& forms, const machine::Machine& target, const Parameters& chosen,
            int kept_values = 0);
  Situation(const Situation&) = delete;
  Situation& operator=(const Situation&) = delete;

  // Of the usual sizes; an extent that only the run finds counts as UNKNOWN_EXTENT.
  std::int64_t usual(const loops::NestLoop& loop) const;
  // So many iterations the loop has at most, whatever the sizes are; nothing of an extent that only the run
  // finds, whose bound says little of what it mostly is.
  std::optional<std::int64_t> most(const loops::NestLoop& loop) const;
  // Turns of the common loops, of the usual sizes, and at least 1.
  double rows() const;
  // Threads of a block, where nothing else decides.
  std::int64_t block_threads() const {
    return parameters.block_threads() != 0 ? parameters.block_threads() : machine::BLOCK_THREADS;
  }
  // Whether the operators of an element of a pointwise nest are long chains; see LONG_WORK_A_BYTE.
  bool has_long_work() const;
  // Elements of the usual type in one register.
  std::int64_t lanes_along(const index::Symbol& axis) const;
  // Of a core, twice as many where scope `sibling` stores bf16 along the axis: two registers of f32 are
  // packed into one by as many instructions as one into half of it.
  std::int64_t stored_lanes_along(const index::Symbol& axis, int sibling) const;
  // Elements along the axis that one access moves where all that walk it are aligned; at least 1.
  std::int64_t packed_along(const index::Symbol& axis) const;
  // Bytes along an axis that are neighbours, less those that lie apart: stores count double.
  double unit_bytes(const index::Symbol& axis, bool inner_only) const;
  // Elements along a common axis that make a word of 4 bytes: more of them would need more totals than a
  // thread has registers for. Of a list that is looked up as many as a load takes, so that a place that is
  // found serves them all, or LIST_ELEMENTS where they leave a warp.
  std::int64_t words_along(const loops::NestLoop& common) const;
  // The time of one turn of all common loops.
  double turn_seconds() const;
  // Whether siblings store elements.
  bool stores_rows() const;
  // Whether the inner loops of some iterations may have other extents than those of others.
  bool rows_vary() const;
  // Whether only the run knows how long it is, as with the entries of a list that go to one row: most are
  // short.
  bool is_list(const loops::NestLoop& loop) const;
  // Elements of such a list, of the usual sizes; nothing where the nest does not say how many all have.
  std::optional<double> mean_length(const loops::NestLoop& loop) const;
  // Lengths of a list's last unit that have loops of their own, see SplitPlan.
  std::vector<std::int64_t> short_lists(const loops::NestLoop& loop) const;
  // Whether columns of a panel are worth their arrays: one reduction in lock-step that stores elements, or of
  // more than the caches hold, or than cores' own do where rows begin between lines. Rows that are far apart
  // leave each other no room in a cache, and lines of which a vector stored a part are gone when the next one
  // comes. Fewer columns than one panel has are cut into parts of rows.
  bool wants_panel() const;
  // Whether the lanes of a vector of rows lie apart, and neighbours along the rows, as those of a scan.
  bool wants_transposed_rows() const;
  bool divides(std::int64_t step, const loops::NestLoop& loop) const;
  // Whether vectors of so many lanes leave nothing or little of it over.
  bool fills(std::int64_t lanes, const loops::NestLoop& loop) const;
  // Whether the canonical order of a sum in lock-step over few elements is written out whole.
  bool is_written_out(const loops::Sibling& sibling) const;
  // Whether a core's registers hold the row that the sibling walks, so that the light bodies of several, each
  // written out, load and convert it once.
  bool holds_row(const loops::Sibling& sibling) const;
  // Whether it is a sum in any order along a row of no more elements than a unit has lanes. The canonical
  // order adds them with as few additions as any, and all of them are on their way at once.
  bool is_short_free_sum(const loops::Sibling& sibling) const;
  // Registers of a lock-step value.
  std::int64_t wide_vectors() const;

  const machine::Machine& machine;
  const Parameters& parameters;
  const std::vector<steps::Step>& fused;
  const Form& form;
  const loops::Program& nest = form.nest;
  const loops::Nest& shape = form.shape;
  const index::Facts& facts = form.facts;
  const std::vector<const loops::Sibling*>& siblings = form.siblings;
  const std::vector<Access>& accesses = form.accesses;
  index::Values sizes;          // the usual ones
  bool lockstep = false;        // the vector is along a common axis
  std::size_t vector_axis = 0;  // of the common loops

 private:
  bool is_of_sizes(const loops::NestLoop& loop) const;
  bool vector_is_common() const;
  // Whether its members walk the siblings equally often.
  bool may_be_vector(const loops::NestLoop& common) const;
  bool begins_between_lines() const;
  bool fits_panel(const loops::Sibling& sibling) const;
  double vector_bytes(const loops::NestLoop& common) const;  // unit_bytes of one that may; else below all
  bool wants_warps() const;
  bool spans_scopes(const Access& access) const;
  bool is_large(const Access& access) const;
  std::size_t best_common_axis() const;
};

// The splits and loops of one scope.
class ScopeChoice {
 public:
  explicit ScopeChoice(int sibling) : sibling_(sibling) {}
  void split(const loops::NestLoop& loop, std::vector<std::int64_t> factors, Tail tail,
             std::vector<std::int64_t> shorts = {});
  void loop(const loops::NestLoop& loop, std::size_t piece, loops::Bind bind);
  void append_to(Schedule& schedule) const;

 private:
  int sibling_;
  std::vector<SplitPlan> splits_;
  std::vector<LoopPlan> loops_;
};
// Whether it may be applied.
bool is_legal(const Forms& forms, const Schedule& schedule);
// What is fetched ahead, of what the law lets pass. See choose_prefetches.cpp.
std::vector<PrefetchPlan> choose_prefetches(const Situation& situation, const Plan& plan);
// What is stored past the caches. See choose_prefetches.cpp.
std::vector<std::string> choose_streams(const Situation& situation, const Schedule& schedule);
// A row that all siblings walk. `most` is its extent where that is a constant, else a bound for all sizes.
struct Row {
  index::Expr extent;
  std::int64_t most = 0, usual = 0;  // elements; UNBOUNDED where the facts bound them by nothing
  static constexpr std::int64_t UNBOUNDED = INT64_MAX;
};
// How the threads of a block walk rows of one size.
struct RowThreads {
  std::optional<Row> row;           // nothing where the siblings' rows are not one
  std::int64_t warps = 1;           // a row, each with a unit at a time
  std::int64_t warps_apart = 1;     // of each sibling, where their rows are not one
  bool kept = false;                // rows stay in registers: no loop but the one over groups of units
  bool spread = false;              // units are walked by as many threads as they have lanes
  std::int64_t packed = 0;          // elements that a thread takes at once, at most; 0: what fits
  std::optional<std::size_t> tile;  // without siblings: the common axis that squares are made with
};
// How the rows of a nest with totals of columns are cut, where so many threads walk a row. See
// choose_columns.cpp.
ColumnsPlan choose_columns(const Situation& situation, std::int64_t threads);
// How the one scan of a nest is cut into parts, if that is lawful and there are too few rows. See
// choose_scans.cpp.
std::optional<ScanSplit> choose_scan_split(const Forms& forms, const Situation& situation,
                                           const Schedule& schedule);
// The loops of all scopes where blocks have threads. See choose_threads.cpp.
void choose_threads(const Situation& situation, const RowThreads& rows, Schedule& schedule);
// Where neighbouring threads walk neighbouring rows, each with others far apart: so many of them, each with
// so many rows that lie side by side, and threads of one row; nothing where they do not. See
// choose_beside.cpp.
struct Beside {
  std::int64_t rows = 1, threads = 1, packed = 1;
};
std::optional<Beside> rows_beside(const Situation& situation);
// Whether each thread walks rows of its own.
bool walks_rows_in_threads(const Situation& situation);
// All of a schedule where blocks have threads, but for grid splits. See choose_rows.cpp.
Schedule choose_for_threads(const Forms& forms, const machine::Machine& machine,
                            const Parameters& parameters);
// Whether it is searched for, by estimates: not of a call, nor of several parts, nor on a core where a run
// finds places, whose time is estimated too badly.
bool is_searched(const loops::Program& nest, const machine::Machine& machine);
// The schedule with the least estimate, unless that of the usual parameters is nearly as good. See
// choose_by_estimate.cpp.
Schedule choose_by_estimate(const loops::Program& nest, const machine::Machine& machine);
// Schedules of a contraction by tiles of registers; none for other nests. See choose_product.cpp.
std::vector<Schedule> choose_products(const loops::Program& nest, const machine::Machine& machine);
// Of atomic updates, added up in shared memory first; none for other nests. See choose_updates.cpp.
std::vector<Schedule> choose_updates(const loops::Program& nest, const machine::Machine& machine);
// All that are by steps alone.
std::vector<Schedule> choose_steps(const loops::Program& nest, const machine::Machine& machine);
// Of a nest of several parts; nothing where no schedule of this form is legal. See choose_parts.cpp.
std::optional<Schedule> choose_parts(const loops::Program& nest, const machine::Machine& machine);
// The whole schedule by these parameters.
Schedule choose(const Forms& forms, const machine::Machine& machine, const Parameters& parameters);
ScopeChoice choose_common(const Situation& situation);
// Blocks that it cuts the common loops into, of the usual sizes.
std::int64_t common_tasks(const Situation& situation);
ScopeChoice choose_sibling(const Situation& situation, int number);

}  // namespace twinloom::schedule
