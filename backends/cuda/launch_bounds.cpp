// See launch_bounds.h.
#include "backends/cuda/launch_bounds.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "backends/cuda/device/sort_step.h"
#include "backends/cuda/launch.h"
#include "core/loops/rewrite.h"
#include "core/ops/monoid.h"

namespace twinloom::cuda {

namespace {

constexpr std::string_view BOUNDS = "__launch_bounds__(", ONE_BLOCK = ", 1";
constexpr std::int64_t TOGETHER = 1024, ALONE = 512;  // threads of a multiprocessor
constexpr std::int64_t SMALL_BLOCK = 64;              // threads
constexpr std::int64_t REGISTERS = 65536;             // of 4 bytes, of a multiprocessor
constexpr std::int64_t PART_FOR_TOTALS = 2;           // of a thread's registers, at most

// What a program asks of its threads.
class Needs {
 public:
  explicit Needs(const loops::Program& program) {
    loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
      if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) loops_.emplace(loop->axis, loop);
    });
    loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) { add(stmt); });
  }

  bool has_lists() const { return has_lists_; }
  // Whether all loads of an iteration, of several buffers, should be on their way before the first is added:
  // of threads that have columns, or more totals than half of their registers.
  bool wants_all_registers(bool has_columns) const {
    return loads_pairs_ && !has_lists_ &&
           (has_many_totals() || (has_columns && total_bytes_ > 0 && !keeps_rows_));
  }
  // What may need more registers than are left then has none, and what has no total.
  std::optional<std::int64_t> resident_threads() const {
    if (total_bytes_ == 0 || keeps_rows_ || has_many_totals()) return std::nullopt;
    return threads_together();
  }
  bool has_many_totals() const {
    return !keeps_rows_ && total_bytes_ > REGISTERS / threads_together() * 4 / PART_FOR_TOTALS;
  }

 private:
  std::int64_t threads_together() const { return waits_ || has_lists_ ? TOGETHER : ALONE; }
  void add(const loops::Stmt& stmt) {
    if (const auto* start = std::get_if<loops::Start>(&stmt.node)) total_bytes_ += bytes_of(*start);
    if (const auto* array = std::get_if<loops::Scratch>(&stmt.node))
      keeps_rows_ = keeps_rows_ || array->place == loops::Place::registers;
    if (const auto* combine = std::get_if<loops::Combine>(&stmt.node))
      waits_ = waits_ || is_of_threads(combine->across);
    if (const auto* prefix = std::get_if<loops::Prefix>(&stmt.node))
      waits_ = waits_ || is_of_threads(prefix->across);
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) found_.insert(index->symbol);
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
      has_lists_ = has_lists_ || is_list(*loop);
      loads_pairs_ = loads_pairs_ || adds_what_is_loaded_from_several(*loop);
    }
    waits_ = waits_ || std::holds_alternative<loops::Sync>(stmt.node);
  }
  // Most of them are so short that a thread has one load on its way, of a place that it has just looked up.
  bool is_list(const loops::Loop& loop) const {
    return std::ranges::any_of(index::symbols_of(loop.extent),
                               [&](const index::Symbol& symbol) { return found_.contains(symbol); });
  }
  // Whether each iteration loads elements of its own from several buffers, for a total.
  static bool adds_what_is_loaded_from_several(const loops::Loop& loop) {
    if (loop.bind != loops::Bind::serial) return false;
    bool adds = false;
    loops::for_each_stmt(*loop.body, [&](const loops::Stmt& stmt) {
      adds = adds || std::holds_alternative<loops::Merge>(stmt.node);
    });
    if (!adds) return false;
    std::set<loops::Buffer> loaded;
    loops::for_each_value(*loop.body, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load != nullptr && index::symbols_of(load->offset).contains(loop.axis)) loaded.insert(load->buffer);
    });
    return loaded.size() > 1;
  }
  bool is_of_threads(loops::Axis axis) const { return loops_.at(axis)->bind == loops::Bind::thread; }

  // Of a thread. Stacks are memory, and so are copies that a loop walks which is not written out.
  std::int64_t bytes_of(const loops::Start& start) const {
    std::int64_t bytes = 0;
    for (int part = 0; part < ops::parts(start.monoid); ++part)
      bytes += std::max(4, ops::size_of(ops::part_type(start.monoid, start.element, part)));
    for (const loops::Axis axis : start.copies) {
      if (loops_.at(axis)->bind == loops::Bind::serial) return 0;
      if (!is_of_threads(axis)) bytes *= index::constant_of(loops_.at(axis)->extent).value_or(1);
    }
    return start.depth > 0 ? 0 : bytes;
  }

  std::map<loops::Axis, const loops::Loop*> loops_;
  std::int64_t total_bytes_ = 0;
  bool keeps_rows_ = false;  // in registers
  bool waits_ = false;       // for other threads
  bool has_lists_ = false;   // walks loops that end where only the run knows
  bool loads_pairs_ = false;  // of elements, for its totals
  std::set<index::Symbol> found_;
};

}  // namespace

std::string launch_bounds(const loops::Program& program) {
  const std::int64_t threads = block_threads(program);
  // A sort that says where keys begin, of 64 Mi elements, took 1.72 ms on an H200 with 118 registers a thread, 2.06
  // with the 64 that two blocks leave.
  if (const loops::Call* const routine = routine_of(program))
    return loops::has_starts(*routine) ? cat(threads) : cat(threads, ", ", ORDER_BLOCKS_EACH);
  const Needs needs(program);
  if (needs.wants_all_registers(program.outermost_fastest)) return cat(threads, ONE_BLOCK);
  const auto resident = needs.resident_threads();
  if (!resident || (threads <= SMALL_BLOCK && !needs.has_lists())) return cat(threads);
  return cat(threads, ", ", std::max<std::int64_t>(1, *resident / threads));
}

// An order of 16 Mi elements takes 0.61 ms on an H200 where four blocks share a multiprocessor, with 56 bytes
// of spills a thread, and 0.70 without spills where two do.
bool keeps_launch_bounds(const loops::Program& program) {
  const loops::Call* const routine = routine_of(program);
  return (routine != nullptr && !loops::has_starts(*routine)) || Needs(program).has_lists();
}

std::string without_block_count(const std::string& text) {
  const std::size_t bounds = text.find(BOUNDS);
  if (bounds == std::string::npos) return {};
  const std::size_t end = text.find(')', bounds), comma = text.find(',', bounds);
  const bool has_all = comma < end && text.substr(comma, end - comma) == ONE_BLOCK;
  return comma < end && !has_all ? text.substr(0, comma) + text.substr(end) : std::string();
}

}  // namespace twinloom::cuda
