// How tasks are shared out among workers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace twinloom::runtime {

struct TaskRange {
  std::int64_t begin = 0, end = 0;
};

// The neighbouring tasks of one of `workers`: all have as many, or one more.
inline TaskRange tasks_of(std::int64_t worker, std::int64_t workers, std::int64_t tasks) {
  const std::int64_t share = tasks / workers;
  const std::int64_t larger = tasks % workers;  // so many workers have one task more
  const std::int64_t begin = worker * share + std::min(worker, larger);
  return {begin, begin + share + (worker < larger ? 1 : 0)};
}

}  // namespace twinloom::runtime
