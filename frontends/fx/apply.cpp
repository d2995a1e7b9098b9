// See apply.h.
#include "frontends/fx/apply.h"

#include "core/base/error.h"
#include "frontends/fx/complex.h"
#include "frontends/fx/promote.h"

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

}  // namespace twinloom::fx
