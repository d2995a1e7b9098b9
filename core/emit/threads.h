// How the thread loops of a program lie on the threads of a block: of nested ones the innermost is the
// fastest, those side by side run on the same threads. Every member of a loop has as many threads as the
// widest nest of thread loops inside it; what stands in none of these is executed by all of them.
// Where the program says so the outermost is the fastest: two loops, one in the other, of all threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/loops/loops.h"
#include "core/machine/machine.h"

namespace twinloom::emit {

constexpr std::int64_t WARP_THREADS = 32;  // that exchange registers directly

// Whether threads wait once for both totals, where they stand side by side.
bool combine_together(const loops::Combine& one, const loops::Combine& other);

class Threads {
 public:
  // Bug where the extent of a thread loop is no constant, or where threads that combine their totals stand in
  // a loop without threads that they would wait for: those of the warp for an exchange, of the block beyond a
  // warp.
  explicit Threads(const loops::Program& program);
  std::int64_t count() const { return count_; }  // of a task; 1 without thread loops
  // More than a block has are those of a cluster of blocks, whose scratch all of them may write.
  machine::BlockShape shape() const { return machine::block_shape(count_); }
  bool are_of_cluster() const { return shape().blocks > 1; }
  // From a thread of one iteration of the loop to the one at its place in the next: the threads of an
  // iteration, where the innermost loop is the fastest.
  std::int64_t width(loops::Axis axis) const;
  bool outermost_fastest() const { return outermost_fastest_; }
  // Whether threads combine this total, or take a prefix of it, again in the next turn of a loop without a
  // wait for anything else in between: before they write its scratch again, they wait for those that still
  // read it.
  bool wait_again(loops::Temp total, loops::Axis across) const { return again_.contains({total, across}); }
  // Whether what stands before each copy of a total in free order along the axis is exchanged between
  // neighbouring threads, of warps at a time; and whether a warp has all of them, so that nobody waits for
  // the block.
  bool exchange_prefix(loops::Temp total, loops::Axis across) const {
    return exchanged_.contains({total, across});
  }
  bool prefix_in_warp(loops::Temp total, loops::Axis across) const {
    return exchange_prefix(total, across) && extents_.at(across) <= WARP_THREADS;
  }

 private:
  std::int64_t walk(const loops::Stmt& stmt);
  void walk_from_outside(const loops::Stmt& stmt, std::int64_t around);
  // `span`: threads of a member of the loops around; `present`: so many neighbours of them alone execute it.
  void check_waits(const loops::Stmt& stmt, std::int64_t span, std::optional<std::int64_t> present) const;
  // Of what blocks of a cluster have no part in each other's.
  void check_cluster(const loops::Program& program) const;
  void check_wait(loops::Axis across, std::optional<std::int64_t> present, bool in_scratch) const;
  // Waits of all threads in one turn of the body, outside the loops in it: at least so many.
  int waits_in(const loops::Stmt& body) const;
  bool combine_through_scratch(loops::Axis across) const;
  void find_again(const loops::Stmt& stmt, bool again);
  void find_exchanged(const loops::Program& program);
  std::map<loops::Axis, std::int64_t> widths_, extents_;
  std::set<std::pair<loops::Temp, loops::Axis>> again_, exchanged_;
  std::int64_t count_ = 1;
  bool outermost_fastest_ = false;
};

}  // namespace twinloom::emit
