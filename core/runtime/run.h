// One run of a variant: its memory, its kernels, its failure. See Executable for what it promises.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/runtime/executable.h"
#include "core/runtime/results.h"

namespace twinloom::runtime {

class Run {
 public:
  // Takes memory and starts the kernels; on the host they are done then. `graph` outlives it, `sources` this
  // call.
  Run(const graph::Graph& graph, std::shared_ptr<const Prepared> prepared, const Given& given,
      const Sources& sources, const RunOptions& options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool done() const { return work_ == nullptr || work_->done(); }
  // Error of the first failed Index or of the GPU; the same at each call.
  void wait();
  // Valid in the order of the stream; waits where they must be copied.
  std::vector<Output> outputs();

 private:
  void start(const RunOptions& options);
  const Space* space_;
  std::shared_ptr<const Prepared> prepared_;
  Results results_;
  std::shared_ptr<std::byte> temporaries_;
  std::function<void(std::size_t, double)> after_step_;
  std::vector<std::unique_ptr<Event>> laps_;  // of a GPU: before each step and after the last, where timed
  std::exception_ptr error_;
  std::unique_ptr<Work> work_;  // the last member: it waits before the memory goes
};

}  // namespace twinloom::runtime
