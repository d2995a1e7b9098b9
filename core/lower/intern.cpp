// See intern.h. Two values are one when their printed keys are equal; a key names inputs by number, so
// it stays short however deep the value is.
#include "core/lower/intern.h"

#include <algorithm>
#include <span>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/number.h"
#include "core/ops/pointwise.h"

namespace twinloom::lower {

using namespace loops;

namespace {

std::string key_of(const Literal& literal) {
  return cat(ops::name(literal.dtype), literal.value.is_integer() ? ":i" : ":r", ops::print(literal.value));
}

bool is_narrow_type(ops::DType dtype) {
  return ops::is_16_bit_float(dtype) || ops::kind(dtype) == ops::TypeKind::narrow_float;
}

}  // namespace

int Interner::add(const std::string& key, const Value& value, std::vector<int> inputs) {
  const auto [found, fresh] = by_key_.try_emplace(key, count());
  if (fresh) {
    Known known{std::make_shared<const Value>(value), std::move(inputs)};
    for (const ops::DType narrow : {ops::DType::f16, ops::DType::bf16})
      if (is_of_type(known, narrow)) known.narrower.push_back(narrow);
    known_.push_back(std::move(known));
  }
  return found->second;
}

int Interner::intern_apply(const Apply& apply) {
  std::vector<int> inputs;
  for (const Ref<Value>& input : apply.inputs) inputs.push_back(intern(input));
  if (apply.op == ops::Pointwise::where) inputs = without_repeated_question(std::move(inputs));
  std::vector<Ref<Value>> values;
  for (const int input : inputs) values.push_back((*this)[input].value);
  const std::string key =
      cat("A", ops::name(apply.op), join(inputs, "", [](int input) { return cat(",", input); }));
  return add(key, Value{Apply{apply.op, std::move(values)}}, std::move(inputs));
}

// where(c, where(c, a, b), where(c, d, e)) = where(c, a, e)
std::vector<int> Interner::without_repeated_question(std::vector<int> inputs) const {
  const auto same_question = [&](int branch) {
    const auto* apply = std::get_if<Apply>(&(*this)[branch].value->node);
    return apply != nullptr && apply->op == ops::Pointwise::where && (*this)[branch].inputs[0] == inputs[0];
  };
  if (same_question(inputs[1])) inputs[1] = (*this)[inputs[1]].inputs[1];
  if (same_question(inputs[2])) inputs[2] = (*this)[inputs[2]].inputs[2];
  return inputs;
}

int Interner::intern_load(const Load& load) {
  Load tidied{load.buffer, tidy_(load.offset), tidy_mask_(load.mask), load.otherwise};
  // Without a mask no value outside it is ever seen.
  if (tidied.mask.all.empty()) tidied.otherwise.value = ops::cast(0, load.otherwise.dtype);
  const std::string key =
      cat("M", load.buffer.index, "[", tidied.offset, "]", tidied.mask, key_of(tidied.otherwise));
  return add(key, Value{std::move(tidied)}, {});
}

// By what is known of its inputs.
bool Interner::is_of_type(const Known& known, ops::DType narrow) const {
  if (const auto* literal = std::get_if<Literal>(&known.value->node))
    return literal->dtype == ops::DType::f32 && ops::cast(literal->value, narrow) == literal->value;
  const auto* apply = std::get_if<Apply>(&known.value->node);
  if (apply == nullptr) {
    const auto* convert = std::get_if<Convert>(&known.value->node);
    if (convert == nullptr || convert->to != ops::DType::f32) return false;
    const auto* load = std::get_if<Load>(&convert->input->node);
    const auto* rounded = std::get_if<Convert>(&convert->input->node);
    return (load != nullptr && load->otherwise.dtype == narrow) ||
           (rounded != nullptr && rounded->to == narrow);
  }
  if (!ops::gives_an_input(apply->op)) return false;
  const auto chosen = std::span(known.inputs).subspan(apply->op == ops::Pointwise::where ? 1 : 0);
  return std::ranges::all_of(
      chosen, [&](int input) { return std::ranges::count((*this)[input].narrower, narrow) > 0; });
}

// f32(bf16(neg(f32(x)))) of an x of bf16 is neg(f32(x)).
int Interner::intern_convert(const Convert& convert) {
  const int input = intern(convert.input);
  const Known& known = (*this)[input];
  const auto* rounded = std::get_if<Convert>(&known.value->node);
  if (convert.to == ops::DType::f32 && rounded != nullptr && ops::is_16_bit_float(rounded->to) &&
      std::ranges::count((*this)[known.inputs[0]].narrower, rounded->to) > 0)
    return known.inputs[0];
  return add(cat("V", ops::name(convert.to), ",", input), Value{Convert{convert.to, known.value}}, {input});
}

int Interner::intern(const Ref<Value>& value) {
  if (const auto found = by_pointer_.find(value.get()); found != by_pointer_.end()) return found->second;
  const int number = match(
      *value, [&](const Literal& literal) { return add(cat("L", key_of(literal)), *value, {}); },
      [&](const Count& count) {
        Count tidied{tidy_(count.expr)};
        const std::string key = cat("C", tidied.expr);
        return add(key, Value{std::move(tidied)}, {});
      },
      [&](const Read& read) {
        if (const auto let = lets_.find(read.temp); let != lets_.end()) return let->second;
        return add(cat("R", read.temp.index, ".", read.part), *value, {});
      },
      [&](const Load& load) { return intern_load(load); },
      [&](const Apply& apply) { return intern_apply(apply); },
      [&](const Convert& convert) { return intern_convert(convert); });
  by_pointer_[value.get()] = number;
  seen_.push_back(value);
  return number;
}

bool is_plain(const Value& value) {
  return match(
      value, [](const Literal&) { return true; }, [](const Count&) { return true; },
      [](const Read&) { return true; }, [](const Load&) { return false; }, [](const Apply&) { return false; },
      [](const Convert&) { return false; });
}

bool is_narrow(const Value& value) {
  return match(
      value, [](const Literal& literal) { return is_narrow_type(literal.dtype); },
      [](const Count&) { return false; }, [](const Read&) { return false; },
      [](const Load& load) { return is_narrow_type(load.otherwise.dtype); },
      [](const Apply&) { return false; }, [](const Convert& convert) { return is_narrow_type(convert.to); });
}

}  // namespace twinloom::lower
