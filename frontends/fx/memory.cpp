// See memory.h.
#include "frontends/fx/memory.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/views.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;

void set_copy(Item& item, int copy) {
  item.copy = copy;
  if (auto* items = std::get_if<Items>(&item.value))
    for (Item& each : *items) set_copy(each, copy);
}

}  // namespace

void Memory::set_view(Item& item, const Item& base) {
  if (auto* items = std::get_if<Items>(&item.value)) {
    for (Item& each : *items) set_view(each, base);
    return;
  }
  item.copy = base.copy;
  item.gaps = base.gaps;
  item.storage = base.storage;
  if (const auto* tensor = base.get<Tensor>(); tensor != nullptr && !item.storage) item.storage = *tensor;
}

void Memory::set_made(Item& item, std::size_t known) {
  set_copy(item, gives_known_elements(item, known) ? ++copies_ : 0);
}

Item Memory::write(const Item& target, const Item& value, std::map<std::string, Item>& names) {
  const auto* tensor = target.get<Tensor>();
  const auto* input = tensor == nullptr || target.copy != 0
                          ? nullptr
                          : std::get_if<graph::Input>(&builder_.graph()[tensor->id()].node);
  if (target.written >= 0) throw Error("copy_: the parameter is written twice");
  if (input == nullptr)
    throw Error(cat("copy_: what is written must be a parameter as a whole, it is ", describe(target)));
  const Item held{.value = value.value, .copy = ++copies_, .written = input->slot};
  written_[input->slot] = *value.get<Tensor>();
  const graph::NodeId before = tensor->id();
  for (auto& [name, item] : names) replace(item, before, held);
  return held;
}

// Items that lie in the memory of a parameter, with its value.
void Memory::replace(Item& item, graph::NodeId before, const Item& value) {
  if (auto* items = std::get_if<Items>(&item.value))
    for (Item& each : *items) replace(each, before, value);
  const auto* tensor = item.get<Tensor>();
  if (tensor == nullptr || item.copy != 0) return;
  if (tensor->id() == before) {
    item = value;
  } else if (const auto now = looked_at(tensor->id(), before, value.get<Tensor>()->id())) {
    item.value = Tensor(&builder_, *now);
    item.storage = *value.get<Tensor>();
    item.copy = value.copy;
  }
}

// The same views of another value; nothing where they are views of something else.
std::optional<graph::NodeId> Memory::looked_at(graph::NodeId id, graph::NodeId before, graph::NodeId now) {
  if (id == before) return now;
  const graph::Node node = builder_.graph()[id];
  const auto* view = std::get_if<graph::View>(&node.node);
  if (view == nullptr) return std::nullopt;
  const auto base = looked_at(node.inputs[0], before, now);
  if (!base) return std::nullopt;
  return graph::add_view(builder_.graph(), *base, *view, node.origin);
}

// Whether a tensor among the items is a value, or only moves the elements of one, that was there when the
// graph had `known` nodes.
bool Memory::gives_known_elements(const Item& item, std::size_t known) const {
  if (const auto* items = item.get<Items>())
    return std::ranges::any_of(*items, [&](const Item& each) { return gives_known_elements(each, known); });
  const auto* tensor = item.get<Tensor>();
  if (tensor == nullptr) return false;
  graph::NodeId id = tensor->id();
  while (std::holds_alternative<graph::View>(builder_.graph()[id].node)) id = builder_.graph()[id].inputs[0];
  return id.index < known;
}

}  // namespace twinloom::fx
