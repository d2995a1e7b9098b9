// Sizes of tensors, numbers that are read from tensors, and conditions: what the sizes tell becomes a
// requirement of the graph, what only elements tell an assertion of its results.
#include <array>

#include "core/graph/build_error.h"
#include "core/graph/views.h"
#include "frontends/fx/numbers.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/requirements.h"
#include "frontends/fx/sizes.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using index::Expr;
using ops::DType;

Item sym_size(const Arguments& arguments) {
  return {arguments.tensor(0, "self").size(arguments.integer(1, "dim"))};
}
Item sym_count(const Arguments& arguments) { return {arguments.tensor(0, "self").count()}; }
Item nothing(const Arguments&) { return {}; }

Tensor only_element(const Arguments& arguments, const Tensor& tensor) {
  arguments.builder().graph().require_equal(
      tensor.count(), 1, cat(arguments.target(), ": a tensor of ", tensor.count(), " elements is no number"));
  return tensor.rank() == 0 ? tensor : graph::reshape(tensor, {});
}

// x.item(): what a size or a constant is worth is known.
Item item(const Arguments& arguments) {
  const Tensor tensor = only_element(arguments, arguments.tensor(0, "self"));
  const graph::Op& node = arguments.builder().graph()[tensor.id()].node;
  if (const auto* size = std::get_if<graph::Size>(&node); size != nullptr && size->dtype == DType::i64)
    return {size->value};
  const auto* constant = std::get_if<graph::Constant>(&node);
  const auto* number = constant == nullptr ? nullptr : std::get_if<ops::Number>(&constant->value);
  const DType type = tensor.dtype();
  if (number != nullptr) {
    if (type == DType::b8) return {number->integer() != 0};
    return ops::is_floating(type) ? Item{number->real()} : Item{Expr(number->integer())};
  }
  const Number::Kind kind = type == DType::b8        ? Number::Kind::truth
                            : ops::is_floating(type) ? Number::Kind::real
                                                     : Number::Kind::integer;
  const DType wide = kind == Number::Kind::real    ? DType::f64
                     : kind == Number::Kind::truth ? DType::b8
                                                   : DType::i64;
  return {Number{
      kind, std::nullopt, {}, [tensor, wide](graph::Builder&) { return graph::cast(tensor, wide, true); }}};
}

// The truth becomes a requirement, or an assertion where only elements of tensors tell it.
void assert_truth(const Arguments& arguments, const Item& truth, const std::string& message) {
  graph::Builder& builder = arguments.builder();
  const std::string_view operation = arguments.target();
  const std::string words =
      cat("FX graph line ", arguments.context().line, ": ", graph::subject(builder, operation),
          message.empty() ? "" : ": ", escaped(message));
  if (const auto* known = truth.get<bool>()) {
    if (!*known) throw Error(cat(words, ": it never holds"));
    return;
  }
  const auto* number = truth.get<Number>();
  if (number != nullptr && number->fraction) return require(builder.graph(), number->holds, words);
  const Tensor holds = number != nullptr
                           ? number->tensor(builder)
                           : graph::cast(only_element(arguments, *truth.get<Tensor>()), DType::b8, true);
  arguments.context().assertions.push_back(
      {holds, cat(words, message.empty() ? ": it" : ": this", " does not hold")});
}

// (condition, message): of a number or of a tensor.
Item assertion(const Arguments& arguments) {
  const Item& condition = arguments.item(0, "self");
  const Item* message = arguments.find(1, "assert_msg");
  const auto* text = message == nullptr ? nullptr : message->get<std::string>();
  const auto truth = condition.get<Tensor>() != nullptr ? std::optional(condition) : truth_of(condition);
  if (!truth) arguments.fail(cat("a condition is no ", describe(condition)));
  assert_truth(arguments, *truth, text == nullptr ? "" : *text);
  return {};
}

// low <= size <= high, each where it is given.
void constrain(const Arguments& arguments, std::optional<Item> low) {
  const Item& size = arguments.item(0, "size");
  if (const Item* given = arguments.find(1, "min")) low = *given;
  const auto holds = [&](std::string_view op, const Item& bound) {
    const auto truth = arithmetic(op, {size, bound}, rules_of(arguments.context()));
    if (!truth) arguments.fail(cat("cannot compare ", describe(size), " with ", describe(bound)));
    assert_truth(arguments, *truth, cat(describe(size), " must be ", op, " ", describe(bound)));
  };
  if (low) holds(">=", *low);
  if (const Item* high = arguments.find(2, "max")) holds("<=", *high);
}
Item constrain_range(const Arguments& arguments) {
  constrain(arguments, std::nullopt);
  return {};
}
Item constrain_range_for_size(const Arguments& arguments) {
  constrain(arguments, Item{Expr(0)});
  return {};
}

// (a, size, stride, dtype): memory is ours to lay out, so that the stride says nothing.
Item tensor_metadata(const Arguments& arguments) {
  const Tensor tensor = arguments.tensor(0, "a");
  const DType dtype = arguments.dtype(3, "dtype").value_or(tensor.dtype());
  if (dtype != tensor.dtype())
    arguments.fail(cat("the tensor is ", ops::name(tensor.dtype()), ", expected was ", ops::name(dtype)));
  if (arguments.find(1, "size") == nullptr) return {};
  const std::vector<Expr> sizes = arguments.sizes(1, "size");
  const std::string words = cat(arguments.target(), ": the sizes are ", describe({tensor}), ", expected was ",
                                describe({arguments.builder().constant(0, tensor.dtype(), sizes)}));
  if (sizes.size() != tensor.shape().size()) arguments.fail(words);
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    arguments.builder().graph().require_equal(tensor.shape()[axis], sizes[axis], words);
  return {};
}

constexpr std::array rows = {
    Row{"sym_size", sym_size},
    Row{"sym_numel", sym_count},
    Row{"item", item},
    Row{"_local_scalar_dense", item},
    Row{"_assert_scalar", assertion},
    Row{"_functional_assert_scalar", assertion},
    Row{"_assert_async", assertion},
    Row{"_functional_assert_async", assertion},
    Row{"_assert", assertion},
    Row{"_check", assertion},
    Row{"_check_is_size", constrain_range_for_size},
    Row{"sym_constrain_range", constrain_range},
    Row{"sym_constrain_range_for_size", constrain_range_for_size},
    Row{"_functional_sym_constrain_range", constrain_range},
    Row{"_functional_sym_constrain_range_for_size", constrain_range_for_size},
    Row{"_make_dep_token", nothing},
    Row{"_assert_tensor_metadata", tensor_metadata},
};

}  // namespace

std::span<const Row> size_rows() { return rows; }

}  // namespace twinloom::fx
