// Reads and writes at computed places. Which of them take negative indices is PyTorch's choice.
#include "core/graph/indexing.h"
#include "core/graph/views.h"

#include <algorithm>
#include <array>

#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Mode;
using graph::Negative;
using graph::Tensor;
using ops::DType;

bool is_empty(const Tensor& x) { return index::constant_of(x.count()) == 0; }

// An index of PyTorch is i64 or i32.
Tensor index_at(const Arguments& arguments, std::size_t position, std::string_view name) {
  const Tensor index = arguments.tensor(position, name);
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32)
    arguments.fail(cat("'", name, "' must be i64 or i32, it is ", ops::name(index.dtype())));
  return index;
}
// Of no elements that of gather and scatter may be of any type.
Tensor index_of(const Arguments& arguments) {
  const Tensor index = arguments.tensor(2, "index");
  return is_empty(index) ? graph::cast(index, DType::i64) : index_at(arguments, 2, "index");
}
// Whether nothing is read or written; the other arguments are checked all the same.
bool is_idle(const Arguments& arguments, const Tensor& x, const Tensor& index) {
  if (!is_empty(index)) return false;
  graph::axis_of(arguments.integer(1, "dim"), std::max(1, x.rank()), arguments.target());
  return true;
}

Item gather(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor index = index_of(arguments);
  if (is_idle(arguments, x, index)) return {arguments.builder().constant(0, x.dtype(), index.shape())};
  return {graph::take_along(x, arguments.integer(1, "dim"), index)};
}
// A scalar stands for one element, self as well as index.
Item index_select(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor index = index_at(arguments, 2, "index");
  if (index.rank() > 1) arguments.fail(cat("'index' must have at most one axis, it has rank ", index.rank()));
  const Tensor rows = x.rank() == 0 ? graph::unsqueeze(x, 0) : x;
  const Tensor places = index.rank() == 0 ? graph::unsqueeze(index, 0) : index;
  const Tensor taken = graph::take(rows, arguments.integer(1, "dim"), places);
  return {x.rank() == 0 ? graph::reshape(taken, {}) : taken};
}
Item one_hot(const Arguments& arguments) {
  const index::Expr classes = arguments.size(1, "num_classes", -1);
  if (classes == index::Expr(-1))
    arguments.fail("num_classes must be given: the largest index, which it is otherwise, depends on data");
  return {graph::one_hot(arguments.tensor(0, "self"), classes, ops::DType::i64)};
}
Item embedding(const Arguments& arguments) {
  const Tensor table = arguments.tensor(0, "weight");
  if (table.rank() != 2) arguments.fail(cat("'weight' must have two axes, it has rank ", table.rank()));
  return {graph::embedding(table, index_at(arguments, 1, "indices"))};
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
    constexpr std::array types = {DType::i64, DType::i32, DType::b8};
    if (tensor != nullptr && std::ranges::find(types, tensor->dtype()) == types.end())
      arguments.fail(cat("an index must be i64, i32 or b8, it is ", ops::name(tensor->dtype())));
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
  const Tensor values = arguments.tensor(2, "values");
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
  arguments.fail(cat("reduce '", escaped(words), "' is not one of sum, prod, mean, amax, amin"));
}

void check_source(const Arguments& arguments, const Tensor& x, const Tensor& source) {
  if (source.dtype() != x.dtype())
    arguments.fail(
        cat("'src' must be ", ops::name(x.dtype()), " as 'self', it is ", ops::name(source.dtype())));
}

Item scattered(const Arguments& arguments, Mode mode, bool include_self) {
  const Tensor x = arguments.tensor(0, "self");
  const int axis = arguments.integer(1, "dim");
  const Tensor index = index_of(arguments);
  const auto* source = arguments.item(3, "src").get<Tensor>();
  if (source != nullptr) check_source(arguments, x, *source);
  if (is_idle(arguments, x, index)) return {x};
  if (source != nullptr) {
    return {graph::scatter(x, axis, index, *source, mode, include_self)};
  }
  return {graph::scatter(x, axis, index, fitting(arguments, arguments.number(3, "src"), x.dtype()), mode,
                         include_self)};
}
Item scatter(const Arguments& arguments) {
  return scattered(arguments, mode_of(arguments, arguments.text(4, "reduce", "replace")), true);
}
Item scatter_value(const Arguments& arguments) {
  const Mode mode = mode_of(arguments, arguments.text(4, "reduce", "replace"));
  const Tensor x = arguments.tensor(0, "self");
  const Tensor index = index_of(arguments);
  if (is_idle(arguments, x, index)) return {x};
  const ops::Number value = fitting(arguments, arguments.number(3, "value"), x.dtype());
  return {graph::scatter(x, arguments.integer(1, "dim"), index, value, mode)};
}
Item scatter_add(const Arguments& arguments) { return scattered(arguments, Mode::add, true); }
Item scattered_mean(const Arguments& arguments, bool include_self) {
  const Tensor x = arguments.tensor(0, "self");
  const Tensor index = index_of(arguments);
  const Tensor source = arguments.tensor(3, "src");
  check_source(arguments, x, source);
  if (is_idle(arguments, x, index)) return {x};
  return {graph::scatter_mean(x, arguments.integer(1, "dim"), index, source, include_self)};
}
Item scatter_reduce(const Arguments& arguments) {
  const std::string words = arguments.text(4, "reduce", "");
  const bool include_self = arguments.boolean(5, "include_self", true);
  if (words == "mean") return scattered_mean(arguments, include_self);
  return scattered(arguments, mode_of(arguments, words), include_self);
}
Item index_add(const Arguments& arguments) {
  const Tensor source = arguments.tensor(3, "source");
  Tensor scaled = source;
  if (arguments.find(4, "alpha") != nullptr) {
    fitting(arguments, arguments.number(4, "alpha"), source.dtype());
    const Item alpha{as_tensor(arguments, arguments.item(4, "alpha"), source.dtype())};
    const Item unscaled{source};
    scaled = promoted(arguments, ops::Pointwise::mul, std::array{&unscaled, &alpha});
  }
  return {graph::index_update(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                              index_at(arguments, 2, "index"), scaled, Mode::add)};
}
Item index_copy(const Arguments& arguments) {
  if (arguments.tensor(2, "index").dtype() != DType::i64) arguments.fail("'index' must be i64");
  const Tensor x = arguments.tensor(0, "self");
  const Tensor source = arguments.tensor(3, "source");
  const bool is_element = source.rank() == 0 && x.rank() == 1;
  return {graph::index_update(x, arguments.integer(1, "dim"), index_of(arguments),
                              is_element ? graph::unsqueeze(source, 0) : source, Mode::replace)};
}

// Rows of the gradient added up by index; those of the padding index stay out.
Item embedding_backward(const Arguments& arguments) {
  const Tensor gradient = arguments.tensor(0, "grad_output");
  const Tensor indices = index_at(arguments, 1, "indices");
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
    Row{"one_hot", one_hot},
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
