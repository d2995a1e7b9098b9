// See results.h.
#include "frontends/fx/results.h"

#include <map>
#include <set>

#include "core/base/error.h"
#include "core/graph/related_views.h"
#include "core/graph/sharing.h"
#include "frontends/fx/complex.h"
#include "frontends/fx/numbers.h"

namespace twinloom::fx {

namespace {

using graph::Builder;
using graph::Tensor;

Item tensor_item(Builder& builder, const Item& item) {
  const auto kind = kind_of(item);
  const ops::DType dtype = kind == Number::Kind::real    ? ops::DType::f64
                           : kind == Number::Kind::truth ? ops::DType::b8
                                                         : ops::DType::i64;
  return Item{tensor_of(builder, item, dtype)};
}

// A complex tensor and a number that is no size become tensors.
Item as_result(Builder& builder, Item item) {
  if (item.imaginary) {
    item.value = pairs_of(item);
    item.imaginary.reset();
  }
  return kind_of(item) && !size_of(item) ? tensor_item(builder, item) : item;
}

void assert_in_results(Items& items, const Context& context, const Memory& memory) {
  if (context.assertions.empty()) return;
  Item* chosen = nullptr;
  for (Item& item : items) {
    if (item.get<Tensor>() == nullptr || memory.written_parameter(item) >= 0) continue;
    if (chosen == nullptr || index::constant_of(chosen->get<Tensor>()->count()) == 0) chosen = &item;
  }
  if (chosen == nullptr) {
    throw Error(cat(context.assertions[0].words,
                    ": only a run could tell, and the graph computes no result that could wait for it"));
  }
  *chosen = Item{graph::asserting(*chosen->get<Tensor>(), context.assertions)};
}

std::vector<graph::Result> shared(const Items& items, const Context& context, const Memory& memory) {
  std::vector<graph::Returned> returned;
  for (const Item& item : items)
    if (const auto* tensor = item.get<Tensor>(); tensor != nullptr && memory.written_parameter(item) < 0)
      returned.push_back({tensor->id(), item.copy});
  graph::Graph& graph = context.builder.graph();
  returned = graph::with_related_views(graph, std::move(returned), context.row_major);
  return graph::shared_results(graph, returned, context.row_major);
}

}  // namespace

void add_results(Items items, Context& context, Memory& memory, const std::vector<std::string>& names) {
  Builder& builder = context.builder;
  for (Item& item : items) item = memory.current(item);
  items = memory.sharing(std::move(items));
  for (Item& item : items) item = as_result(builder, std::move(item));
  assert_in_results(items, context, memory);
  const std::map<int, Tensor> written = memory.written();
  std::set<int> returned;
  const std::vector<graph::Result> others = shared(items, context, memory);
  auto next = others.begin();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const std::string name = names.empty() ? "" : names[i];
    const int parameter = memory.written_parameter(item);
    if (item.is_none()) {
      builder.output_none(name);
    } else if (const auto size = size_of(item)) {
      builder.output_size(*size, name);
    } else if (parameter >= 0) {
      builder.output_written(written.at(parameter), parameter, name);
      returned.insert(parameter);
    } else if (item.get<Tensor>() != nullptr) {
      graph::Result result = *next++;
      result.name = name;
      builder.graph().output(std::move(result));
    } else {
      throw Error(cat("a graph cannot return ", describe(item)));
    }
  }
  for (const auto& [number, value] : written)
    if (!returned.contains(number)) builder.output_written(value, number);
}

}  // namespace twinloom::fx
