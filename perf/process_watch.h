// Time of the processor that this process takes, which other programs hardly lengthen.
#pragma once

#include <ctime>
#include <utility>

namespace twinloom::perf {

class ProcessWatch {
 public:
  // Milliseconds since the last lap, or since the watch was made.
  double lap() {
    const double before = std::exchange(last_, now());
    return last_ - before;
  }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  }
  double last_ = now();
};

}  // namespace twinloom::perf
