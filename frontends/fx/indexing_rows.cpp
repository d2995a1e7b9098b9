// Reads and writes at computed places. Which of them take negative indices is PyTorch's choice.
#include "core/graph/indexing.h"
#include "core/graph/views.h"

#include <array>

#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Mode;
using graph::Negative;
using graph::Tensor;

Item gather(const Arguments& arguments) {
  return {graph::take_along(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                            arguments.tensor(2, "index"))};
}
Item index_select(const Arguments& arguments) {
  return {
      graph::take(arguments.tensor(0, "self"), arguments.integer(1, "dim"), arguments.tensor(2, "index"))};
}
Item embedding(const Arguments& arguments) {
  return {graph::embedding(arguments.tensor(0, "weight"), arguments.tensor(1, "indices"))};
}

}  // namespace

graph::Indices indices_of(const Arguments& arguments, std::size_t position) {
  const auto* items = arguments.item(position, "indices").get<Items>();
  if (items == nullptr) arguments.fail("argument 'indices' must be a list of tensors and None");
  graph::Indices indices;
  for (const Item& item : *items) {
    const auto* tensor = item.get<Tensor>();
    if (tensor == nullptr && !item.is_none())
      arguments.fail(cat("an index must be a tensor or None, it is ", describe(item)));
    indices.push_back(tensor == nullptr ? std::nullopt : std::optional(*tensor));
  }
  return indices;
}

namespace {

Item index(const Arguments& arguments) {
  return {graph::index(arguments.tensor(0, "self"), indices_of(arguments, 1))};
}
Item index_put(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor values = as_tensor(arguments, arguments.item(2, "values"), x.dtype());
  return {graph::index_put(x, indices_of(arguments, 1), values,
                           arguments.boolean(3, "accumulate", false) ? Mode::add : Mode::replace)};
}

Mode mode_of(const Arguments& arguments, std::string_view words) {
  constexpr std::array<std::pair<std::string_view, Mode>, 7> modes = {{
      {"sum", Mode::add},
      {"add", Mode::add},
      {"prod", Mode::multiply},
      {"multiply", Mode::multiply},
      {"amax", Mode::greatest},
      {"amin", Mode::least},
      {"replace", Mode::replace},
  }};
  for (const auto& [name, mode] : modes) {
    if (name == words) return mode;
  }
  arguments.fail(cat("reduce '", escaped(words), "' is not one of sum, prod, amax, amin"));
}

Item scattered(const Arguments& arguments, Mode mode, bool include_self) {
  const Tensor x = arguments.tensor(0, "self");
  const int axis = arguments.integer(1, "dim");
  const Tensor index = arguments.tensor(2, "index");
  if (const auto* source = arguments.item(3, "src").get<Tensor>()) {
    return {graph::scatter(x, axis, index, *source, mode, include_self)};
  }
  return {graph::scatter(x, axis, index, arguments.number(3, "src"), mode, include_self)};
}
Item scatter(const Arguments& arguments) {
  return scattered(arguments, mode_of(arguments, arguments.text(4, "reduce", "replace")), true);
}
Item scatter_value(const Arguments& arguments) {
  const Mode mode = mode_of(arguments, arguments.text(4, "reduce", "replace"));
  return {graph::scatter(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                         arguments.tensor(2, "index"), arguments.number(3, "value"), mode)};
}
Item scatter_add(const Arguments& arguments) { return scattered(arguments, Mode::add, true); }
Item scatter_reduce(const Arguments& arguments) {
  const std::string words = arguments.text(4, "reduce", "");
  if (words == "mean") arguments.fail("reduce 'mean' is not one of sum, prod, amax, amin");
  return scattered(arguments, mode_of(arguments, words), arguments.boolean(5, "include_self", true));
}
Item index_add(const Arguments& arguments) {
  const Tensor source = arguments.tensor(3, "source");
  const ops::Number alpha =
      arguments.find(4, "alpha") == nullptr ? ops::Number(1) : arguments.number(4, "alpha");
  const Tensor scaled = alpha.real() == 1 ? source : graph::mul(source, alpha);
  return {graph::index_update(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                              arguments.tensor(2, "index"), scaled, Mode::add)};
}
Item index_copy(const Arguments& arguments) {
  return {graph::index_update(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                              arguments.tensor(2, "index"), arguments.tensor(3, "source"), Mode::replace)};
}

// Rows of the gradient added up by index; those of the padding index stay out.
Item embedding_backward(const Arguments& arguments) {
  const Tensor gradient = arguments.tensor(0, "grad_output");
  const Tensor indices = arguments.tensor(1, "indices");
  const index::Expr rows = arguments.size(2, "num_weights");
  const int padding = arguments.integer(3, "padding_idx", -1);
  if (arguments.boolean(4, "scale_grad_by_freq", false))
    arguments.fail("scale_grad_by_freq is not supported");
  const index::Expr width = gradient.size(-1);
  Tensor values = gradient;
  if (padding >= 0) {
    const Tensor kept = graph::unsqueeze(graph::ne(indices, padding), -1);
    values = graph::where(kept, gradient, ops::Number(0));
  }
  const Tensor zeros = graph::expand(arguments.builder().constant(0, gradient.dtype()), {rows, width});
  const Tensor flat = graph::reshape(values, {indices.count(), width});
  return {graph::index_update(zeros, 0, graph::reshape(indices, {indices.count()}), flat, Mode::add)};
}

constexpr std::array rows = {
    Row{"gather", gather},
    Row{"index_select", index_select},
    Row{"embedding", embedding},
    Row{"index", index},
    Row{"_unsafe_index", index},
    Row{"index_put", index_put},
    Row{"_unsafe_index_put", index_put},
    Row{"scatter", scatter},
    Row{"scatter.value", scatter_value},
    Row{"scatter.value_reduce", scatter_value},
    Row{"scatter_add", scatter_add},
    Row{"scatter_reduce", scatter_reduce},
    Row{"index_add", index_add},
    Row{"index_copy", index_copy},
    Row{"embedding_dense_backward", embedding_backward},
};

}  // namespace

std::span<const Row> indexing_rows() { return rows; }

}  // namespace twinloom::fx
