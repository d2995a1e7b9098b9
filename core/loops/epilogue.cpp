// See epilogue.h.
#include "core/loops/epilogue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/loops/nest.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

using Kind = EpilogueStep::Kind;
constexpr float INFINITE = std::numeric_limits<float>::infinity();

std::optional<float> number_in(const Value& value) {
  const auto* literal = std::get_if<Literal>(&value.node);
  if (literal == nullptr || literal->dtype != ops::DType::f32) return std::nullopt;
  return static_cast<float>(ops::real_of(literal->value, literal->dtype));
}

const Apply* applied(const Value& value, ops::Pointwise op) {
  const auto* apply = std::get_if<Apply>(&value.node);
  return apply != nullptr && apply->op == op ? apply : nullptr;
}

// An operator of two, one of which is a number.
struct WithNumber {
  const Value* other;
  float number;
};
std::optional<WithNumber> with_number(const Value& value, ops::Pointwise op) {
  const Apply* apply = applied(value, op);
  if (apply == nullptr) return std::nullopt;
  for (const std::size_t side : {0U, 1U})
    if (const auto number = number_in(*apply->inputs[side]))
      return WithNumber{apply->inputs[1 - side].get(), *number};
  return std::nullopt;
}

class Finder {
 public:
  Finder(const Nest& nest, const Program& program, const Start& start)
      : nest_(nest), program_(program), total_(start.total), element_(start.element) {}

  // The steps from the total to what is stored.
  bool find_stored(const Value& value, ops::DType stored) {
    if (stored == ops::DType::f32) return find(value);
    const auto* convert = std::get_if<Convert>(&value.node);
    if (convert == nullptr || !find(*convert->input)) return false;
    if (ops::is_16_bit_float(stored)) return true;
    if (!ops::is_integer(stored) || ops::bits_of(stored) != 8) return false;
    const bool is_signed = ops::kind(stored) == ops::TypeKind::signed_int;
    const float least = is_signed ? -128 : 0, most = is_signed ? 127 : 255;
    return !steps.empty() && steps.back().kind == Kind::clip && steps.back().a >= least &&
           steps.back().b <= most;
  }

  std::vector<EpilogueStep> steps;
  std::vector<Buffer> operands;
  std::vector<StepsAlong> walked;  // of each

 private:
  // The steps from the total, which is f32 before them, to the value.
  bool find(const Value& value) {
    if (is_total(value)) return true;
    const auto* apply = std::get_if<Apply>(&value.node);
    return apply != nullptr && (add_hard_swish(value) || add_clip(value) || add_step(*apply));
  }

  bool is_total(const Value& value) const {
    const auto* convert = std::get_if<Convert>(&value.node);
    const bool is_wide = element_ == ops::DType::f32;
    if (!is_wide && (convert == nullptr || convert->to != ops::DType::f32)) return false;
    const auto* read = std::get_if<Read>(&(is_wide ? value : *convert->input).node);
    return read != nullptr && read->temp == total_;
  }

  bool has_total(const Value& value) const {
    bool found = false;
    for_each_value(value, [&](const Value& inner) {
      const auto* read = std::get_if<Read>(&inner.node);
      found = found || (read != nullptr && read->temp == total_);
    });
    return found;
  }

  bool add_step(const Apply& apply) {
    if (const auto step = alone(apply)) {
      if (!find(*apply.inputs[0])) return false;
      steps.push_back(*step);
      return true;
    }
    constexpr std::pair<ops::Pointwise, Kind> OPERATORS[] = {{ops::Pointwise::add, Kind::add},
                                                             {ops::Pointwise::sub, Kind::subtract},
                                                             {ops::Pointwise::mul, Kind::multiply}};
    const auto* known = std::ranges::find(OPERATORS, apply.op, &std::pair<ops::Pointwise, Kind>::first);
    if (known == std::end(OPERATORS)) return false;
    std::size_t side = 0;
    if (!has_total(*apply.inputs[0])) side = 1;
    if (side == 1 && known->second == Kind::subtract) return false;
    const Value& other = *apply.inputs[1 - side];
    return !has_total(other) && find(*apply.inputs[side]) && add_operand(known->second, other);
  }

  // A step whose second operand is a number, or that has none.
  static std::optional<EpilogueStep> alone(const Apply& apply) {
    if (apply.op == ops::Pointwise::relu) return EpilogueStep{Kind::relu};
    if (apply.op == ops::Pointwise::round) return EpilogueStep{Kind::round};
    const auto by = apply.op == ops::Pointwise::div ? number_in(*apply.inputs[1]) : std::nullopt;
    return by ? std::optional(EpilogueStep{Kind::divide, {}, *by}) : std::nullopt;
  }

  bool add_operand(Kind kind, const Value& other) {
    EpilogueStep step{kind};
    if (const auto number = number_in(other)) {
      step.a = *number;
    } else {
      const auto* convert = std::get_if<Convert>(&other.node);
      const auto* load = std::get_if<Load>(&(convert == nullptr ? other : *convert->input).node);
      if (load == nullptr || !load->mask.all.empty()) return false;
      const ops::DType dtype = program_.buffers[load->buffer.index].dtype;
      if (dtype != ops::DType::f32 && (convert == nullptr || !ops::is_16_bit_float(dtype))) return false;
      auto along = steps_along(nest_.common, load->offset);
      if (!along) return false;
      step.operand = operands.size();
      operands.push_back(load->buffer);
      walked.push_back(*std::move(along));
    }
    steps.push_back(step);
    return true;
  }

  bool add_clip(const Value& value) {
    const auto least = with_number(value, ops::Pointwise::maximum),
               most = with_number(value, ops::Pointwise::minimum);
    if (!least && !most) return false;
    if (!find(least ? *least->other : *most->other)) return false;
    if (least)
      steps.push_back({Kind::clip, {}, least->number, INFINITE});
    else if (!steps.empty() && steps.back().kind == Kind::clip && steps.back().a <= most->number)
      steps.back().b = std::min(steps.back().b, most->number);
    else
      steps.push_back({Kind::clip, {}, -INFINITE, most->number});
    return true;
  }

  // x * minimum(maximum(scale * x + shift, 0), 1); or x * minimum(maximum(x + shift, 0), most) / most.
  bool add_hard_swish(const Value& value) {
    const Apply* product = applied(value, ops::Pointwise::mul);
    float most = 1;
    if (const Apply* quotient = applied(value, ops::Pointwise::div)) {
      const auto by = number_in(*quotient->inputs[1]);
      product = applied(*quotient->inputs[0], ops::Pointwise::mul);
      most = by.value_or(0);
    }
    if (product == nullptr || !(most > 0)) return false;
    for (const std::size_t side : {0U, 1U}) {
      const Value& x = *product->inputs[side];
      const auto step = gate_of(*product->inputs[1 - side], x, most);
      if (step && find(x)) {
        steps.push_back(*step);
        return true;
      }
    }
    return false;
  }

  static std::optional<EpilogueStep> gate_of(const Value& gate, const Value& x, float most) {
    const auto above = with_number(gate, ops::Pointwise::minimum);
    const auto below = above ? with_number(*above->other, ops::Pointwise::maximum) : std::nullopt;
    if (!below || above->number != most || below->number != 0) return std::nullopt;
    const auto shifted = with_number(*below->other, ops::Pointwise::add);
    const Value& scaled = shifted ? *shifted->other : *below->other;
    const auto scale = with_number(scaled, ops::Pointwise::mul);
    if (!equal(scale ? *scale->other : scaled, x)) return std::nullopt;
    return EpilogueStep{
        Kind::hard_swish, {}, (scale ? scale->number : 1) / most, (shifted ? shifted->number : 0) / most};
  }

  const Nest& nest_;
  const Program& program_;
  Temp total_;
  ops::DType element_;
};

// The one store behind a total's sibling, where a nest is no more than that.
const Store* only_store(const Nest& nest) {
  if (nest.items.size() != 3 || !std::holds_alternative<Ref<Stmt>>(nest.items[2])) return nullptr;
  return std::get_if<Store>(&std::get<Ref<Stmt>>(nest.items[2])->node);
}

}  // namespace

std::optional<ContractionCall> contraction_call_of(const Program& program) {
  if (auto contraction = contraction_of(program)) return ContractionCall{*std::move(contraction), {}};
  if (routine_of(program) != nullptr) return std::nullopt;
  Nest nest = take_apart(program);
  const Store* store = only_store(nest);
  const auto* first = store == nullptr ? nullptr : std::get_if<Ref<Stmt>>(&nest.items[0]);
  const auto* start = first == nullptr ? nullptr : std::get_if<Start>(&(*first)->node);
  if (start == nullptr) return std::nullopt;
  Finder finder(nest, program, *start);
  if (!finder.find_stored(*store->value, program.buffers[store->buffer.index].dtype)) return std::nullopt;
  nest.items[2] = stmt(Store{store->buffer, store->offset, store->mask, read(start->total), store->update});
  auto contraction = contraction_of({program.name, program.buffers, program.sizes, put_together(nest)});
  if (!contraction) return std::nullopt;
  for (std::size_t number = 0; number < finder.operands.size(); ++number) {
    contraction->operands.push_back({finder.operands[number], finder.walked[number].begin});
    for (std::size_t k = 0; k < contraction->kept.size(); ++k)
      contraction->kept[k].operands.push_back(finder.walked[number].steps[k]);
  }
  return ContractionCall{*std::move(contraction), std::move(finder.steps)};
}

}  // namespace twinloom::loops
