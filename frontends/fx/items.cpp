// See items.h.
#include "frontends/fx/items.h"

#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/base/match.h"

namespace twinloom::fx {

namespace {

std::optional<double> real_of(const Item& item) {
  if (const auto* real = item.get<double>()) return *real;
  if (const auto* truth = item.get<bool>()) return *truth ? 1.0 : 0.0;
  if (const auto* size = item.get<index::Expr>()) {
    if (const auto constant = index::constant_of(*size)) return static_cast<double>(*constant);
  }
  return std::nullopt;
}

std::string describe_number(const Number& number) {
  static constexpr std::array<std::string_view, 3> kinds = {"truth", "integer", "number"};
  const std::string_view kind = kinds[static_cast<std::size_t>(number.kind)];
  if (!number.fraction)
    return cat("a", number.kind == Number::Kind::integer ? "n " : " ", kind, " that only the run tells");
  if (number.kind == Number::Kind::truth) return cat("the truth of ", number.holds);
  return cat("the number (", number.fraction->numerator, ")/(", number.fraction->denominator, ")");
}

}  // namespace

std::optional<index::Expr> size_of(const Item& item) {
  if (const auto* size = item.get<index::Expr>()) return *size;
  if (const auto* truth = item.get<bool>()) return index::Expr(*truth ? 1 : 0);
  if (const auto* number = item.get<Number>()) {
    if (number->kind == Number::Kind::truth && number->fraction) return number->fraction->numerator;
  }
  return std::nullopt;
}

std::string describe(const Item& item) {
  return std::visit(
      Overloaded{
          [](const std::monostate&) { return std::string("None"); },
          [](const bool& truth) { return std::string(truth ? "True" : "False"); },
          [](const index::Expr& size) { return cat("the integer ", size); },
          [](const double& real) { return cat("the number ", real); },
          [](const Number& number) { return describe_number(number); },
          [](const std::string& text) { return cat("the text '", escaped(text), "'"); },
          [](const ops::DType& dtype) { return cat("the type ", ops::name(dtype)); },
          [&](const graph::Tensor& tensor) {
            const graph::Shape shape = tensor.shape();
            return cat("a ", item.imaginary ? "complex tensor of parts " : "tensor ",
                       ops::name(tensor.dtype()), "[",
                       join(shape, ", ", [](const index::Expr& size) { return index::print(size); }), "]");
          },
          [](const Items& items) { return cat("a list of ", items.size()); },
      },
      item.value);
}

const Item* Arguments::first() const {
  if (!positional_.empty()) return &positional_.front();
  return keywords_.empty() ? nullptr : &keywords_.front().second;
}

const Item* Arguments::find(std::size_t position, std::string_view name) const {
  const Item* found = position < positional_.size() ? &positional_[position] : nullptr;
  for (const auto& [keyword, item] : keywords_) {
    if (keyword == name) found = &item;
  }
  return found == nullptr || found->is_none() ? nullptr : found;
}

const Item& Arguments::item(std::size_t position, std::string_view name) const {
  const Item* found = find(position, name);
  if (found == nullptr) fail(cat("argument '", name, "' is missing"));
  return *found;
}

void Arguments::fail(std::string_view words) const { throw Error(cat(target_, ": ", words)); }

void Arguments::wrong(std::string_view name, std::string_view expected, const Item& given) const {
  fail(cat("argument '", name, "' must be ", expected, ", it is ", describe(given)));
}

graph::Tensor Arguments::tensor(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  if (const auto* tensor = given.get<graph::Tensor>()) return *tensor;
  wrong(name, "a tensor", given);
}

std::optional<graph::Tensor> Arguments::maybe_tensor(std::size_t position, std::string_view name) const {
  if (find(position, name) == nullptr) return std::nullopt;
  return tensor(position, name);
}

std::vector<graph::Tensor> Arguments::tensors(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  const auto* items = given.get<Items>();
  if (items == nullptr) wrong(name, "a list of tensors", given);
  std::vector<graph::Tensor> tensors;
  for (const Item& element : *items) {
    const auto* tensor = element.get<graph::Tensor>();
    if (tensor == nullptr) wrong(name, "a list of tensors", element);
    tensors.push_back(*tensor);
  }
  return tensors;
}

index::Expr Arguments::size(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  if (const auto size = size_of(given)) return *size;
  wrong(name, "an integer", given);
}

index::Expr Arguments::size(std::size_t position, std::string_view name, const index::Expr& otherwise) const {
  return find(position, name) == nullptr ? otherwise : size(position, name);
}

std::vector<index::Expr> Arguments::sizes(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  if (const auto single = size_of(given)) return {*single};
  const auto* items = given.get<Items>();
  if (items == nullptr) wrong(name, "a list of integers", given);
  std::vector<index::Expr> sizes;
  for (const Item& element : *items) {
    const auto size = size_of(element);
    if (!size) wrong(name, "a list of integers", element);
    sizes.push_back(*size);
  }
  return sizes;
}

std::vector<index::Expr> Arguments::along_axes(std::size_t position, std::string_view name,
                                               std::size_t axes) const {
  if (find(position, name) == nullptr) return {};
  std::vector<index::Expr> given = sizes(position, name);
  if (given.size() == 1) given.resize(axes, given.front());
  if (!given.empty() && given.size() != axes)
    fail(cat("'", name, "' must hold one number for each of ", axes, " axes, it holds ", given.size()));
  return given;
}

int Arguments::integer(std::size_t position, std::string_view name) const {
  const auto constant = index::constant_of(size(position, name));
  if (!constant || *constant > std::numeric_limits<int>::max() ||
      *constant < std::numeric_limits<int>::min()) {
    wrong(name, "a known integer of 32 bits", item(position, name));
  }
  return static_cast<int>(*constant);
}

int Arguments::integer(std::size_t position, std::string_view name, int otherwise) const {
  return find(position, name) == nullptr ? otherwise : integer(position, name);
}

graph::Axes Arguments::axes(std::size_t position, std::string_view name) const {
  if (find(position, name) == nullptr) return {};
  graph::Axes axes;
  for (const index::Expr& size : sizes(position, name)) {
    const auto constant = index::constant_of(size);
    if (!constant || *constant > 64 || *constant < -64) wrong(name, "axes of a tensor", item(position, name));
    axes.push_back(static_cast<int>(*constant));
  }
  return axes;
}

bool Arguments::boolean(std::size_t position, std::string_view name, bool otherwise) const {
  const Item* given = find(position, name);
  if (given == nullptr) return otherwise;
  if (const auto* truth = given->get<bool>()) return *truth;
  if (const auto real = real_of(*given)) return *real != 0;
  wrong(name, "True or False", *given);
}

std::vector<bool> Arguments::booleans(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  const auto* items = given.get<Items>();
  if (items == nullptr) wrong(name, "a list of True and False", given);
  std::vector<bool> all;
  for (const Item& element : *items) {
    const auto* truth = element.get<bool>();
    if (truth == nullptr) wrong(name, "a list of True and False", element);
    all.push_back(*truth);
  }
  return all;
}

double Arguments::real(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  if (const auto real = real_of(given)) return *real;
  wrong(name, "a number", given);
}

double Arguments::real(std::size_t position, std::string_view name, double otherwise) const {
  return find(position, name) == nullptr ? otherwise : real(position, name);
}

ops::Number Arguments::number(std::size_t position, std::string_view name) const {
  const Item& given = item(position, name);
  if (const auto* real = given.get<double>()) return *real;
  if (const auto* truth = given.get<bool>()) return *truth;
  if (const auto* size = given.get<index::Expr>()) {
    if (const auto constant = index::constant_of(*size)) return *constant;
  }
  wrong(name, "a known number", given);
}

std::string Arguments::text(std::size_t position, std::string_view name, std::string_view otherwise) const {
  const Item* given = find(position, name);
  if (given == nullptr) return std::string(otherwise);
  if (const auto* text = given->get<std::string>()) return *text;
  wrong(name, "a text", *given);
}

std::optional<ops::DType> Arguments::dtype(std::size_t position, std::string_view name) const {
  const Item* given = find(position, name);
  if (given == nullptr) return std::nullopt;
  if (const auto* dtype = given->get<ops::DType>()) return *dtype;
  wrong(name, "an element type", *given);
}

}  // namespace twinloom::fx
