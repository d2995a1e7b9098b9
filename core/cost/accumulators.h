// What the accumulators of a program add to its Walk: combinations, chains of them, registers, exchanges
// between threads. For the inside of this component. `node` is the one of Walk::nodes in which a statement
// stands.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/cost/walk.h"

namespace twinloom::cost {

class Accumulators {
 public:
  // All three must outlive it.
  Accumulators(const loops::Program& program, const machine::Machine& machine, Walk& walk);

  void begin(const loops::Start& start, std::size_t node);
  void combine(loops::Temp total, std::size_t node);  // with one value
  void push(const loops::Push& push, std::size_t node);
  void fold(const loops::Fold& fold);
  void exchange(const loops::Combine& combine, std::size_t node);
  void prefix(const loops::Prefix& prefix, std::size_t node);

 private:
  void hold(double bytes);
  double copies_along(loops::Axis axis) const;
  double work_of(loops::Temp total) const;
  double chain_of(loops::Temp total) const;
  const Loop* loop_of(loops::Axis axis) const;
  double width_of(const Loop& loop) const;
  double registers_of(const Loop& loop) const;

  const loops::Program& program_;
  const bool has_threads_;
  const double warp_threads_, lanes_, register_bytes_;
  Walk& walk_;
  std::map<loops::Axis, const loops::Loop*> program_loops_;  // all, also those that are not walked yet
  double held_bytes_ = 0;                   // of those that are alive
  std::map<loops::Temp, double> bytes_of_;  // of these
  std::set<loops::Temp> in_memory_;         // of contractions with more copies than a core has registers
  std::map<loops::Temp, const loops::Start*> starts_;
  std::map<loops::Temp, std::size_t> started_;  // in which of Walk::nodes
  std::map<loops::Temp, std::vector<loops::Axis>> copies_of_;
};

}  // namespace twinloom::cost
