// What an FX expression is worth while a graph is read: tensors, numbers, sizes, types, lists.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/assertion.h"
#include "core/graph/builder.h"

namespace twinloom::fx {

struct Item;
using Items = std::vector<Item>;

// A quotient of sizes. The denominator is at least 1 wherever the requirements of the graph hold.
struct Fraction {
  index::Expr numerator, denominator;
};

// A number of Python that only a run knows and that is no size: a truth, a real, or an integer that is
// read from a tensor.
struct Number {
  enum class Kind { truth, integer, real };
  Kind kind;
  // What it is worth, of a real before it is rounded to f64; 0 or 1 of a truth. Nothing where the sizes do
  // not tell.
  std::optional<Fraction> fraction;
  index::Condition holds;  // of a truth with a fraction: says the same as fraction == 1
  // As a tensor without axes, of b8, i64 or f64.
  std::function<graph::Tensor(graph::Builder& builder)> tensor;
};

// Where a tensor lies.
struct Location {
  int memory = 0;   // its number; 0: that of a constant, which nothing can write to
  int view = -1;    // which of the views that Memory knows; -1: all of the memory
  int version = 0;  // so many writes to the memory does the value hold
};

struct Item {
  // Nothing (None), truth, size or integer, real, a number that only a run knows, text, element type, tensor,
  // list or tuple.
  std::variant<std::monostate, bool, index::Expr, double, Number, std::string, ops::DType, graph::Tensor,
               Items>
      value;
  // Of a tensor: which results may share its memory, those with the same number; 0: parameters that are not
  // written, and constants.
  int copy = 0;
  Location location = {};
  // Of a view: the tensor in whose memory it lies, row by row.
  std::optional<graph::Tensor> storage = std::nullopt;
  // Of a parameter and its views: the text prints strides that leave gaps or are not known.
  bool gaps = false;
  // Of a complex tensor, whose real parts are the value.
  std::optional<graph::Tensor> imaginary = std::nullopt;
  // Of a tensor: PyTorch's devices give it in different types, so it has the one that the text says.
  bool typed_by_text = false;

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  template <class Kind>
  const Kind* get() const {
    return std::get_if<Kind>(&value);
  }
};

// The value of a number that the sizes tell; a truth is 0 or 1.
std::optional<index::Expr> size_of(const Item& item);

// Of words like "a tensor f32[3]" for messages.
std::string describe(const Item& item);

// The graph that is read, and the statement that is being read.
struct Context {
  graph::Builder& builder;
  int line = 0;
  std::optional<graph::Shape> printed;  // the shape that the text prints for the result
  std::size_t elements = 0;             // so many elements of the result does the text take
  std::vector<graph::Assertion> assertions;
  std::set<graph::NodeId> row_major;  // the parameters that lie so by the strides that the text prints
};

// A position that no call has: of arguments that are given by keyword alone.
inline constexpr std::size_t BY_KEYWORD = 99;

// The arguments of one call, by position or by keyword. A missing or ill-typed one is an Error that
// names the operator and the argument.
class Arguments {
 public:
  Arguments(Context& context, std::string target, Items positional,
            std::vector<std::pair<std::string, Item>> keywords)
      : context_(context),
        target_(std::move(target)),
        positional_(std::move(positional)),
        keywords_(std::move(keywords)) {}

  graph::Builder& builder() const { return context_.builder; }
  Context& context() const { return context_; }
  const std::string& target() const { return target_; }
  const Items& positional() const { return positional_; }
  const std::vector<std::pair<std::string, Item>>& keywords() const { return keywords_; }
  // The shape that the text prints for the result.
  const std::optional<graph::Shape>& printed() const { return context_.printed; }

  // Null where the call has none.
  const Item* first() const;
  // Null when it is left out or None. A position of BY_KEYWORD has none.
  const Item* find(std::size_t position, std::string_view name) const;
  const Item& item(std::size_t position, std::string_view name) const;

  graph::Tensor tensor(std::size_t position, std::string_view name) const;
  std::optional<graph::Tensor> maybe_tensor(std::size_t position, std::string_view name) const;
  std::vector<graph::Tensor> tensors(std::size_t position, std::string_view name) const;
  index::Expr size(std::size_t position, std::string_view name) const;
  index::Expr size(std::size_t position, std::string_view name, const index::Expr& otherwise) const;
  std::vector<index::Expr> sizes(std::size_t position, std::string_view name) const;
  // A number for each of so many axes; one stands for all. Empty where there is none.
  std::vector<index::Expr> along_axes(std::size_t position, std::string_view name, std::size_t axes) const;
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
  Context& context_;
  std::string target_;
  Items positional_;
  std::vector<std::pair<std::string, Item>> keywords_;
};

// Tensors and None, as index and index_put take them.
std::vector<std::optional<graph::Tensor>> indices_of(const Arguments& arguments, std::size_t position);

}  // namespace twinloom::fx
