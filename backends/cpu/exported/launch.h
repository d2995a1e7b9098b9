// How the functions of this folder call kernels: a kernel has numbered tasks, which any threads may share.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <cstdlib>
#include <initializer_list>
#include <new>

#include "backends/cpu/floating_point.h"
#include "core/runtime/tasks.h"
#include "sizes.h"

namespace twinloom::exported {

using emit::Arguments;

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

// One call of a function.
class Run {
 public:
  // Each thread has one range of neighbouring tasks.
  void launch(emit::KernelFunction kernel, std::initializer_list<void*> buffers,
              std::initializer_list<Integer> sizes, Integer tasks) {
    const Arguments arguments{buffers.begin(), sizes.begin(), &failure_};
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
  // The first of all kernels.
  const FailureRecord& failure() const { return failure_; }

 private:
  static void run_tasks(emit::KernelFunction kernel, const Arguments& arguments, Integer begin, Integer end) {
    if (begin >= end) return;
    const cpu::FloatingPointScope scope;
    kernel(&arguments, begin, end);
  }

  FailureRecord failure_;
};

}  // namespace twinloom::exported
