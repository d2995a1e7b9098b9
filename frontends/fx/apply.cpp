// See apply.h.
#include "frontends/fx/apply.h"

#include "core/base/error.h"
#include "frontends/fx/complex.h"
#include "frontends/fx/promote.h"
#include "frontends/fx/requirements.h"
#include "frontends/fx/sizes.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;

// The result in the type of what is written, whose shape it must have.
Item as_written(const Arguments& arguments, const Item& target, const Item& result) {
  const auto* held = target.get<Tensor>();
  if (held == nullptr) arguments.fail(cat("what is written must be a tensor, it is ", describe(target)));
  const auto* given = result.get<Tensor>();
  if (given == nullptr) arguments.fail(cat("its result, ", describe(result), ", cannot be written"));
  const bool becomes_real = result.imaginary && !target.imaginary;
  if (becomes_real || !can_become(given->dtype(), held->dtype()))
    arguments.fail(cat("its result, ", describe(result), ", does not become ", ops::name(held->dtype()),
                       ", the type of what is written"));
  const graph::Shape shape = held->shape(), found = given->shape();
  const std::string words = cat(arguments.target(), ": its result, ", describe(result),
                                ", has not the shape of what is written, ", describe(target));
  if (shape.size() != found.size()) throw Error(words);
  for (std::size_t k = 0; k < shape.size(); ++k)
    arguments.builder().graph().require_equal(found[k], shape[k], words);
  Item written{.value = graph::cast(*given, held->dtype())};
  if (target.imaginary) {
    written.imaginary = result.imaginary ? graph::cast(*result.imaginary, held->dtype())
                                         : graph::full_like(*written.get<Tensor>(), 0);
  }
  return written;
}

}  // namespace

Item apply(const Operator& called, const Arguments& arguments, Memory& memory) {
  const Arguments call = memory.current(arguments);
  Item result = computed(*called.row, call);
  const Item* target = called.writes ? call.first() : call.find(99, "out");
  if (target == nullptr) return memory.lying(*called.row, call, std::move(result));
  return memory.write(call, *target, as_written(call, *target, result));
}

Item element_of(const Item& list, const Item& at) {
  const auto* items = list.get<Items>();
  const auto* index = at.get<index::Expr>();
  const auto constant = index == nullptr ? std::nullopt : index::constant_of(*index);
  if (items == nullptr || !constant) throw Error(cat("cannot take an element of ", describe(list)));
  const auto count = static_cast<std::int64_t>(items->size());
  const std::int64_t position = *constant < 0 ? *constant + count : *constant;
  if (position < 0 || position >= count)
    throw Error(cat("element ", *constant, " of ", describe(list), " does not exist"));
  return (*items)[static_cast<std::size_t>(position)];
}

Item call(const std::string& target, Items positional, std::vector<std::pair<std::string, Item>> keywords,
          Context& context, Memory& memory) {
  if (target.ends_with("getitem")) {
    if (positional.size() != 2) throw Error("getitem takes two arguments");
    return element_of(positional[0], positional[1]);
  }
  if (const auto op = operator_called(target); op && keywords.empty()) {
    if (const auto number = arithmetic(*op, positional, rules_of(context))) return *number;
  }
  const auto called = find_operator(target);
  if (!called && !operator_called(target)) {
    throw Error(cat("there is no operator ", escaped(target), "; the nearest are ",
                    join(nearest_operators(target), ", ", [](const std::string& name) { return name; })));
  }
  if (!called) throw Error(cat("operator ", escaped(target), " does not take these arguments"));
  return apply(*called, {context, target, std::move(positional), std::move(keywords)}, memory);
}

}  // namespace twinloom::fx
