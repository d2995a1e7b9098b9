// Pieces of work in processes of their own, with a limit of time and memory each: one that crashes or does
// not end is an answer, and the others go on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace twinloom::tool {

struct GuardLimits {
  double seconds = 60;
  std::int64_t bytes = std::int64_t{8} << 30;  // of memory; without effect where a sanitizer needs more
  int jobs = 1;                                // at once
};

// What became of a piece of work: what it said, or, where it came to no end of its own, why.
struct Guarded {
  bool ended = false;
  std::string words;
  double seconds = 0;
};

// work(0) to work(count - 1), each in a process that is a copy of this one, which must have no other threads.
// `done` is called here, in any order.
void run_guarded(std::size_t count, const GuardLimits& limits,
                 const std::function<std::string(std::size_t)>& work,
                 const std::function<void(std::size_t, const Guarded&)>& done);

}  // namespace twinloom::tool
