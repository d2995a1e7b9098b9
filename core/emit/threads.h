// How the thread loops of a program lie on the threads of a block: of nested ones the innermost is the
// fastest, those side by side run on the same threads. Every member of a loop has as many threads as the
// widest nest of thread loops inside it; what stands in none of these is executed by all of them.
#pragma once

#include <cstdint>
#include <map>

#include "core/loops/loops.h"

namespace twinloom::emit {

class Threads {
 public:
  // Bug where the extent of a thread loop is no constant.
  explicit Threads(const loops::Program& program);
  std::int64_t count() const { return count_; }  // of a block; 1 without thread loops
  std::int64_t width(loops::Axis axis) const;    // threads of one member of the loop

 private:
  std::int64_t walk(const loops::Stmt& stmt);
  std::map<loops::Axis, std::int64_t> widths_;
  std::int64_t count_ = 1;
};

}  // namespace twinloom::emit
