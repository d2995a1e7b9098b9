// The tensors of one run: what the caller handed in, constants, and the outputs, new or the caller's.
#pragma once

#include <span>
#include <vector>

#include "core/runtime/constants.h"
#include "core/runtime/executable.h"

namespace twinloom::runtime {

class Results {
 public:
  // Takes what is missing from the pool; Error where a tensor of the caller does not fit or overlaps another.
  Results(const graph::Graph& graph, const Variant& variant, const index::Values& values,
          std::span<const Argument> arguments, std::span<const Tensor> given, const Sources& sources);

  // Of a value that is no temporary.
  Memory memory(lower::ValueId id) const;

  // Whether take() copies.
  bool copies() const;

  // One for each result of the graph; copies into the caller's tensors where their strides are not
  // those the kernels wrote.
  std::vector<Output> take();

 private:
  void adopt(std::span<const Tensor> given);
  bool copies(std::size_t value, std::size_t result) const;
  void copy(const Tensor& target, const Tensor& source) const;
  void check_overlap(std::span<const Argument> arguments) const;
  const graph::Graph& graph_;
  const Variant& variant_;
  const index::Values& values_;
  std::span<const Argument> arguments_;
  const Space* space_;           // null: memory of this process
  std::vector<Tensor> tensors_;  // by value
  std::vector<Tensor> own_;      // by result: the caller's tensor, or empty
};

}  // namespace twinloom::runtime
