// Sizes and positions as tensors of i64: see writer.h.
#include <algorithm>
#include <functional>

#include "core/base/match.h"
#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

using index::Expr;

namespace {

// Calls of operators whose operands have names.
struct Arithmetic {
  Writer& writer;
  const Writer::Names& names;
  const std::function<Name(index::Symbol)>& size;

  Name call(std::string_view operation, const Name& a, const Name& b) const {
    return writer.document.node(operation, {a, b});
  }
  Name number(std::int64_t value) const { return writer.document.scalar(value, ops::DType::i64); }

  Name of(const Expr& expr) const {
    return match(
        expr.form(),
        [&](const index::Symbol& symbol) {
          const auto found = names.find(symbol);
          return found == names.end() ? size(symbol) : found->second;
        },
        [&](const index::Sum& sum) { return of(sum); },
        [&](const index::Product& product) {
          Name result = of(product.factors.front());
          for (std::size_t at = 1; at < product.factors.size(); ++at)
            result = call("Mul", result, of(product.factors[at]));
          return result;
        },
        // Mod has the sign of the divisor, which is positive; Div cuts.
        [&](const index::FloorDiv& div) {
          const Name dividend = of(div.dividend), divisor = of(div.divisor);
          return call("Div", call("Sub", dividend, call("Mod", dividend, divisor)), divisor);
        },
        [&](const index::FloorMod& mod) { return call("Mod", of(mod.dividend), of(mod.divisor)); },
        [&](const index::Least& least) { return call("Min", of(least.a), of(least.b)); },
        [&](const index::Greatest& greatest) { return call("Max", of(greatest.a), of(greatest.b)); });
  }

  Name of(const index::Sum& sum) const {
    std::optional<Name> result;
    for (const index::Term& term : sum.terms) {
      const Name factor = of(term.factor);
      const Name added = term.scale == 1 ? factor : call("Mul", factor, number(term.scale));
      result = result ? call("Add", *result, added) : added;
    }
    if (!result) return number(sum.offset);
    return sum.offset == 0 ? *result : call("Add", *result, number(sum.offset));
  }
};

}  // namespace

Name Writer::symbol(index::Symbol symbol) {
  for (const graph::Parameter& parameter : graph.parameters()) {
    const auto* id = std::get_if<graph::NodeId>(&parameter.value);
    const graph::Shape shape = id == nullptr ? graph::Shape() : graph[*id].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto linear = index::linear_in(shape[axis], symbol);
      const auto scale = linear ? index::constant_of(linear->scale) : std::nullopt;
      const auto rest = linear ? index::constant_of(linear->rest) : std::nullopt;
      if (!scale || !rest || *scale < 1) continue;
      const auto start = static_cast<std::int64_t>(axis);
      Name given = document.node("Shape", {parameter.name}, {{"start", start}, {"end", start + 1}});
      if (*rest != 0) given = document.node("Sub", {given, document.integers({*rest})});
      return *scale == 1 ? given : document.node("Div", {given, document.integers({*scale})});
    }
  }
  for (const graph::Parameter& parameter : graph.parameters()) {
    const auto* size = std::get_if<Expr>(&parameter.value);
    if (size != nullptr && index::symbol_of(*size) == symbol)
      return document.node("Reshape", {parameter.name, document.integers({1})});
  }
  throw Error(cat("the size ", symbol.name(), " is that of no input alone, which ONNX could not say"));
}

Name Writer::arithmetic(const Expr& expr, const Names& names) {
  const std::function<Name(index::Symbol)> size = [this](index::Symbol wanted) { return symbol(wanted); };
  return Arithmetic{*this, names, size}.of(expr);
}

std::optional<Name> Writer::truth(const index::Condition& condition, const Names& names) {
  std::optional<Name> result;
  for (const index::Less& less : condition.all) {
    const Name holds = document.node("Less", {arithmetic(less.a, names), arithmetic(less.b, names)});
    result = result ? document.node("And", {*result, holds}) : holds;
  }
  return result;
}

Name Writer::size(const Expr& size) {
  if (const auto known = index::constant_of(size)) return document.integers({*known});
  return arithmetic(size, {});
}

Name Writer::sizes(const graph::Shape& shape) {
  std::vector<std::int64_t> known;
  std::vector<Name> parts;
  for (const Expr& each : shape) {
    parts.push_back(size(each));
    if (const auto constant = index::constant_of(each)) known.push_back(*constant);
  }
  if (known.size() == shape.size()) return document.integers(known);
  return document.node("Concat", parts, {{"axis", std::int64_t{0}}});
}

Name Writer::counts(const Expr& size) {
  const auto known = index::constant_of(size);
  const Name end = known ? document.scalar(*known, ops::DType::i64)
                         : document.node("Reshape", {this->size(size), document.integers({})});
  return document.node("Range",
                       {document.scalar(0, ops::DType::i64), end, document.scalar(1, ops::DType::i64)});
}

Writer::Names Writer::positions(const std::vector<index::Symbol>& axes, const graph::Shape& sizes) {
  Names names;
  for (std::size_t at = 0; at < axes.size(); ++at) {
    std::vector<std::int64_t> behind;
    for (std::size_t axis = at + 1; axis < axes.size(); ++axis)
      behind.push_back(static_cast<std::int64_t>(axis - at));
    const Name along = counts(sizes[at]);
    names[axes[at]] = behind.empty() ? along : document.node("Unsqueeze", {along, document.integers(behind)});
  }
  return names;
}

Name Writer::expanded(const Name& value, const graph::Shape& shape) {
  return document.node("Expand", {value, sizes(shape)});
}

// A size of 0 is one, and no word for the size that the input has.
Name Writer::reshaped(const Name& value, const graph::Shape& shape) {
  const auto may_be_0 = [](const Expr& size) { return index::constant_of(size).value_or(0) == 0; };
  if (std::ranges::none_of(shape, may_be_0)) return document.node("Reshape", {value, sizes(shape)});
  return document.node("Reshape", {value, sizes(shape)}, {{"allowzero", std::int64_t{1}}});
}

Name Writer::transposed(const Name& value, const std::vector<std::size_t>& order) {
  if (std::ranges::is_sorted(order)) return value;
  return document.node("Transpose", {value},
                       {{"perm", std::vector<std::int64_t>(order.begin(), order.end())}});
}

Name Writer::full(graph::NodeId id) {
  const Said& given = said[id.index];
  return given.shape == graph[id].shape ? given.name : expanded(given.name, graph[id].shape);
}

}  // namespace twinloom::onnx
