// How the thread loops of a program lie on the threads of a block: of nested ones the innermost is the
// fastest, those side by side run on the same threads. Every member of a loop has as many threads as the
// widest nest of thread loops inside it; what stands in none of these is executed by all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/loops/loops.h"

namespace twinloom::emit {

class Threads {
 public:
  // Bug where the extent of a thread loop is no constant, or where threads that combine their totals stand in
  // a loop without threads that they would wait for: those of the warp for an exchange, of the block beyond a
  // warp.
  explicit Threads(const loops::Program& program);
  std::int64_t count() const { return count_; }  // of a block; 1 without thread loops
  std::int64_t width(loops::Axis axis) const;    // threads of one member of the loop

 private:
  std::int64_t walk(const loops::Stmt& stmt);
  // `span`: threads of a member of the loops around; `present`: so many neighbours of them alone execute it.
  void check_waits(const loops::Stmt& stmt, std::int64_t span, std::optional<std::int64_t> present) const;
  void check_wait(loops::Axis across, std::optional<std::int64_t> present, bool in_scratch) const;
  std::map<loops::Axis, std::int64_t> widths_, extents_;
  std::int64_t count_ = 1;
};

}  // namespace twinloom::emit
