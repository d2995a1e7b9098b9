// Seconds of wall time from one lap to the next.
#pragma once

#include <chrono>

namespace twinloom {

class Stopwatch {
 public:
  // Seconds since the last lap, or since the stopwatch was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - last_;
    last_ = now;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace twinloom
