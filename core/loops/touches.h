// The threads of a block, and who touches which element of memory that they, or blocks, share. Two threads
// that touch an element, one of them to write, with no Sync in between are a failure, and so are two blocks:
// either may come first. For the inside of this room.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::loops {

// Neighbouring threads of a block that execute a statement together; the first of them stores.
struct Threads {
  std::int64_t first = 0, count = 1;
};

// How thread loops lie on the threads of a block: of nested ones the innermost is the fastest, and a member
// of a loop has as many threads as the widest nest of thread loops in it.
class ThreadWidths {
 public:
  explicit ThreadWidths(const Program& program) { threads_ = threads_in(*program.body); }
  // Where members of one loop have different threads, words for it; there are no widths then.
  const std::string& conflict() const { return conflict_; }
  std::int64_t threads() const;  // of a block
  bool has(const Axis& axis) const { return widths_.contains(axis); }
  std::int64_t width(const Axis& axis) const { return widths_.at(axis); }  // threads of one member

 private:
  std::int64_t threads_in(const Stmt& stmt);
  std::map<Axis, std::int64_t> widths_;
  std::string conflict_;
  std::int64_t threads_ = 1;
};

// Counts Syncs and turns of block loops.
struct Moment {
  std::int64_t now = 1;
  std::int64_t block_began = 0;  // what other blocks did comes before
};

enum class Access : std::uint8_t {
  read,  // in no other read's way
  write,
  update,  // atomic: in no other update's way
};

// Of one array.
class Touches {
 public:
  // Of the elements first <= e < last, none of them touched.
  void start(std::int64_t first, std::int64_t last);
  // Bug with `where` when a touch before this one may as well come after it.
  void add(std::int64_t offset, Access access, const Threads& by, const Moment& moment,
           const std::string& where);

 private:
  struct Touch {
    std::int64_t first_time = 0, last_time = 0;  // moments; 0: never
    std::int64_t first = 0, last = 0;            // threads, of the last time
  };
  using Element = std::array<Touch, 3>;  // one for each Access
  std::int64_t first_ = 0;
  std::vector<Element> elements_;
};

}  // namespace twinloom::loops
