// See values.h. Loads, stores and run-time indices are in memory.cpp.
#include "core/emit/values.h"

#include "core/base/error.h"
#include "core/emit/spelling.h"
#include "core/ops/pointwise.h"

namespace twinloom::emit {

Operand Values::value(const loops::Value& value) {
  if (const auto found = done_.find(&value); found != done_.end()) return found->second;
  ++nesting_;
  const Operand operand = match(
      value, [&](const loops::Literal& node) { return literal(node); },
      [&](const loops::Count& node) { return count(node); },
      [&](const loops::Read& node) { return read(node); },
      [&](const loops::Load& node) { return load(node); },
      [&](const loops::Apply& node) { return apply(node); },
      [&](const loops::Convert& node) { return convert(node); });
  --nesting_;
  if (nesting_ > 0)
    done_[&value] = operand;
  else
    done_.clear();
  return operand;
}

std::string Values::named(const Operand& operand, const Origin& origin) {
  return named_at(scopes_.level(), operand, origin);
}

std::string Values::named_at(int level, const Operand& operand, const Origin& origin) {
  return scopes_.named(level, "v", type(operand.dtype, operand.lanes), operand.text, origin);
}

std::string Values::with_lanes(const Operand& operand, int lanes) {
  if (operand.lanes == lanes) return operand.text;
  CHECK(operand.lanes == 1, "a vector of ", operand.lanes, " lanes where ", lanes, " are wanted");
  return cat(type(operand.dtype, lanes), "(", operand.text, ")");
}

std::string Values::literal(const ops::Number& number, ops::DType dtype, int lanes) const {
  const std::string text = dialect_.literal(ops::cast(number, dtype), dtype);
  return lanes == 1 ? text : cat(type(dtype, lanes), "(", text, ")");
}

Operand Values::literal(const loops::Literal& literal) {
  return {this->literal(literal.value, literal.dtype, 1), literal.dtype, 1};
}

Operand Values::count(const loops::Count& count) {
  const Along run = indices_.along(count.expr);
  if (run.kind == Along::Kind::uniform) {
    const Operand operand{cat("i64(", indices_.name(count.expr), ")"), ops::DType::i64, 1};
    return operand;
  }
  Operand operand{indices_.lanes_text(count.expr), ops::DType::i64, indices_.lanes()};
  operand.text = named(operand);
  return operand;
}

Operand Values::read(const loops::Read& read) {
  const auto part = static_cast<std::size_t>(read.part);
  if (const auto found = temps_.find(read.temp); found != temps_.end()) {
    CHECK(part < found->second.size(), "temp ", read.temp.index, " has no part ", read.part);
    return found->second[part];
  }
  const Total& of = total(read.temp);
  Operand operand{member(of, read.part), ops::part_type(of.monoid, of.element, read.part), of.lanes};
  operand.text = named(operand, {.buffer = {}, .total = read.temp});
  return operand;
}

std::string Values::spelled(std::string_view spelling, const std::vector<std::string>& inputs) const {
  std::string text;
  for (std::size_t i = 0; i < spelling.size(); ++i) {
    if (spelling[i] != '$') {
      text += spelling[i];
      continue;
    }
    const auto input = static_cast<std::size_t>(spelling[++i] - '0');
    CHECK(input < inputs.size(), "the spelling '", spelling, "' wants more inputs");
    text += inputs[input];
  }
  return text;
}

Operand Values::apply(const loops::Apply& apply) {
  std::vector<Operand> inputs;
  std::vector<ops::DType> dtypes;
  int lanes = 1;
  for (const auto& input : apply.inputs) {
    inputs.push_back(value(*input));
    dtypes.push_back(inputs.back().dtype);
    lanes = std::max(lanes, inputs.back().lanes);
  }
  const auto dtype = ops::result_type(apply.op, dtypes);
  CHECK(dtype.has_value(), ops::name(apply.op), " does not take these types");
  Operand operand{{}, *dtype, lanes};
  if (apply.op == ops::Pointwise::div && lanes > 1 && inputs[1].lanes == 1) {
    operand.text = cat("div_by_one(", inputs[0].text, ", ", inputs[1].text, ")");
  } else {
    std::vector<std::string> texts;
    for (const Operand& input : inputs) texts.push_back(with_lanes(input, lanes));
    operand.text = spelled(spelling(apply.op, dtypes.front()), texts);
  }
  operand.text = named(operand);
  return operand;
}

Operand Values::convert(const loops::Convert& convert) {
  const Operand input = value(*convert.input);
  if (input.dtype == convert.to) return input;
  Operand operand{dialect_.converted(input.dtype, convert.to, input.text), convert.to, input.lanes};
  operand.text = named(operand);
  return operand;
}

Total& Values::total(loops::Temp temp) {
  const auto found = totals_.find(temp);
  CHECK(found != totals_.end(), "temp ", temp.index, " is read before it is defined");
  return found->second;
}

std::string Values::member(const Total& total, int part, const std::string& slot) {
  return member(total, part, {}, slot);
}

std::string Values::member(const Total& total, int part, const std::map<loops::Axis, std::string>& places,
                           const std::string& slot) {
  const std::string& name = total.names[static_cast<std::size_t>(part)];
  if (!total.is_array()) return name;
  std::int64_t stride = std::max(total.depth, 1);
  index::Expr active;
  std::string given = slot;
  for (auto copies = total.copies.rbegin(); copies != total.copies.rend(); ++copies) {
    if (const auto found = places.find(copies->axis); found != places.end())
      given += cat(given.empty() ? "" : " + ", stride == 1 ? "" : cat(stride, " * "), found->second);
    else if (!copies->combined)
      active = active + index::Expr(copies->axis) * index::Expr(stride);
    stride *= copies->extent;
  }
  const std::string rest = indices_.text(active);
  if (given.empty())
    given = rest;
  else if (rest != "0")
    given += cat(" + ", rest);
  return cat(name, "[", given, "]");
}

}  // namespace twinloom::emit
