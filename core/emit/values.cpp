// See values.h. Loads, stores and run-time indices are in memory.cpp.
#include "core/emit/values.h"

#include "core/base/error.h"
#include "core/emit/spelling.h"
#include "core/ops/pointwise.h"

namespace twinloom::emit {

namespace {

// What is no single instruction: the device header may have a function that does all lanes side by side.
bool is_elementary(ops::Pointwise op) { return ops::ulp_bound(op, ops::DType::f32) >= 1; }

}  // namespace

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

Operand Values::named(const Operand& operand, const Origin& origin) {
  return named_at(scopes_.level(), operand, origin);
}

Operand Values::named_at(int level, const Operand& operand, const Origin& origin) {
  const auto& [text, dtype, lanes, written] = operand;
  return {vectors_.named(level, "v", dtype, lanes, text, written, origin), dtype, lanes};
}

std::string Values::with_lanes(const Operand& operand, int lanes) {
  if (operand.lanes == lanes) return operand.text;
  CHECK(operand.lanes == 1, "a vector of ", operand.lanes, " lanes where ", lanes, " are wanted");
  return vectors_.spread(operand.text, operand.dtype, lanes);
}

std::string Values::argument(const Operand& operand, int lanes) {
  if (operand.lanes != lanes) return cat(dialect_.type(operand.dtype, lanes), "(", operand.text, ")");
  return vectors_.whole(operand.text, dialect_.type(operand.dtype, 1), lanes);
}

std::string Values::literal(const ops::Number& number, ops::DType dtype, int lanes) const {
  return vectors_.spread(dialect_.literal(ops::cast(number, dtype), dtype), dtype, lanes);
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
  return named({indices_.lanes_text(count.expr), ops::DType::i64, indices_.lanes()});
}

Operand Values::read(const loops::Read& read) {
  const auto part = static_cast<std::size_t>(read.part);
  if (const auto found = temps_.find(read.temp); found != temps_.end()) {
    CHECK(part < found->second.size(), "temp ", read.temp.index, " has no part ", read.part);
    return found->second[part];
  }
  const Total& of = total(read.temp);
  return named({member(of, read.part), ops::part_type(of.monoid, of.element, read.part), of.lanes},
               {.buffer = {}, .total = read.temp});
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
    operand.text = cat("div_by_one(", argument(inputs[0], lanes), ", ", inputs[1].text, ")");
    operand.written = Written::whole;
  } else {
    if (is_elementary(apply.op)) operand.written = Written::whole;
    std::vector<std::string> texts;
    for (const Operand& input : inputs)
      texts.push_back(operand.written == Written::whole ? argument(input, lanes) : with_lanes(input, lanes));
    operand.text = spelled(spelling(apply.op, dtypes.front()), texts);
  }
  return named(operand);
}

Operand Values::convert(const loops::Convert& convert) {
  const Operand input = value(*convert.input);
  if (input.dtype == convert.to) return input;
  const bool in_pairs = ops::is_16_bit_float(convert.to);  // one instruction narrows two of them
  const std::string text = in_pairs ? argument(input, input.lanes) : input.text;
  return named({dialect_.converted(input.dtype, convert.to, text), convert.to, input.lanes,
                in_pairs ? Written::whole : Written::a_lane});
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
  if (!total.is_array()) return vectors_.variable(name, total.lanes);
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
  if (total.has_places()) return vectors_.lanes_of(cat(name, "[", given, "]"), total.lanes);
  return cat(vectors_.variable(name, total.lanes), "[", given, "]");
}

}  // namespace twinloom::emit
