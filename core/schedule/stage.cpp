// Rows that several siblings read are kept at hand:
//   for k { m += x[i*n + k] }; for k1 { y[..] = x[i*n + k1] - m }
//   ->  scratch x_row[n]: for k { t = x[i*n + k]; x_row[k] = t; m += t }; for k1 { y[..] = x_row[k1] - m }
// Rows that all turns of a task read are kept at hand for the task:
//   for i { for k { y[..] = x[i*n + k] * w[k] } }
//   ->  scratch w_row[n]: for k { w_row[k] = w[k] }; for i { for k { y[..] = x[i*n + k] * w_row[k] } }
// 16-bit floats are kept as the f32 that is computed with, so nothing is converted twice.
#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
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

// The siblings that load a row of the buffer as the first of them does: at `offset`, which mentions `place`.
struct Readers {
  std::vector<std::size_t> siblings;
  index::Symbol place{"staged.place"};
  index::Expr offset;
};
Readers readers_of(const loops::Nest& shape, loops::Buffer buffer) {
  Readers readers;
  const auto siblings = siblings_of(shape);
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    const loops::Sibling& sibling = *siblings[number];
    const auto load = only_load(sibling, buffer);
    if (!load || sibling.loops.size() != 1) continue;
    const index::Expr here =
        index::substitute(load->offset, {{sibling.loops.front().axis, index::Expr(readers.place)}});
    if (!index::mentions(here, readers.place)) continue;
    if (readers.siblings.empty()) readers.offset = here;
    const bool same_extent =
        readers.siblings.empty() ||
        siblings[readers.siblings.front()]->loops.front().extent == sibling.loops.front().extent;
    if (readers.offset == here && same_extent) readers.siblings.push_back(number);
  }
  return readers;
}

class Stager {
 public:
  Stager(loops::Sibling& sibling, const Staged& staged, loops::Buffer array, ops::DType dtype)
      : sibling_(sibling), staged_(staged), array_(array), dtype_(dtype) {}

  void fill(Temp temp) const {
    const index::Symbol at = sibling_.loops.front().axis;
    std::vector<Ref<Stmt>> inner = store(*only_load(sibling_, staged_.buffer), at, temp);
    replace(loops::read(temp));
    inner.insert(inner.end(), sibling_.inner.begin(), sibling_.inner.end());
    sibling_.inner = std::move(inner);
  }
  // The same of a row that no sibling fills.
  std::vector<Ref<Stmt>> store(const loops::Load& load, const index::Symbol& at, Temp temp) const {
    const auto loaded = std::make_shared<const loops::Value>(loops::Value{load});
    const auto converted =
        load.otherwise.dtype == dtype_ ? Ref<loops::Value>(loaded) : loops::convert(dtype_, loaded);
    return {loops::stmt(loops::Let{temp, converted}),
            loops::stmt(loops::Store{array_, at, {}, loops::read(temp), loops::Update::replace})};
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

// Why the row is not the same in all turns of a task, or why there is nothing to gain.
std::string why_not_of_task(const Plan& plan, const Readers& readers, const Staged& staged) {
  const std::size_t start = start_of_task(plan.common);
  if (start == plan.common.order.size()) return "a task is one turn";
  index::Facts facts = plan.facts;
  facts.assume_below(readers.place, staged.count);
  const auto range = facts.range(readers.offset);
  const auto held = index::constant_of(plan.nest.buffers[staged.buffer.index].count);
  for (const index::Symbol& symbol : index::symbols_of(readers.offset))
    if (symbol != readers.place) return cat("the row depends on ", symbol);
  // It is filled also where a task has no turns.
  const bool inside = held && range.low && range.high && *range.low >= 0 && *range.high < *held;
  return inside ? "" : "the row is not known to be inside the buffer";
}

std::string why_not_of_turn(const Plan& plan, const Readers& readers, const std::string& piece) {
  const bool innermost =
      !plan.common.order.empty() && plan.common.piece(plan.common.order.back()).symbol.name() == piece;
  if (!innermost)
    return cat(piece, " is not the innermost common loop, in whose turns the row stays the same");
  return readers.siblings.size() < 2 ? "no two siblings load it at the same places" : "";
}

// The loop that fills a row, as wide as the vectors that read it.
Scope fill_scope(const Scope& reader, const index::Symbol& at, const Staged& staged) {
  std::int64_t lanes = 1;
  for (const Piece& piece : reader.axes.front().pieces) {
    if (piece.bind == loops::Bind::vector)
      lanes = piece.turns != 0 ? piece.turns : next_power_of_two(staged.count);
  }
  AxisPlan axis{at, staged.count, lanes > 1 ? Tail::mask : Tail::exact, {}, -1};
  axis.pieces.push_back({index::Symbol(cat(at, ".0")), lanes, 0, loops::Bind::serial});
  Scope scope{{}, {{0, 0}}, Reach::none};
  if (lanes > 1) {
    axis.pieces.push_back({index::Symbol(cat(at, ".1")), 1, lanes, loops::Bind::vector});
    scope.order.push_back({0, 1});
  }
  scope.axes.push_back(std::move(axis));
  return scope;
}

}  // namespace

std::size_t start_of_task(const Scope& common) {
  std::size_t start = 0;
  for (std::size_t at = 0; at < common.order.size(); ++at)
    if (common.piece(common.order[at]).bind == loops::Bind::block) start = at + 1;
  return start;
}

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
  const Readers readers = readers_of(plan.shape, staged.buffer);
  if (readers.siblings.empty()) return words + "no sibling loads a row of it";
  const auto count =
      index::constant_of(siblings_of(plan.shape)[readers.siblings.front()]->loops.front().extent);
  if (!count || *count < 1) return words + "the size of a row is not a constant above 0";
  staged.count = *count;
  staged.of_task = temp.inside == TASK;
  const std::string reason =
      staged.of_task ? why_not_of_task(plan, readers, staged) : why_not_of_turn(plan, readers, temp.inside);
  if (!reason.empty()) return words + reason;
  return staged;
}

namespace {

class RowStager {
 public:
  RowStager(const Plan& plan, Names& names) : plan_(plan), names_(names), result_{plan.shape, {}, {}} {}

  StagedNest run() {
    for (const Staged& staged : plan_.staged) stage(staged);
    return std::move(result_);
  }

 private:
  void stage(const Staged& staged) {
    const loops::BufferInfo& info = plan_.nest.buffers[staged.buffer.index];
    const ops::DType dtype = ops::is_16_bit_float(info.dtype) ? ops::compute_type(info.dtype) : info.dtype;
    const loops::Buffer array = names_.buffer({info.name + "_row", dtype, staged.count, true, true});
    const Readers readers = readers_of(plan_.shape, staged.buffer);
    loops::Scratch scratch{array, staged.count, loops::Place::registers, nullptr};
    if (staged.of_task) scratch.body = fill(staged, readers, array, dtype);
    std::size_t number = 0;
    for (loops::Item& item : result_.shape.items) {
      auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      const Stager stager(*sibling, staged, array, dtype);
      if (number == readers.siblings.front() && !staged.of_task)
        stager.fill(names_.temp());
      else if (std::ranges::find(readers.siblings, number) != readers.siblings.end())
        stager.read();
      ++number;
    }
    (staged.of_task ? result_.of_task : result_.arrays).push_back(std::move(scratch));
  }

  Ref<Stmt> fill(const Staged& staged, const Readers& readers, loops::Buffer array, ops::DType dtype) {
    const index::Symbol at = names_.symbol(cat(plan_.nest.buffers[staged.buffer.index].name, "_at"));
    loops::Sibling filled{{{at, staged.count}}, {}};
    const Stager stager(filled, staged, array, dtype);
    loops::Load load = *only_load(*siblings_of(plan_.shape)[readers.siblings.front()], staged.buffer);
    load.offset = index::substitute(readers.offset, {{readers.place, index::Expr(at)}});
    filled.inner = stager.store(load, at, names_.temp());
    const Scope scope = fill_scope(plan_.siblings[readers.siblings.front()], at, staged);
    return build_stores({plan_, scope, filled, {}}, {}, names_);
  }

  const Plan& plan_;
  Names& names_;
  StagedNest result_;
};

}  // namespace

StagedNest stage_rows(const Plan& plan, Names& names) { return RowStager(plan, names).run(); }

}  // namespace twinloom::schedule
