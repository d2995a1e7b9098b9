// A run that is started often: types, sizes and strides are known once, and a start says only where all lies.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/runtime/executable.h"
#include "core/runtime/memory_pool.h"
#include "core/runtime/prepared.h"

namespace twinloom::runtime {

// Thread-safe. Keeps alive what it runs, but no memory that a start names.
class BoundRun {
 public:
  using Kept = std::shared_ptr<const void>;
  // The data of the arguments and outputs is not read. Error where an output does not fit the graph. `kept`
  // holds the graph.
  BoundRun(Kept kept, const graph::Graph& graph, std::shared_ptr<const Prepared> prepared,
           std::shared_ptr<MemoryPool> memory, std::span<const Argument> arguments,
           std::span<const Tensor> outputs);
  // Waits for the streams of its starts, which still exist.
  ~BoundRun();
  BoundRun(const BoundRun&) = delete;
  BoundRun& operator=(const BoundRun&) = delete;

  // Bytes of temporaries that a start may be handed.
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  // One address for each parameter, that of a size being ignored, then one for each result that the graph
  // computes. `workspace`: aligned to 64, on a GPU to 256, to be used in the order of the stream; null:
  // memory is taken for this start. On the host all is done when this returns; on a GPU all is started, and
  // an index that is out of range is the Error of a later start on the stream. As Executable::run and start
  // in all else, but that a result which is an argument, a view or a size is not given.
  void start(std::span<void* const> addresses, std::byte* workspace, const RunOptions& options) const;

 private:
  // The bytes that a tensor reaches from its address on.
  struct Reach {
    std::size_t slot;  // of the address
    std::int64_t first, last;
    bool is_written;
    int reused = NO_PARAMETER;  // of an output: the parameter whose memory it may be
    std::int64_t alignment = 1;
  };
  // A parameter that takes its value from the workspace when all kernels are done.
  struct Copied {
    std::size_t slot, value;
    std::int64_t bytes;
  };
  void reach_parameters();
  void place(std::size_t value, const std::vector<Tensor>& own);
  void place_own(std::size_t value, const Tensor& output);
  void place_written(std::size_t value, const Tensor& layout);
  void check(std::span<void* const> addresses) const;
  bool lie_apart(std::span<void* const> addresses) const;
  void start_apart(std::span<void* const> addresses, const RunOptions& options) const;
  void start_steps(std::span<void* const> addresses, std::byte* workspace, const RunOptions& options,
                   RunSettings& settings) const;
  Work& work_of(Stream stream) const;

  Kept kept_;
  const graph::Graph& graph_;
  std::shared_ptr<const Prepared> prepared_;
  std::shared_ptr<MemoryPool> memory_;
  const Space* space_;
  std::vector<Argument> arguments_;  // without data
  std::vector<Tensor> outputs_;
  bool is_direct_ = true;                     // kernels write every result where it belongs, or beside it
  std::vector<std::size_t> slots_;            // by value: which address; NO_SLOT
  std::vector<Reach> reaches_;                // of what has elements
  std::vector<std::size_t> parameter_reach_;  // by parameter: which of `reaches_`; NO_SLOT
  std::vector<Copied> copied_;
  std::vector<std::int64_t> beside_;  // by value: of what is copied, its offset in the workspace; -1
  std::int64_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;  // of a GPU: one start at a time
  mutable std::vector<std::pair<Stream, std::unique_ptr<Work>>>
      works_;  // the last member: they wait before all else goes
};

}  // namespace twinloom::runtime
