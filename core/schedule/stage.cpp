// Rows that several siblings read are kept at hand:
//   for k { m += x[i*n + k] }; for k1 { y[..] = x[i*n + k1] - m }
//   ->  scratch x_row[n]: for k { t = x[i*n + k]; x_row[k] = t; m += t }; for k1 { y[..] = x_row[k1] - m }
// 16-bit floats are kept as the f32 that is computed with, so nothing is converted twice.
#include <algorithm>

#include "core/schedule/build.h"

namespace twinloom::schedule {

namespace {

// The load of the buffer in a sibling of one loop, when it is always at one offset and never masked.
std::optional<loops::Load> only_load(const loops::Sibling& sibling, loops::Buffer buffer) {
  std::optional<loops::Load> found;
  bool same = true;
  for (const Ref<Stmt>& inner : sibling.inner) {
    loops::for_each_value(*inner, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load == nullptr || load->buffer != buffer) return;
      if (found && !(found->offset == load->offset)) same = false;
      if (!load->mask.all.empty()) same = false;
      found = *load;
    });
  }
  return same ? found : std::nullopt;
}

// The siblings that load a row of the buffer as the first of them does.
std::vector<std::size_t> readers_of(const loops::Nest& shape, loops::Buffer buffer) {
  std::vector<std::size_t> readers;
  std::optional<index::Expr> pattern;
  const index::Symbol place("staged.place");
  const auto siblings = siblings_of(shape);
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    const loops::Sibling& sibling = *siblings[number];
    const auto load = only_load(sibling, buffer);
    if (!load || sibling.loops.size() != 1) continue;
    const index::Expr here =
        index::substitute(load->offset, {{sibling.loops.front().axis, index::Expr(place)}});
    if (!index::mentions(here, place)) continue;
    if (!pattern) pattern = here;
    const bool same_extent =
        readers.empty() || siblings[readers.front()]->loops.front().extent == sibling.loops.front().extent;
    if (*pattern == here && same_extent) readers.push_back(number);
  }
  return readers;
}

class Stager {
 public:
  Stager(loops::Sibling& sibling, const Staged& staged, loops::Buffer array, ops::DType dtype)
      : sibling_(sibling), staged_(staged), array_(array), dtype_(dtype) {}

  void fill(Temp temp) const {
    const loops::Load load = *only_load(sibling_, staged_.buffer);
    const auto loaded = std::make_shared<const loops::Value>(loops::Value{load});
    const auto converted =
        load.otherwise.dtype == dtype_ ? Ref<loops::Value>(loaded) : loops::convert(dtype_, loaded);
    replace(loops::read(temp));
    const index::Expr at = sibling_.loops.front().axis;
    std::vector<Ref<Stmt>> inner = {
        loops::stmt(loops::Let{temp, converted}),
        loops::stmt(loops::Store{array_, at, {}, loops::read(temp), loops::Update::replace})};
    inner.insert(inner.end(), sibling_.inner.begin(), sibling_.inner.end());
    sibling_.inner = std::move(inner);
  }
  void read() const {
    replace(
        loops::load(array_, sibling_.loops.front().axis, {}, {ops::cast(ops::Number(0), dtype_), dtype_}));
  }

 private:
  // Puts `value` in place of the load's conversion to the type that is kept. What uses the load as it is,
  // such as a copy, gets it converted back, which is exact.
  void replace(const Ref<loops::Value>& value) const {
    const ops::DType loaded = only_load(sibling_, staged_.buffer)->otherwise.dtype;
    const Ref<loops::Value> unchanged = loaded == dtype_ ? value : loops::convert(loaded, value);
    for (Ref<Stmt>& inner : sibling_.inner) {
      inner = loops::rewrite_values(inner, [&](const Ref<loops::Value>& old) -> Ref<loops::Value> {
        const auto* load = std::get_if<loops::Load>(&old->node);
        if (load != nullptr && load->buffer == staged_.buffer) return unchanged;
        const auto* convert = std::get_if<loops::Convert>(&old->node);
        return convert != nullptr && convert->to == dtype_ && convert->input == unchanged ? value : old;
      });
    }
  }

  loops::Sibling& sibling_;
  const Staged& staged_;
  loops::Buffer array_;
  ops::DType dtype_;
};

}  // namespace

std::variant<Staged, std::string> stage(const Plan& plan, const TempPlan& temp) {
  const std::string words = cat("stage ", temp.buffer, ": ");
  Staged staged;
  while (plan.nest.buffers[staged.buffer.index].name != temp.buffer) ++staged.buffer.index;
  if (plan.nest.buffers[staged.buffer.index].written) return words + "the nest writes it";
  if (temp.place != loops::Place::registers) return words + "only registers hold a row of one thread";
  if (temp.pad != 0) return words + "padding is for scratch";
  if (plan.grid) return words + "the siblings of a grid split are in different programs";
  for (const Turn& turn : plan.common.order) {
    if (plan.common.piece(turn).bind == loops::Bind::vector)
      return words + "rows in lock-step have no arrays of their own";
  }
  const bool innermost =
      !plan.common.order.empty() && plan.common.piece(plan.common.order.back()).symbol.name() == temp.inside;
  if (!innermost)
    return words +
           cat(temp.inside, " is not the innermost common loop, in whose turns the row stays the same");
  const auto readers = readers_of(plan.shape, staged.buffer);
  if (readers.size() < 2) return words + "no two siblings load it at the same places";
  const auto count = index::constant_of(siblings_of(plan.shape)[readers.front()]->loops.front().extent);
  if (!count || *count < 1) return words + "the size of a row is not a constant above 0";
  staged.count = *count;
  return staged;
}

StagedNest stage_rows(const Plan& plan, Names& names) {
  StagedNest result{plan.shape, {}};
  for (const Staged& staged : plan.staged) {
    const loops::BufferInfo& info = plan.nest.buffers[staged.buffer.index];
    const ops::DType dtype = ops::is_16_bit_float(info.dtype) ? ops::compute_type(info.dtype) : info.dtype;
    const loops::Buffer array = names.buffer({info.name + "_row", dtype, staged.count, true, true});
    result.arrays.push_back({array, staged.count, loops::Place::registers, nullptr});
    const auto readers = readers_of(plan.shape, staged.buffer);
    std::size_t number = 0;
    for (loops::Item& item : result.shape.items) {
      auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      const Stager stager(*sibling, staged, array, dtype);
      if (number == readers.front())
        stager.fill(names.temp());
      else if (std::find(readers.begin(), readers.end(), number) != readers.end())
        stager.read();
      ++number;
    }
  }
  return result;
}

}  // namespace twinloom::schedule
