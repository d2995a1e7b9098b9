// Inside of the component: what the families of nodes share while a graph is written as an ONNX model.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "frontends/onnx/document.h"

namespace twinloom::onnx {

// What stands for a node.
struct Said {
  Name name;
  graph::Shape shape;  // that of the node, or with a 1, or fewer axes, where it broadcasts to that
  // The type of its elements, but f64 for the order_key of reals and what is made of it: ONNX has no bits of
  // numbers. Such keys order as the node's elements do, and are not equal to them.
  ops::DType dtype;
  bool is_key = false;
};

class Writer {
 public:
  explicit Writer(const graph::Graph& given) : graph(given) {}
  const graph::Graph& graph;
  Document document;
  std::vector<Said> said;  // by node, of those that were written

  const graph::Node& node(graph::NodeId id) const { return graph[id]; }
  const Said& operator[](graph::NodeId id) const { return said[id.index]; }
  // With all elements of the node's shape.
  Name full(graph::NodeId id);
  Name expanded(const Name& value, const graph::Shape& shape);
  Name reshaped(const Name& value, const graph::Shape& shape);
  // Itself where the order is that which it has.
  Name transposed(const Name& value, const std::vector<std::size_t>& order);

  // i64 of shape [1], and of one axis.
  Name size(const index::Expr& size);
  Name sizes(const graph::Shape& shape);
  // 0, 1, ... of one axis.
  Name counts(const index::Expr& size);
  // i64, of expressions over sizes and over what has these names; they broadcast with each other.
  using Names = std::map<index::Symbol, Name>;
  Name arithmetic(const index::Expr& expr, const Names& names);
  // b8; nothing where the condition is empty.
  std::optional<Name> truth(const index::Condition& condition, const Names& names);
  // A name for each axis: positions along it, of as many axes as there are.
  Names positions(const std::vector<index::Symbol>& axes, const graph::Shape& sizes);

  template <class... Words>
  [[noreturn]] void fail(graph::NodeId id, const Words&... words) const {
    throw Error(cat(graph::describe(graph, id), ": ", words...), {graph[id].origin.name});
  }

 private:
  Name symbol(index::Symbol symbol);
};

// The families. An Error names the node where ONNX cannot say it.
Said write_view(Writer& writer, graph::NodeId id, const graph::View& view);
Said write_pointwise(Writer& writer, graph::NodeId id, ops::Pointwise op);
Said write_reduce(Writer& writer, graph::NodeId id, const graph::Reduce& reduce);
Said write_scan(Writer& writer, graph::NodeId id, const graph::Scan& scan);
Said write_sort(Writer& writer, graph::NodeId id, const graph::Sort& sort);
Said write_gather(Writer& writer, graph::NodeId id, const graph::Gather& gather);
Said write_scatter(Writer& writer, graph::NodeId id, const graph::Scatter& scatter);

// A sum of products of elements as Einsum, without the products; nothing where it is none. See
// write_totals.cpp.
std::optional<Said> write_product(Writer& writer, graph::NodeId id, const graph::Reduce& reduce);
// The same as Conv, and the largest elements of windows as MaxPool. See write_windows.cpp.
std::optional<Said> write_convolution(Writer& writer, graph::NodeId id, const graph::Reduce& reduce);
std::optional<Said> write_max_pool(Writer& writer, graph::NodeId id, const graph::Reduce& reduce);
// The elements of a View over `input` without the axes that they do not depend on.
struct Placed {
  Name name;
  std::vector<std::size_t> axes;  // of the View, that the dimensions are, ascending
};
Placed place(Writer& writer, graph::NodeId input, const graph::View& view);

}  // namespace twinloom::onnx
