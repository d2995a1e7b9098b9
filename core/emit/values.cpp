// See values.h. Loads, stores and run-time indices are in memory.cpp.
#include "core/emit/values.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/emit/spelling.h"
#include "core/loops/rewrite.h"
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

namespace {

bool compares(ops::Pointwise op) {
  using ops::Pointwise;
  constexpr std::array comparisons = {Pointwise::eq, Pointwise::ne, Pointwise::lt,
                                      Pointwise::le, Pointwise::gt, Pointwise::ge};
  return std::ranges::find(comparisons, op) != comparisons.end();
}

}  // namespace

// Indices in 32 bits where that is enough: a lane then takes one instruction in place of four.
std::optional<Operand> Values::compared_shortly(const loops::Apply& apply) {
  if (!compares(apply.op)) return std::nullopt;
  const auto* a = std::get_if<loops::Count>(&apply.inputs[0]->node);
  const auto* b = std::get_if<loops::Count>(&apply.inputs[1]->node);
  const auto sides = a != nullptr && b != nullptr ? indices_.short_sides(a->expr, b->expr) : std::nullopt;
  if (!sides) return std::nullopt;
  const std::string text = spelled(spelling(apply.op, ops::DType::i32), {sides->lane, sides->all});
  return named({text, ops::DType::b8, indices_.lanes()});
}

// Random numbers of lanes that are neighbours, which share a counter by fours: with each lane's place in it
// known, compilers compute it once.
std::optional<Operand> Values::drawn_together(const loops::Apply& apply) {
  constexpr int SHARE = 4;  // device/random.h
  const int lanes = indices_.lanes(), together = std::min(lanes, SHARE);
  if (apply.op != ops::Pointwise::random_uniform || lanes == 1 || !vectors_.apart(lanes) ||
      SHARE % together != 0)
    return std::nullopt;
  const auto* number = std::get_if<loops::Count>(&apply.inputs[0]->node);
  const auto first = number == nullptr ? std::nullopt : indices_.first_of_neighbours(number->expr, together);
  if (!first) return std::nullopt;
  std::string arguments = *first;
  for (std::size_t k = 1; k < apply.inputs.size(); ++k)
    arguments += cat(", ", with_lanes(value(*apply.inputs[k]), lanes));
  const std::string text = cat("random_uniform_beside<", LANE_NUMBER, ", ", together, ">(", arguments, ")");
  return named({text, ops::DType::f32, lanes});
}

Operand Values::apply(const loops::Apply& apply) {
  if (const auto compared = compared_shortly(apply)) return *compared;
  if (const auto drawn = drawn_together(apply)) return *drawn;
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
  if (apply.op == ops::Pointwise::div && lanes > 1 && inputs[1].lanes == 1)
    return divided_by_one(inputs[0], inputs[1]);
  if (vectors_.apart(lanes) && dtypes.front() == ops::DType::f32 &&
      ops::quick_form(apply.op) != ops::QuickForm::none)
    return side_by_side(apply.op, inputs, lanes);
  // Elementary functions of f64 are long: the device header has one copy for all lanes.
  const bool as_whole = dtypes.front() == ops::DType::f64 && is_elementary(apply.op);
  std::vector<std::string> texts;
  for (const Operand& input : inputs)
    texts.push_back(as_whole ? argument(input, lanes) : with_lanes(input, lanes));
  return named({spelled(spelling(apply.op, dtypes.front()), texts), *dtype, lanes,
                as_whole ? Written::whole : Written::a_lane});
}

// Lanes that are computed in a quick way; where one of them set `rare` all are mended, and where one of them
// still is, or nothing mends them, they are computed again (quick.def). `input` may be several, listed.
//   bool rare = ...; T v_0 = quick(rare, a_0), ...;
//   if (rare) { rare = ...; v_0 = mended(rare, a_0, v_0), ...; if (rare) v_0 = whole(a_0), ...; }
Operand Values::lanes_again(const std::string& rare, const Operand& input, const std::string& function,
                            const Others& others) {
  const int lanes = input.lanes;
  const auto define = [&](const std::string& name) {
    const std::string flag = cat(name, "_rare"), value = vectors_.variable(name, lanes);
    const auto call = [&](const std::string& before, const std::string& after) {
      return cat(before, function, "(", before == "rare_" ? "" : flag + ", ", input.text, after, ")");
    };
    std::vector<std::string> lines = {
        cat("bool ", flag, " = ", rare, ";"),
        vectors_.definition(ops::DType::f32, value, call("quick_", others.of_quick), lanes, false)};
    const std::string again = vectors_.assignment(value, call("rare_", others.of_rare), lanes);
    const std::string test = cat("if (__builtin_expect(", flag, ", 0)) ");
    if (others.mends)
      lines.insert(lines.end(), {test + "{", cat("  ", flag, " = ", rare, ";"),
                                 "  " + vectors_.assignment(value, call("mended_", ", " + value), lanes),
                                 cat("  if (", flag, ") ", again), "}"});
    else
      lines.push_back(test + again);
    return Scopes::Defined{value, std::move(lines)};
  };
  const std::string key = cat("quick_", function, "<", lanes, ">(", input.text, others.of_quick, ")");
  return {scopes_.named(scopes_.level(), "v", key, {}, define), ops::DType::f32, lanes};
}

Operand Values::side_by_side(ops::Pointwise op, const std::vector<Operand>& inputs, int lanes) {
  const std::string listed = join(inputs, ", ", [](const Operand& input) { return input.text; });
  const bool mends = ops::quick_form(op) == ops::QuickForm::masked && may_mask_;
  return lanes_again("false", {listed, ops::DType::f32, lanes}, std::string(ops::name(op)), {"", "", mends});
}

// Where nothing is left out the second form only takes registers: log_softmax of rows of 50257 took 8 %
// longer.
bool Values::may_mask(const loops::Program& program) {
  const auto inputs = std::ranges::count_if(
      program.buffers, [](const loops::BufferInfo& info) { return !info.written && !info.local; });
  bool chooses = false;
  loops::for_each_value(*program.body, [&](const loops::Value& value) {
    const auto* apply = std::get_if<loops::Apply>(&value.node);
    chooses |= apply != nullptr && apply->op == ops::Pointwise::where;
  });
  return inputs > 1 || chooses;
}

Operand Values::divided_by_one(const Operand& over, const Operand& under) {
  const int lanes = over.lanes;
  if (!vectors_.apart(lanes))
    return named({cat("div_by_one(", over.text, ", ", under.text, ")"), over.dtype, lanes});
  if (over.dtype != ops::DType::f32)
    return named(
        {spelled(spelling(ops::Pointwise::div, over.dtype), {over.text, under.text}), over.dtype, lanes});
  const Operand inverse = named({cat("quick_inverse(", under.text, ")"), ops::DType::f32, 1});
  const std::string divisor = ", " + under.text;
  return lanes_again(cat("is_rare_divisor(", under.text, ")"), over, "div",
                     {cat(divisor, ", ", inverse.text), divisor});
}

// One instruction narrows two lanes to a format of 16 bits.
Operand Values::narrowed_in_pairs(const Operand& input, ops::DType to) {
  const auto define = [&](const std::string& name) {
    const std::string value = vectors_.variable(name, input.lanes);
    std::string calls;
    for (int lane = 0; lane < input.lanes; lane += 2) {
      const std::string pair = cat(of_lane(input.text, lane), ", ", of_lane(input.text, lane + 1), ", ",
                                   of_lane(value, lane), ", ", of_lane(value, lane + 1));
      calls += cat(lane == 0 ? "" : ", ", dialect_.converted(input.dtype, to, pair));
    }
    return Scopes::Defined{value, {vectors_.declaration(to, value, input.lanes), calls + ";"}};
  };
  const std::string key = dialect_.converted(input.dtype, to, input.text);
  return {scopes_.named(scopes_.level(), "v", key, {}, define), to, input.lanes};
}

namespace {

// The input that is rounded to a whole number within bounds on either side of 0.
struct Rounded {
  const loops::Value* input;
  std::int64_t low, high;
};
// What is left of `value` where it is op(x, number) for a whole number that f32 holds.
const loops::Value* bounded(const loops::Value& value, ops::Pointwise op, std::int64_t& bound) {
  constexpr double MOST = 1 << 24;
  const auto* apply = std::get_if<loops::Apply>(&value.node);
  if (apply == nullptr || apply->op != op) return nullptr;
  const auto* literal = std::get_if<loops::Literal>(&apply->inputs[1]->node);
  if (literal == nullptr || literal->dtype != ops::DType::f32) return nullptr;
  const double number = literal->value.real();
  if (!(std::abs(number) <= MOST) || number != std::floor(number)) return nullptr;
  bound = static_cast<std::int64_t>(number);
  return &*apply->inputs[0];
}
std::optional<Rounded> rounded_in(const loops::Value& value, ops::DType to) {
  using ops::Pointwise;
  if (to != ops::DType::i8 && to != ops::DType::u8 && to != ops::DType::i16) return std::nullopt;
  Rounded found{};
  const loops::Value* inner = bounded(value, Pointwise::minimum, found.high);
  if (inner != nullptr) {
    inner = bounded(*inner, Pointwise::maximum, found.low);
  } else {
    inner = bounded(value, Pointwise::maximum, found.low);
    if (inner != nullptr) inner = bounded(*inner, Pointwise::minimum, found.high);
  }
  const auto* round = inner != nullptr ? std::get_if<loops::Apply>(&inner->node) : nullptr;
  if (round == nullptr || round->op != Pointwise::round) return std::nullopt;
  const auto end = [&](double number) { return ops::cast(ops::Number(number), to).integer(); };
  found.low = std::max(found.low, end(-INFINITY));
  found.high = std::min(found.high, end(INFINITY));
  if (found.low > 0 || found.high < 0) return std::nullopt;  // a NaN gives 0
  found.input = &*round->inputs[0];
  return found;
}

}  // namespace

// Whether what is rounded to a bf16 and widened again stays a word, without the way through 16 bits.
bool Values::is_kept_wide(const loops::Convert& inner, ops::DType to) const {
  return inner.to == ops::DType::bf16 && to == ops::DType::f32 && !dialect_.has_threads();
}

// An index counts in 32 bits where no more of it is wanted: half the registers, and no instruction to narrow
// (softmax_causal_bf16 takes 0.87 of the time).
Operand Values::converted_operand(const loops::Convert& convert) {
  const auto* count = std::get_if<loops::Count>(&convert.input->node);
  const bool is_narrow = ops::is_integer(convert.to) && ops::size_of(convert.to) <= 4;
  const auto text = count != nullptr && (is_narrow || ops::is_floating(convert.to))
                        ? indices_.short_lanes_text(count->expr, !is_narrow)
                        : std::nullopt;
  return text ? named({*text, ops::DType::i32, indices_.lanes()}) : value(*convert.input);
}

Operand Values::convert(const loops::Convert& convert) {
  if (const auto rounded = dialect_.has_threads() ? rounded_in(*convert.input, convert.to) : std::nullopt) {
    const Operand input = value(*rounded->input);
    const std::string text = cat("rounded_within<", dialect_.type(convert.to, 1), ">(", input.text, ", ",
                                 rounded->low, ", ", rounded->high, ")");
    if (input.dtype == ops::DType::f32 && (input.lanes == 1 || vectors_.apart(input.lanes)))
      return named({text, convert.to, input.lanes});
  }
  const auto* inner = std::get_if<loops::Convert>(&convert.input->node);
  if (inner != nullptr && is_kept_wide(*inner, convert.to)) {
    const Operand wide = value(*inner->input);
    if (wide.dtype == convert.to)
      return named({cat("rounded<", ops::name(inner->to), ">(", wide.text, ")"), convert.to, wide.lanes});
  }
  const Operand input = converted_operand(convert);
  if (input.dtype == convert.to) return input;
  if (vectors_.apart(input.lanes) && input.dtype == ops::DType::f32 && ops::is_16_bit_float(convert.to))
    return narrowed_in_pairs(input, convert.to);
  return named({dialect_.converted(input.dtype, convert.to, input.text), convert.to, input.lanes});
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
