// See accumulators.h.
#include "core/cost/accumulators.h"

#include <algorithm>
#include <cmath>

#include "core/cost/constants.h"
#include "core/loops/rewrite.h"
#include "core/ops/cost.h"

namespace twinloom::cost {

using namespace constants;

namespace {

double bytes_of(const loops::Start& start) {
  double bytes = 0;
  for (int part = 0; part < ops::parts(start.monoid); ++part)
    bytes += std::max(4, ops::size_of(ops::part_type(start.monoid, start.element, part)));
  return bytes;
}

// Exchanges of registers that combine an accumulator of so many lanes across a warp: every step sends half
// of the lanes that are left, and what remains is fetched from the threads that have it.
double exchanges_of(double lanes, double steps) {
  double exchanges = 0, halvings = 0;
  for (double step = 0; step < steps; ++step) {
    if (lanes > 1) lanes /= 2, ++halvings;
    exchanges += lanes;
  }
  return exchanges + halvings * lanes;
}

}  // namespace

Accumulators::Accumulators(const loops::Program& program, const machine::Machine& machine, Walk& walk)
    : program_(program),
      has_threads_(machine.max_threads > 1),
      warp_threads_(machine.warp_threads),
      lanes_(machine.vector_bytes / 4),
      register_bytes_(static_cast<double>(machine.vector_registers) * machine.vector_bytes),
      walk_(walk) {
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node))
      program_loops_.insert_or_assign(loop->axis, loop);
  });
}

void Accumulators::begin(const loops::Start& start, std::size_t node) {
  starts_[start.total] = &start;
  started_[start.total] = node;
  double copies = 1;
  for (const loops::Axis axis : start.copies) copies_of_[start.total].push_back(axis);
  if (start.depth > 0) return;
  for (const loops::Axis axis : start.copies) copies *= copies_along(axis);
  copies *= walk_.times(node, {loops::Bind::vector});
  const bool many = start.free && !has_threads_ && copies * bytes_of(start) > register_bytes_;
  // What a thread indexes by the counter of a loop that is not written out has no registers.
  const bool indexed = has_threads_ && std::ranges::any_of(start.copies, [&](loops::Axis axis) {
                         const auto loop = program_loops_.find(axis);
                         return loop != program_loops_.end() && loop->second->bind == loops::Bind::serial;
                       });
  if (many || indexed) {
    in_memory_.insert(start.total);
    return;
  }
  hold(bytes_of_[start.total] = copies * bytes_of(start));
}

// Accumulators that are alive at once count.
void Accumulators::hold(double bytes) {
  held_bytes_ += bytes;
  walk_.accumulator_bytes = std::max(walk_.accumulator_bytes, held_bytes_);
}

// Of a thread: the axis is walked later, so its loop is looked for in the program.
double Accumulators::copies_along(loops::Axis axis) const {
  const auto loop = program_loops_.find(axis);
  if (loop == program_loops_.end() || loop->second->bind == loops::Bind::thread) return 1;
  return static_cast<double>(index::constant_of(loop->second->extent).value_or(1));
}

void Accumulators::combine(loops::Temp total, std::size_t node) {
  Node& here = walk_.nodes[node];
  here.work.vector += work_of(total);
  if (in_memory_.contains(total)) {
    here.work.vector += LOADED_AND_STORED;
    return;
  }
  here.chain += chain_of(total);
  here.accumulator_bytes = std::max(here.accumulator_bytes, held_bytes_);
  const auto start = started_.find(total);
  here.chain_start = start == started_.end() ? 0 : start->second;
}

void Accumulators::push(const loops::Push& push, std::size_t node) {
  walk_.nodes[node].work.scalar += PUSH;
  walk_.nodes[node].work.vector += work_of(push.stack);
}

void Accumulators::fold(const loops::Fold& fold) { starts_[fold.result] = starts_[fold.stack]; }

// Across threads: registers that are passed to others; across lanes and copies: combinations.
void Accumulators::exchange(const loops::Combine& combine, std::size_t node) {
  const Loop* loop = loop_of(combine.across);
  if (loop == nullptr) return;
  const double extent = std::max(loop->extent, 1.0), steps = std::ceil(std::log2(std::max(extent, 1.0)));
  double others = 1, lanes = 1;
  for (const loops::Axis axis : copies_of_[combine.total])
    if (axis != combine.across)
      if (const Loop* other = loop_of(axis); other != nullptr && other->bind != loops::Bind::thread)
        (other->bind == loops::Bind::vector && has_threads_ ? lanes : others) *= registers_of(*other);
  std::erase(copies_of_[combine.total], combine.across);
  Node& here = walk_.nodes[node];
  if (loop->bind != loops::Bind::thread) {
    double& bytes = bytes_of_[combine.total];
    hold(bytes / extent - bytes);
    bytes /= extent;
    // Of registers as a whole, then of the halves of the last one.
    const double registers = registers_of(*loop), halvings = std::log2(std::max(extent / registers, 1.0));
    here.work.vector +=
        others * lanes *
        ((registers - 1) * work_of(combine.total) + halvings * (HALVING + work_of(combine.total)));
    here.chain += steps * chain_of(combine.total);
    return;
  }
  const double width = width_of(*loop);
  const bool beyond = extent * width > warp_threads_;
  // Threads far apart read what all of them have, those of a warp exchange registers.
  const double passed = program_.outermost_fastest && beyond
                            ? lanes * extent / std::max(warp_threads_ / width, 1.0)
                        : beyond ? lanes * steps
                                 : exchanges_of(lanes, steps);
  here.exchanges += static_cast<int>(passed * others);
  here.work.vector += passed * others * (1 + work_of(combine.total));
  here.chain += steps;
  if (beyond) here.barriers += 2;
}

void Accumulators::prefix(const loops::Prefix& prefix, std::size_t node) {
  const Loop* loop = loop_of(prefix.across);
  starts_[prefix.before] = starts_[prefix.all] = starts_[prefix.total];
  if (loop == nullptr) return;
  Node& here = walk_.nodes[node];
  const loops::Start* start = starts_[prefix.total];
  const bool is_exchanged = !program_.outermost_fastest && start != nullptr && start->free &&
                            ops::parts(start->monoid) == 1 && loop->bind == loops::Bind::thread &&
                            width_of(*loop) == 1;
  const double exchanges = is_exchanged ? std::log2(std::min(loop->extent, warp_threads_)) + 1 : 0;
  const double beyond = !is_exchanged                  ? loop->extent
                        : loop->extent > warp_threads_ ? loop->extent / warp_threads_
                                                       : 0;
  here.exchanges += static_cast<int>(exchanges);
  here.work.vector += 2 * (exchanges + beyond);
  here.chain += exchanges + beyond;
  if (loop->bind == loops::Bind::thread && beyond > 0) here.barriers += 2;
}

double Accumulators::work_of(loops::Temp total) const {
  const auto found = starts_.find(total);
  if (found == starts_.end() || found->second == nullptr) return 1;
  const loops::Start& start = *found->second;
  const double each = has_threads_ ? ops::gpu_cost(start.monoid) : ops::cost(start.monoid);
  return ops::size_of(start.element) == 8 ? 2 * each : each;
}
// Instructions of a combination that wait for one another: of a choice the others stand beside them.
double Accumulators::chain_of(loops::Temp total) const {
  return has_threads_ ? work_of(total) : std::min(work_of(total), LONGEST_CHAIN);
}

// The last one over the axis.
const Loop* Accumulators::loop_of(loops::Axis axis) const {
  const auto found = std::ranges::find(walk_.loops.rbegin(), walk_.loops.rend(), axis, &Loop::axis);
  return found == walk_.loops.rend() ? nullptr : &*found;
}
double Accumulators::width_of(const Loop& loop) const {
  return program_.outermost_fastest ? walk_.threads_above(loop.node) : walk_.threads_below(loop.node);
}
// That hold a value of each iteration: of a core those of its vectors, else those of a thread.
double Accumulators::registers_of(const Loop& loop) const {
  const bool is_vector = loop.bind == loops::Bind::vector && !has_threads_;
  return is_vector ? std::max(std::ceil(loop.extent / lanes_), 1.0) : loop.extent;
}

}  // namespace twinloom::cost
