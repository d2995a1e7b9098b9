// The operators that the frontend reads: one row each, over the graph builder. A row is found by its
// exact name with the overload ("scatter.value"), else by the name alone ("scatter"). A row "prims.sum" goes
// before "sum" for targets among the prims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/fx/items.h"

namespace twinloom::fx {

// In whose memory lies what an operator gives.
enum class Lies : std::uint8_t {
  apart,          // in its own
  whole,          // it is the first argument
  view,           // in that of the first argument
  memory,         // in that of the first argument, counted from where that memory begins
  view_or_copy,   // the strides, which a text need not print, allow a view of the first argument or do not
  whole_or_copy,  // it is the first argument if the strides of that are as asked for
};

// A write into what a view operator gave: the call, and what is written.
struct Write {
  const Arguments& call;
  graph::Tensor value;  // of the shape of the view and the type of the call's first argument
  int part;             // which element, where the operator gives a list
};

struct Row {
  std::string_view name;
  Item (*build)(const Arguments& arguments);
  Lies lies = Lies::apart;
  // Of a view: its first argument after a write into the view; null where there can be none.
  graph::Tensor (*put)(const Write& write) = nullptr;
  bool writes = false;  // its first argument holds what it gives from then on
};

// One table a family.
std::span<const Row> pointwise_rows();
std::span<const Row> view_rows();
std::span<const Row> reduction_rows();
std::span<const Row> indexing_rows();
std::span<const Row> composite_rows();
std::span<const Row> attention_rows();
std::span<const Row> layer_rows();
std::span<const Row> creation_rows();
std::span<const Row> size_rows();
std::span<const Row> prims_rows();
std::span<const Row> copy_rows();
std::span<const Row> complex_rows();
std::span<const Row> product_rows();
std::span<const Row> convolution_rows();
std::span<const Row> pooling_rows();
std::span<const Row> sorting_rows();

// What a text calls: a row, or its form in place (add_ of the row add), whose result the first argument holds
// from then on. Every row has such a form, by its name and an underscore, but those of views.
struct Operator {
  const Row* row;
  bool writes;
};
// `target` as printed: torch.ops.aten.add.Tensor, operator.add, torch.sym_max.
std::optional<Operator> find_operator(std::string_view target);
// Up to three names near to `target`, the nearest first.
std::vector<std::string> nearest_operators(std::string_view target);
// The names of all rows, sorted; forms in place are not among them.
std::vector<std::string_view> operator_names();

}  // namespace twinloom::fx
