// See pointwise.h; the rows are in pointwise.def, what they mean in meaning.h.
#include "core/ops/pointwise.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/ops/cost.h"

namespace twinloom::ops {

namespace {

struct Row {
  Pointwise op;
  std::string_view name;
  int arity;
  Takes takes;
  Gives gives;
  TestRange range;
  double ulp;
  int cost, gpu;
};

constexpr std::array rows = {
#define POINTWISE(name, arity, takes, gives, formula, low, high, ulp, cost, gpu) \
  Row{Pointwise::name, #name, arity, Takes::takes, Gives::gives, {low, high}, ulp, cost, gpu},
#include "core/ops/pointwise.def"
#undef POINTWISE
};

constexpr auto operators = [] {
  std::array<Pointwise, rows.size()> all{};
  std::ranges::transform(rows, all.begin(), &Row::op);
  return all;
}();

struct Shorter {
  Pointwise op, form;
};
constexpr Shorter of_16_bits[] = {{Pointwise::gelu_erf, Pointwise::gelu_erf_brief},
                                  {Pointwise::gelu_tanh, Pointwise::gelu_tanh_brief}};
constexpr Shorter of_fused[] = {
    {Pointwise::log, Pointwise::log_short},     {Pointwise::log2, Pointwise::log2_short},
    {Pointwise::log10, Pointwise::log10_short}, {Pointwise::log1p, Pointwise::log1p_short},
    {Pointwise::expm1, Pointwise::expm1_short}, {Pointwise::softplus, Pointwise::softplus_short},
    {Pointwise::tanh, Pointwise::tanh_short},   {Pointwise::erf, Pointwise::erf_short},
    {Pointwise::rsqrt, Pointwise::rsqrt_short}, {Pointwise::asin, Pointwise::asin_short},
    {Pointwise::acos, Pointwise::acos_short},   {Pointwise::atan, Pointwise::atan_short},
    {Pointwise::pow, Pointwise::pow_short},     {Pointwise::sin, Pointwise::sin_short},
    {Pointwise::cos, Pointwise::cos_short},     {Pointwise::sigmoid, Pointwise::sigmoid_short},
    {Pointwise::silu, Pointwise::silu_short},   {Pointwise::gelu_tanh, Pointwise::gelu_tanh_short},
};
struct Approximated {
  Pointwise op, form, flushed;
  bool on_cores;  // they have it too, and not what `op` has
};
#define APPROXIMATED(op, name, on_cores) \
  { Pointwise::op, Pointwise::name##_approximate, Pointwise::name##_flushed, on_cores }
constexpr Approximated approximated_of_16_bits[] = {
    APPROXIMATED(exp, exp_brief, true),
    APPROXIMATED(sigmoid_short, sigmoid_brief, true),
    APPROXIMATED(silu_short, silu_brief, true),
    APPROXIMATED(tanh_short, tanh_brief, true),
    APPROXIMATED(gelu_tanh_brief, gelu_tanh_brief, false),
};
constexpr Approximated approximated[] = {
    APPROXIMATED(exp, exp, true),
    APPROXIMATED(sqrt, sqrt, false),
    APPROXIMATED(rsqrt_short, rsqrt, false),
    APPROXIMATED(reciprocal, reciprocal, false),
    APPROXIMATED(sigmoid_short, sigmoid, true),
    APPROXIMATED(silu_short, silu, true),
    APPROXIMATED(tanh_short, tanh, false),
    APPROXIMATED(gelu_erf, gelu_erf, true),
    APPROXIMATED(gelu_tanh_short, gelu_tanh, true),
    APPROXIMATED(div, div, false),
};
#undef APPROXIMATED

Pointwise shortest(std::span<const Shorter> forms, Pointwise op) {
  const auto found = std::ranges::find(forms, op, &Shorter::op);
  return found == forms.end() ? op : found->form;
}

const Row& row(Pointwise op) { return rows.at(static_cast<std::size_t>(op)); }

bool takes_type(Takes takes, DType element) {
  const bool truth = element == DType::b8;
  const bool number = is_floating(element) || is_integer(element);
  switch (takes) {
    case Takes::real:
      return is_floating(element);
    case Takes::precise:
      return element == DType::f64 || element == DType::f32;
    case Takes::integer:
      return is_integer(element);
    case Takes::bits:
      return is_integer(element) || truth;
    case Takes::number:
      return number;
    case Takes::any:
      return number || truth;
    case Takes::truth:
      return truth;
    case Takes::select:
      return number || truth;
    case Takes::counter:
      return element == DType::i64;
  }
  CHECK(false, "a kind of operand without a rule");
  return false;
}

std::string call_of(const Row& row) {
  std::string text(row.name);
  for (int input = 0; input < row.arity; ++input) text += cat(input == 0 ? "($" : ", $", input);
  return text + ")";
}

}  // namespace

int arity(Pointwise op) { return row(op).arity; }
Takes takes(Pointwise op) { return row(op).takes; }
Gives gives(Pointwise op) { return row(op).gives; }
std::string_view name(Pointwise op) { return row(op).name; }
TestRange test_range(Pointwise op) { return row(op).range; }
int cost(Pointwise op) { return row(op).cost; }
int gpu_cost(Pointwise op) { return row(op).gpu; }
bool takes_element(Pointwise op, DType element) { return takes_type(takes(op), element); }

std::string_view spelling(Pointwise op) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    std::ranges::transform(rows, std::back_inserter(all), call_of);
    return all;
  }();
  return texts.at(static_cast<std::size_t>(op));
}

double ulp_bound(Pointwise op, DType element) {
  const double bound = row(op).ulp;
  if (!is_floating(element) || bound <= 0.5) return bound;
  return element == DType::f64 ? std::max(bound, 2.0) : bound;
}

bool gives_an_input(Pointwise op) {
  using enum Pointwise;
  return std::ranges::count(std::array{neg, abs, relu, maximum, minimum, where}, op) > 0;
}

Pointwise computed_for(Pointwise op, DType result) {
  return is_16_bit_float(result) ? shortest(of_16_bits, op) : op;
}

Pointwise fused_form(Pointwise op, DType element) {
  const bool has_forms = element == DType::f32 || is_16_bit_float(element);
  return has_forms && computed_for(op, element) == op ? shortest(of_fused, op) : op;
}

Pointwise approximate_form(Pointwise op, DType element, Subnormals subnormals, ComputedBy unit) {
  const auto form_in = [&](std::span<const Approximated> forms) -> std::optional<Pointwise> {
    const auto found = std::ranges::find(forms, computed_for(op, element), &Approximated::op);
    if (found == forms.end() || (unit == ComputedBy::cores && !found->on_cores)) return std::nullopt;
    return subnormals == Subnormals::kept ? found->form : found->flushed;
  };
  if (is_16_bit_float(element))
    if (const auto form = form_in(approximated_of_16_bits)) return *form;
  const bool has_forms = element == DType::f32 || is_16_bit_float(element);
  return has_forms ? form_in(approximated).value_or(op) : op;
}
std::optional<Pointwise> approximated_by(Pointwise form) {
  for (const std::span<const Approximated> forms :
       {std::span<const Approximated>(approximated_of_16_bits), std::span<const Approximated>(approximated)})
    for (const Approximated& row : forms)
      if (row.form == form || row.flushed == form) return row.op;
  return std::nullopt;
}

QuickForm quick_form(Pointwise op) {
  switch (op) {
#define QUICK(name, inputs, mends, form, mended) \
  case Pointwise::name:                          \
    return QuickForm::mends;
#include "core/ops/quick.def"
#undef QUICK
    default:
      return QuickForm::none;
  }
}

std::optional<Pointwise> pointwise_named(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row::name);
  if (found == rows.end()) return std::nullopt;
  return found->op;
}

std::span<const Pointwise> all_pointwise() { return operators; }

std::optional<DType> result_type(Pointwise op, std::span<const DType> inputs) {
  if (inputs.size() != static_cast<std::size_t>(arity(op))) return std::nullopt;
  const DType element = inputs.back();
  if (!takes_element(op, element)) return std::nullopt;
  const bool selects = takes(op) == Takes::select;
  if (selects && inputs.front() != DType::b8) return std::nullopt;
  for (const DType input : inputs.subspan(selects ? 1 : 0)) {
    if (input != element) return std::nullopt;
  }
  switch (gives(op)) {
    case Gives::same:
      return element;
    case Gives::truth:
      return DType::b8;
    case Gives::f32:
      return DType::f32;
    case Gives::f64:
      return DType::f64;
    case Gives::i64:
      return DType::i64;
  }
  CHECK(false, "a kind of result without a type");
  return std::nullopt;
}

}  // namespace twinloom::ops
