// A compiled graph: run(inputs) -> outputs.
//
// Machine code is made for the layouts, the zero sizes and the class of sizes (loops::SizeClass) that a run
// needs, once, and kept (a variant). Up to `most_variants` are kept, the least used is dropped; strides then
// become run-time numbers. After `most_size_classes` of them one variant serves all other sizes.
// Thread safety: every member is const and may be called by many threads at once. Each run has its own
// memory and error record.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/runtime/layout.h"
#include "core/runtime/pending.h"
#include "core/runtime/variant.h"

namespace twinloom::runtime {

class BoundRun;

struct RunOptions {
  RunSettings settings;
  std::uint64_t seed = 0, offset = 0;  // of random numbers
  // Of a GPU: what the run's kernels are put on, in order with all else that is there. They run after what
  // is on it already, so inputs that are still being written there may be handed in.
  Stream stream = nullptr;
  // Who hands out memory for results and temporaries; empty: the device's pool does.
  Allocate allocate;
  // Leaves the memory of donated inputs as it is: results get memory of their own in this run.
  bool keep_donated = false;
  // Called with how long each step of the variant took: after it, or, on a GPU, when all are done. Left
  // empty, nothing is timed.
  std::function<void(std::size_t step, double seconds)> after_step;
};

// What machine code is made for.
struct Request {
  const graph::Graph& graph;  // with the zeros folded in
  const index::Values& zeros;
  const lower::Layouts& layouts;
  index::Values sizes;  // and strides, whose class it is for; none: it is for all
};

// A result that lies in the memory of a parameter, which is donated or written.
struct Reuse {
  std::size_t result;
  int parameter;
  std::int64_t bytes;
};

class Executable {
 public:
  // Makes machine code. Called once a variant, by several threads at the same time for different ones, while
  // others run.
  using Maker = std::function<std::shared_ptr<const Variant>(const Request& request)>;
  static constexpr std::size_t most_variants = 16;
  static constexpr std::size_t most_size_classes = 4;  // of variants that differ in nothing else

  // `space`: where arguments and results lie; null: in memory of this process.
  Executable(graph::Graph graph, Maker maker, const Space* space = nullptr);
  Executable(Executable&&) noexcept;
  Executable& operator=(Executable&&) noexcept;
  ~Executable();

  // One argument for each parameter, in order. Where `outputs` is not empty it holds one tensor for each
  // `own` result, of the right type and sizes, which is written; it must overlap nothing, but may be the very
  // memory of a parameter that reuses() names for it, with strides as a kernel writes them. Error where an
  // argument does not fit the graph, a guard fails, or an index is out of range.
  // The memory of a donated input may come back as an output's, which keeps its owner; else it is as it was.
  // It is not taken where it overlaps another argument's. What it holds after a failed run is not known.
  std::vector<Output> run(std::span<const Argument> arguments, const RunOptions& options = {},
                          std::span<const Tensor> outputs = {}) const;
  // The same without waiting for a GPU: its kernels are started when this returns, and may still run. The
  // caller's memory that no `owner` keeps must live until the run is done. On the host all is done then.
  // Where an output of the caller has strides that no kernel writes, this waits.
  Pending start(std::span<const Argument> arguments, const RunOptions& options = {},
                std::span<const Tensor> outputs = {}) const;

  // A run that is started often with arguments and outputs of these types, sizes and strides, whose data is
  // not read; makes the variant when it is missing.
  std::unique_ptr<const BoundRun> bind(std::span<const Argument> arguments,
                                       std::span<const Tensor> outputs) const;

  // For the rest a tensor's type, sizes and strides are enough: it needs no memory.
  //
  // Bytes of new memory that a run with these arguments needs at once: temporaries, and outputs that lie in
  // no parameter.
  std::int64_t peak_bytes(std::span<const Argument> arguments) const;
  // What takes the memory of parameters in such a run, by its number among the graph's results.
  std::vector<Reuse> reuses(std::span<const Argument> arguments) const;

  // The variant that a run with these arguments uses; makes it when it is missing.
  std::shared_ptr<const Variant> variant(std::span<const Argument> arguments) const;

  // The values of all run-time symbols of such a run.
  index::Values symbols(std::span<const Argument> arguments, const RunOptions& options) const;

  const graph::Graph& graph() const;
  const Space* space() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // a Pending may outlive this
};

}  // namespace twinloom::runtime
