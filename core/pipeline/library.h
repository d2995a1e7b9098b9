// Which sums of products a back end's library computes, as the passes ask, and the passes that give it more.
#pragma once

#include <functional>

#include "core/library_calls/split.h"
#include "core/lower/lower.h"
#include "core/pipeline/pipeline.h"

namespace twinloom::pipeline {

// A handful of references, which outlive it and its copies.
class Library {
 public:
  Library(const runtime::Backend& backend, Mode mode, schedule::Choices& choices)
      : backend_(backend), mode_(mode), choices_(choices) {}

  // Whether there may be one; nothing is opened for the answer. Mode `strict` takes nothing from it.
  bool may_be_there() const;
  // From how many products on it is called.
  library_calls::CallThresholds thresholds() const;
  // Whether it computes a product faster than what is generated, which opens it.
  bool suits(const loops::Program& nest) const;
  // Whether it computes a part of a nest; asked again and again while units are fused, it remembers.
  std::function<bool(const loops::Program& nest)> takes() const;
  // What lowering asks it.
  void describe_to(lower::Routines& routines) const;

  // As core/graph/passes.h says; the graph itself where there is no library.
  graph::Graph integer_products(const graph::Graph& graph) const;
  graph::Graph transposed_windows(const graph::Graph& graph) const;
  graph::Graph batches_in_steps(const graph::Graph& graph) const;
  graph::Graph factors_in_steps(const graph::Graph& graph) const;

 private:
  std::function<bool(const graph::Node& products)> are_large() const;
  // And the library computes such a nest, which it is asked once.
  std::function<bool(const graph::Node& products)> are_large_and_served(
      const std::function<loops::Program()>& sample) const;

  const runtime::Backend& backend_;
  Mode mode_;
  schedule::Choices& choices_;
};

}  // namespace twinloom::pipeline
