// Inside of the component: what is known of the elements of tensors while a model is read.
//   shape(x)[0] * 2 of x: f32[n, 3]     is 2*n
//   reshape's second input              is a constant, or what the caller says of the input
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontends/onnx/read.h"

namespace twinloom::onnx {

class Known {
 public:
  // Both must outlive it.
  Known(const graph::Graph& graph, const ReadOptions& options) : graph_(graph), options_(options) {}

  // The elements of an integer tensor, row by row.
  std::optional<std::vector<index::Expr>> integers(const graph::Tensor& tensor);
  // The elements of any tensor, of which no size is a symbol.
  std::optional<graph::Array> array(const graph::Tensor& tensor);
  // The inputs without given values that the tensor depends on, for messages.
  std::set<std::string> unknown_inputs(const graph::Tensor& tensor);

  // The inputs whose values were used, by parameter.
  const std::map<int, graph::Content>& used_parameters() const { return used_; }

 private:
  std::vector<bool> needed_for(graph::NodeId id) const;
  int parameter_of(graph::NodeId id) const;
  graph::Content given(int parameter);
  std::optional<graph::NodeId> add_to(graph::Graph& part, const graph::Node& node, std::size_t id,
                                      const std::vector<graph::NodeId>& made);

  const graph::Graph& graph_;
  const ReadOptions& options_;
  std::map<int, graph::Content> given_;  // null: not known
  std::map<int, graph::Content> used_;
};

}  // namespace twinloom::onnx
