// The tensors of one run: what the caller handed in, constants, and the outputs, new or the caller's.
#pragma once

#include <span>
#include <vector>

#include "core/runtime/executable.h"
#include "core/runtime/prepared.h"

namespace twinloom::runtime {

// What the caller hands in; it outlives the run.
struct Given {
  std::span<const Argument> arguments;
  std::span<const Tensor> outputs;
  bool keep_donated = false;  // as RunOptions
};

// The first result that lies in the value's memory, of the graph that the value's node is of; how many there
// are where none does.
std::size_t result_in(const graph::Graph& graph, const lower::Value& value);

// Whether all elements lie at the same places, one after the other in some order.
bool same_places(const Tensor& a, const Tensor& b);

// By result: the caller's tensor, or an empty one of what the graph does not compute; none where none was
// given. Error where one does not fit the graph.
std::vector<Tensor> own_outputs(const graph::Graph& graph, const Prepared& prepared, const Space* space,
                                std::span<const Tensor> given);

class Results {
 public:
  // Takes what is missing from the pool; Error where a tensor of the caller does not fit or overlaps another.
  Results(const graph::Graph& graph, const Prepared& prepared, const Given& given, const Sources& sources);

  // Of all values, with the addresses of those that are no temporaries.
  const std::vector<Memory>& memory() const { return memory_; }

  // Gives the parameters that are written their values, in the order of the run's stream: after all kernels.
  // One whose strides no kernel of a GPU writes is left to take().
  void write() const;

  // Whether take() copies something through memory of this process, so that all must be done.
  bool waits() const;

  // One for each result of the graph; copies into the caller's tensors where their strides are not
  // those the kernels wrote.
  std::vector<Output> take() const;

 private:
  Tensor result_memory(std::size_t value, const Given& given, const Sources& sources) const;
  // Where the result of a value is copied to at the end; nothing where the kernels have written it there.
  const Tensor* target_of(std::size_t value, std::size_t result) const;
  void copy(const Tensor& target, const Tensor& source) const;
  Tensor row_major(const Tensor& given) const;  // a copy of a parameter
  // Whether the caller's tensor for a result is the parameter's own memory, which the result takes anyway.
  bool is_taken(std::size_t result, std::size_t parameter) const;
  void check_overlap(bool keep_donated) const;
  void check_written() const;
  const graph::Graph& graph_;
  const Prepared& prepared_;
  std::span<const Argument> arguments_;
  const Space* space_;           // null: memory of this process
  Stream stream_;                // of the run
  std::vector<Memory> memory_;   // by value
  std::vector<Tensor> tensors_;  // by value, of those that results lie in
  std::vector<Tensor> own_;      // by result: the caller's tensor, or empty; empty where none was given
};

}  // namespace twinloom::runtime
