// See unit.h.
#include "core/lower/unit.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"

namespace twinloom::lower {

namespace {

std::string spell(const Value& value) {
  const auto list = [](const auto& items) {
    return join(items, ", ", [](const index::Expr& item) { return index::print(item); });
  };
  std::string text = cat(value.name, ": ", ops::name(value.dtype), "[", list(value.shape), "] strides [",
                         list(value.strides), "] ");
  switch (value.storage) {
    case Storage::parameter:
      return cat(text, "parameter ", value.parameter);
    case Storage::constant:
      return cat(text, "constant");
    case Storage::temporary:
      return cat(text, "temporary");
    case Storage::result:
      return cat(text, "result ", value.result < 0 ? std::string("of views") : cat(value.result));
  }
  return text;
}

void verify_unit(const Lowered& lowered, const Unit& unit, std::size_t number) {
  loops::verify(unit.nest, loops::Stage::nest);
  const auto locals = std::ranges::count_if(unit.nest.buffers, &loops::BufferInfo::local);
  CHECK(std::ssize(unit.arguments) + locals == std::ssize(unit.nest.buffers), "unit ", number, " has ",
        unit.arguments.size(), " arguments and ", std::ssize(unit.nest.buffers) - locals, " buffers");
  for (std::size_t k = 0; k < unit.arguments.size(); ++k) {
    CHECK(unit.arguments[k].index < lowered.values.size(), "unit ", number, ": argument ", k, " is no value");
    const Value& value = lowered[unit.arguments[k]];
    const loops::BufferInfo& buffer = unit.nest.buffers[k];
    CHECK(buffer.dtype == value.dtype, "unit ", number, ": ", buffer.name, " is not of its value's type");
    const bool fixed = value.storage == Storage::parameter || value.storage == Storage::constant;
    CHECK(!buffer.written || !fixed, "unit ", number, " writes ", value.name);
  }
}

}  // namespace

// A value is written once, by one unit or by several in disjoint parts: readers depend on all of its writers.
// What adds to it in memory depends on those before.
std::vector<std::vector<std::size_t>> dependencies(const Lowered& lowered) {
  std::vector<std::vector<std::size_t>> writers(lowered.values.size());
  const auto for_each_argument = [&](std::size_t number, bool written, const auto& visit) {
    const Unit& unit = lowered.units[number];
    for (std::size_t k = 0; k < unit.arguments.size(); ++k)
      if (unit.nest.buffers[k].written == written) visit(writers[unit.arguments[k].index]);
  };
  for (std::size_t number = 0; number < lowered.units.size(); ++number)
    for_each_argument(number, true, [&](std::vector<std::size_t>& all) { all.push_back(number); });
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t number = 0; number < lowered.units.size(); ++number) {
    std::set<std::size_t> before;
    for_each_argument(number, false,
                      [&](const std::vector<std::size_t>& all) { before.insert(all.begin(), all.end()); });
    for (const ValueId id : lowered.units[number].updates)
      for (const std::size_t writer : writers[id.index])
        if (writer < number) before.insert(writer);
    result.emplace_back(before.begin(), before.end());
  }
  return result;
}

void verify(const Lowered& lowered) {
  std::set<std::uint32_t> written;
  for (std::size_t number = 0; number < lowered.units.size(); ++number) {
    const Unit& unit = lowered.units[number];
    verify_unit(lowered, unit, number);
    for (std::size_t k = 0; k < unit.arguments.size(); ++k) {
      const Value& value = lowered[unit.arguments[k]];
      const bool given = value.storage == Storage::parameter || value.storage == Storage::constant;
      const bool is_made = unit.nest.buffers[k].written &&
                           std::ranges::find(unit.updates, unit.arguments[k]) == unit.updates.end();
      CHECK(given || is_made || written.contains(unit.arguments[k].index), "unit ", number, " reads ",
            value.name, " before it is written");
    }
    for (std::size_t k = 0; k < unit.arguments.size(); ++k)
      if (unit.nest.buffers[k].written) written.insert(unit.arguments[k].index);
  }
  for (std::uint32_t id = 0; id < lowered.values.size(); ++id) {
    const Value& value = lowered.values[id];
    CHECK(value.storage != Storage::result || written.contains(id), value.name, " is never written");
  }
}

std::string print(const Lowered& lowered) {
  Writer writer;
  for (const Value& value : lowered.values) writer.line(spell(value));
  std::string text = writer.take();
  for (const Unit& unit : lowered.units) text += cat("\n", loops::print(unit.nest));
  return text;
}

}  // namespace twinloom::lower
