// What the functions of this folder have in common: the arithmetic of sizes, and how kernels are called. A
// kernel has numbered tasks, which any threads may share.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "backends/cpu/floating_point.h"
#include "core/emit/abi.h"
#include "core/runtime/tasks.h"

namespace twinloom::exported {

using emit::Integer;

// Rounding down; of a divisor that is not positive there is none.
inline Integer floor_div(Integer a, Integer b) {
  if (b <= 0) throw std::invalid_argument("a size is divided by " + std::to_string(b));
  return a / b - (a % b < 0 ? 1 : 0);
}
inline Integer floor_mod(Integer a, Integer b) { return a - floor_div(a, b) * b; }
inline Integer least(Integer a, Integer b) { return std::min(a, b); }
inline Integer greatest(Integer a, Integer b) { return std::max(a, b); }

// Memory between kernels begins at multiples of a line of the caches.
inline Integer whole_lines(Integer bytes) { return (bytes + 63) / 64 * 64; }

// Memory of a run whose caller gave none.
class Workspace {
 public:
  explicit Workspace(Integer bytes)
      : data_(bytes == 0 ? nullptr : std::aligned_alloc(64, std::size_t(bytes))) {
    if (bytes != 0 && data_ == nullptr) throw std::bad_alloc();
  }
  ~Workspace() { std::free(data_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_;
};

inline void run_tasks(emit::KernelFunction kernel, const emit::Arguments& arguments, Integer begin,
                      Integer end) {
  if (begin >= end) return;
  const cpu::FloatingPointScope scope;
  kernel(&arguments, begin, end);
}

// Each thread has one range of neighbouring tasks.
inline void launch(emit::KernelFunction kernel, const emit::Arguments& arguments, Integer tasks) {
#ifdef _OPENMP
#pragma omp parallel if (tasks > 1)
  {
    const auto [begin, end] = runtime::tasks_of(omp_get_thread_num(), omp_get_num_threads(), tasks);
    run_tasks(kernel, arguments, begin, end);
  }
#else
  run_tasks(kernel, arguments, 0, tasks);
#endif
}

// Of what a kernel found: an index out of range, or an assertion that does not hold, in its own words.
[[noreturn]] inline void fail(const emit::FailureRecord& failure, bool asserted, const std::string& words) {
  if (asserted) throw std::out_of_range(words);
  throw std::out_of_range(words + ": index " + std::to_string(failure.value) +
                          " is out of range; expected 0 <= index < " + std::to_string(failure.bound));
}

}  // namespace twinloom::exported
