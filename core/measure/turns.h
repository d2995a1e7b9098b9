// Times of several works that do the same, taken by turns: what slows a machine for a while slows all of
// them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace twinloom::measure {

// Does the work once and returns the seconds that it took. What it throws is the end of it.
using Runner = std::function<double()>;

struct Turns {
  int rounds = 7;  // that are counted, after one that is not
  double slow_from =
      8;  // one whose first run takes so many times as long as the first runner's is not run again
};

struct Taken {
  double seconds = 0;   // the median of its runs; 0 where it was not run, or failed
  std::string failure;  // in words
};

// One for each runner; an empty one is not run. A runner is destroyed when its last run is over.
std::vector<Taken> by_turns(std::vector<Runner> runners, const Turns& turns = {});

// Which one took the least time, where that is clearly less than what the first took; else the first: nearer
// is chance.
std::size_t fastest_of(const std::vector<Taken>& taken);

}  // namespace twinloom::measure
