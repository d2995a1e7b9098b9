// What an FX expression is worth while a graph is read: tensors, numbers, sizes, types, lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::fx {

struct Item;
using Items = std::vector<Item>;

struct Item {
  // Nothing (None), truth, size or integer, real, text, element type, tensor, list or tuple.
  std::variant<std::monostate, bool, index::Expr, double, std::string, ops::DType, graph::Tensor, Items>
      value;
  // Of a tensor: 0, or the number of the operator that put elements which were there already into memory of
  // their own (clone), or of which it is a view.
  int copy = 0;
  // Of a view: the tensor in whose memory it lies, row by row.
  std::optional<graph::Tensor> storage = std::nullopt;
  // The number of the parameter that holds it when the run is over (copy_); -1: none.
  int written = -1;
  // Of a parameter and its views: the text prints strides that leave gaps or are not known.
  bool gaps = false;
  // Of a tensor: PyTorch's devices give it in different types, so it has the one that the text says.
  bool typed_by_text = false;

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  template <class Kind>
  const Kind* get() const {
    return std::get_if<Kind>(&value);
  }
};

// Of words like "a tensor f32[3]" for messages.
std::string describe(const Item& item);

// The arguments of one call, by position or by keyword. A missing or ill-typed one is an Error that
// names the operator and the argument.
class Arguments {
 public:
  Arguments(graph::Builder& builder, std::string target, Items positional,
            std::vector<std::pair<std::string, Item>> keywords, std::optional<graph::Shape> printed)
      : builder_(builder),
        target_(std::move(target)),
        positional_(std::move(positional)),
        keywords_(std::move(keywords)),
        printed_(std::move(printed)) {}

  graph::Builder& builder() const { return builder_; }
  const std::string& target() const { return target_; }
  const Items& positional() const { return positional_; }
  // The shape that the text prints for the result.
  const std::optional<graph::Shape>& printed() const { return printed_; }

  // Null when it is left out or None.
  const Item* find(std::size_t position, std::string_view name) const;
  const Item& item(std::size_t position, std::string_view name) const;

  graph::Tensor tensor(std::size_t position, std::string_view name) const;
  std::optional<graph::Tensor> maybe_tensor(std::size_t position, std::string_view name) const;
  std::vector<graph::Tensor> tensors(std::size_t position, std::string_view name) const;
  index::Expr size(std::size_t position, std::string_view name) const;
  index::Expr size(std::size_t position, std::string_view name, const index::Expr& otherwise) const;
  std::vector<index::Expr> sizes(std::size_t position, std::string_view name) const;
  int integer(std::size_t position, std::string_view name) const;
  int integer(std::size_t position, std::string_view name, int otherwise) const;
  // One axis or a list; empty when left out.
  graph::Axes axes(std::size_t position, std::string_view name) const;
  bool boolean(std::size_t position, std::string_view name, bool otherwise) const;
  std::vector<bool> booleans(std::size_t position, std::string_view name) const;
  double real(std::size_t position, std::string_view name) const;
  double real(std::size_t position, std::string_view name, double otherwise) const;
  ops::Number number(std::size_t position, std::string_view name) const;
  std::string text(std::size_t position, std::string_view name, std::string_view otherwise) const;
  std::optional<ops::DType> dtype(std::size_t position, std::string_view name) const;

  [[noreturn]] void fail(std::string_view words) const;

 private:
  [[noreturn]] void wrong(std::string_view name, std::string_view expected, const Item& given) const;
  graph::Builder& builder_;
  std::string target_;
  Items positional_;
  std::vector<std::pair<std::string, Item>> keywords_;
  std::optional<graph::Shape> printed_;
};

// Tensors and None, as index and index_put take them.
std::vector<std::optional<graph::Tensor>> indices_of(const Arguments& arguments, std::size_t position);

}  // namespace twinloom::fx
